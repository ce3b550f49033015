"""Of the prompts those that a run can come to use are part of its settings, and no others."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.actors.acting import Corridor
from tests.strategies.watched import LESSONS, PROSE, Watched, programs

from hardwon import prompts
from hardwon.actors.choose import actor_for
from hardwon.budget import Budget
from hardwon.calls import Sampling
from hardwon.environments.task import EpisodeTask
from hardwon.errors import UsageError
from hardwon.evaluators.function import FunctionCheck
from hardwon.runs import prompts_in_use as room
from hardwon.runs.folder import open_folder, read_config
from hardwon.runs.prompts_in_use import prompts_in_use
from hardwon.runs.runner import Arm, solve
from hardwon.runs.settings import run_config
from hardwon.session import Session
from hardwon.strategies.protocol import Strategy
from hardwon.strategies.registry import make_strategy, strategies
from hardwon.task import Problem, Task

FUNCTION = Task(Problem("f", "Write f.", "function", "f"), FunctionCheck(lambda text: False), None, "f")
QUESTION = Task(Problem("q", "What?", "question"), FunctionCheck(lambda text: False), None, "q")
GAME = EpisodeTask(
    Problem("g", "Go north.", "game"), FunctionCheck(lambda text: False), None, "g", environment=Corridor, steps=3
)
VARIANTS = [
    *((name, {}) for name in strategies()),
    ("placebo", {"lesson": "none"}),
    ("tree_of_thoughts", {"proposals": "propose"}),
]


@pytest.fixture
def change(tmp_path: Path) -> Iterator[Callable[..., None]]:
    """Puts other texts in the place of prompts."""
    folder = tmp_path / "prompts"

    def changed(*names: str) -> None:
        for name in names:
            path = folder / f"{name}.txt"
            path.parent.mkdir(parents=True, exist_ok=True)
            built_in = Path(prompts.__file__).parent / name.replace("/", "/prompts/", 1)
            path.write_text(f"{built_in.with_suffix('.txt').read_text()}\n[[{name}]]\n")
        prompts.use_folder(folder)

    yield changed
    prompts.use_folder(None)


@pytest.mark.parametrize("task", [FUNCTION, QUESTION, GAME], ids=lambda task: task.problem.kind)
@pytest.mark.parametrize(("name", "settings"), VARIANTS)
def test_a_run_asks_with_no_prompt_that_is_not_recorded(
    name: str, settings: dict[str, str], task: Task, change: Callable[..., None]
) -> None:
    change(*prompts.names())
    strategy = make_strategy(name, settings)
    model = Watched({"act": [*programs(1, 2, 3), PROSE], "reflect": [*LESSONS, "1. This.\n2. That."], "judge": ["1"]})

    async def work(feedback: Any) -> None:
        session = Session(
            task.problem, model, actor_for(task), feedback, budget=Budget(calls=30), sampling=Sampling(seed=0)
        )
        await solve(strategy, session)

    for feedback in (task.feedback, None):
        asyncio.run(work(feedback))
    said = "\n".join(message.content for request in model.requests for message in request.messages)
    asked = set(re.findall(r"\[\[(\w+/\w+)\]\]", said))
    assert asked
    assert asked <= prompts_in_use([strategy], [task]).keys()


def test_every_prompt_belongs_to_what_uses_it() -> None:
    """A prompt that is added must be named there, or a change of it would go unnoticed."""
    named = {*room._PROGRAM, *room._REASONING, *room._EPISODE, *room._REPOSITORY, *room._OF_ANY_STRATEGY}
    named |= {"reflection/attempt", "reflection/repository", "evaluators/judge"}
    assert named == prompts.hashes().keys()
    assert room._OF_STRATEGY.keys() == strategies().keys()
    assert {name for names in room._OF_STRATEGY.values() for name in names} <= set(room._OF_ANY_STRATEGY)


class Foreign:
    """A plug-in's strategy."""

    name = "foreign"
    needs_feedback = True


def test_a_strategy_that_is_not_known_may_ask_for_anything() -> None:
    strategy: Any = Foreign()
    assert {"reflection/critique", "evaluators/vote", "actors/program"} <= prompts_in_use([strategy], [FUNCTION]).keys()


def config(strategy: Strategy, *tasks: Task, old: bool = False) -> dict[str, Any]:
    made = run_config(
        suite="s", model="m", feedback="visible", arms=[Arm("a", strategy)], limits={}, about={}, tasks=tasks
    )
    if old:
        made["settings"]["prompts"] = prompts.hashes()
    return made


def test_another_actors_or_strategys_prompt_is_no_setting_of_this_run(
    tmp_path: Path, change: Callable[..., None]
) -> None:
    with open_folder(tmp_path / "run", config(make_strategy("reflexion"), FUNCTION)):
        pass
    change("actors/react", "actors/reasoning", "reflection/critique", "evaluators/vote")
    with open_folder(tmp_path / "run", config(make_strategy("reflexion"), FUNCTION)):
        pass
    change("reflection/lesson")
    with (
        pytest.raises(UsageError, match=r"prompts\.reflection/lesson was"),
        open_folder(tmp_path / "run", config(make_strategy("reflexion"), FUNCTION)),
    ):
        pass


def test_a_folder_that_recorded_every_prompt_goes_on_while_those_in_use_are_unchanged(
    tmp_path: Path, change: Callable[..., None]
) -> None:
    every = prompts.hashes()
    older = config(make_strategy("single"), FUNCTION, old=True)
    del older["settings"]["prompts"]["evaluators/vote"]  # a prompt that was added since
    with open_folder(tmp_path / "run", older):
        pass
    change("actors/react_system", "reflection/lesson")
    with open_folder(tmp_path / "run", config(make_strategy("single"), FUNCTION)):
        pass
    kept = read_config(tmp_path / "run")["settings"]["prompts"]
    assert kept == {name: known for name, known in every.items() if name != "evaluators/vote"}
    change("actors/program")
    with (
        pytest.raises(UsageError, match=r"prompts\.actors/program was"),
        open_folder(tmp_path / "run", config(make_strategy("single"), FUNCTION)),
    ):
        pass


def test_a_sitting_with_other_tasks_adds_their_prompts_and_holds_to_them(
    tmp_path: Path, change: Callable[..., None]
) -> None:
    single = make_strategy("single")
    for tasks in ([FUNCTION], [FUNCTION, QUESTION], [FUNCTION]):
        with open_folder(tmp_path / "run", config(single, *tasks)):
            pass
    change("actors/reasoning")
    with open_folder(tmp_path / "run", config(single, FUNCTION)):
        pass
    with (
        pytest.raises(UsageError, match=r"prompts\.actors/reasoning was"),
        open_folder(tmp_path / "run", config(single, FUNCTION, QUESTION)),
    ):
        pass


def test_a_run_that_is_named_by_all_prompts_is_found_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from hardwon.cli.carrying import run_folder

    monkeypatch.chdir(tmp_path)
    single = make_strategy("single")
    old, new = (run_folder(config(single, FUNCTION, old=kind), "a") for kind in (True, False))
    assert old != new
    old.mkdir(parents=True)
    assert run_folder(config(single, FUNCTION), "a") == old
    new.mkdir()
    assert run_folder(config(single, FUNCTION), "a") == new
