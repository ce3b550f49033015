"""Household games: ALFWorld's own logic plays what is written down here, and the planner's path wins it."""

from __future__ import annotations

import asyncio
import json
from importlib.util import find_spec
from pathlib import Path

import pytest
from tests.environments.experts import play

from hardwon.environments import household
from hardwon.environments.household import Household, from_problem, household_game, household_problem
from hardwon.environments.houses import Goal, House, pddl
from hardwon.environments.protocol import Observation
from hardwon.errors import EnvironmentTrouble
from hardwon.sandbox.choose import open_sandbox
from hardwon.suites import alfworld
from hardwon.suites.protocol import SuiteOptions

pytestmark = pytest.mark.skipif(find_spec("textworld") is None, reason="the extra games is not installed")

KITCHEN = House(
    ("cabinet", "countertop", "countertop", "sinkbasin", "microwave", "fridge"),
    {"countertop 1": ("apple", "mug"), "countertop 2": ("mug",), "fridge 1": ("egg",)},
    Goal("mug", "cabinet", "clean"),
)


def full_game(house: House) -> dict[str, str]:
    """A game as ALFWorld's files hold it."""
    folder = household.logic_folder()
    assert folder is not None
    grammar = (folder / "alfred.twl2").read_text().replace("UNKNOWN GOAL", "put a clean mug in a cabinet")
    return {"pddl_domain": (folder / "alfred.pddl").read_text(), "grammar": grammar, "pddl_problem": pddl(house)}


def plan(problem: str) -> list[str]:
    world = from_problem(problem, planned=True)
    world.reset(0)
    return world.plan()


def episode(problem: str, *actions: str) -> list[Observation]:
    async def run() -> list[Observation]:
        world = household_problem(problem, 50)
        try:
            return [await world.reset(0), *[await world.step(action) for action in actions]]
        finally:
            await world.close()

    return asyncio.run(run())


def test_the_planner_wins_every_bundled_game_through_the_agents_actions() -> None:
    problems = {task_id: problem for task_id, (_, problem) in alfworld.houses().items()}
    assert len(problems) == 6
    tasks = {task.id: task for task in alfworld.load(SuiteOptions(), open_sandbox(workers=1))}
    for task_id, problem in problems.items():
        actions = plan(problem)
        trial = asyncio.run(play(tasks[task_id], actions))
        assert trial.feedback.verdict == "pass", task_id
        assert trial.feedback.source == "oracle"
        assert [step.action for step in trial.trajectory.steps] == actions


def test_the_goal_is_reached_by_its_last_condition_alone() -> None:
    problem = pddl(KITCHEN)
    dirty = ("go to countertop 1", "take mug 1 from countertop 1", "go to cabinet 1", "open cabinet 1")
    seen = episode(problem, *dirty, "move mug 1 to cabinet 1")
    assert seen[-1].text == "You move the mug 1 to the cabinet 1."
    assert not any(step.won or step.done for step in seen)
    clean = (*dirty[:2], "go to sinkbasin 1", "clean mug 1 with sinkbasin 1", *dirty[2:], "move mug 1 to cabinet 1")
    seen = episode(problem, *clean)
    assert seen[-1].won
    assert seen[-1].done
    assert seen[-1].reward == 1.0


def test_things_and_places_bear_the_numbers_that_they_were_given() -> None:
    first, second, third = episode(pddl(KITCHEN), "Go to  Countertop 2.", "fly")
    assert first.text.startswith("You are in the middle of a room.")
    assert "Your task" not in first.text
    assert "countertop 1" in first.text
    assert "On the countertop 2, you see a mug 2." in second.text
    assert third.text == "Nothing happens."
    assert "take mug 2 from countertop 2" in (second.valid_actions or ())


def test_names_are_those_that_alfworld_gives(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("ALFWORLD_DATA", str(tmp_path))  # the package makes this folder when it is imported
    from alfworld.agents.utils.misc import Demangler

    problem = pddl(KITCHEN).replace("mug_bar_99", "mug_bar__minus_01_dot_50_bar__plus_00")
    infos = from_problem(problem)._game._entity_infos
    theirs = Demangler(game_infos=infos)
    assert {key: info.name for key, info in infos.items() if "_bar_" in key} == {
        key: theirs.demangle_alfred_name(key) for key in infos if "_bar_" in key
    }


def test_a_game_file_of_alfworld_is_played_with_its_own_logic(tmp_path: Path) -> None:
    path = tmp_path / "game.tw-pddl"
    path.write_text(json.dumps(full_game(KITCHEN)))

    async def run() -> str:
        world = household_game(path, 50)
        try:
            return (await world.reset(0)).text
        finally:
            await world.close()

    assert asyncio.run(run()) == episode(pddl(KITCHEN))[0].text


@pytest.mark.parametrize("problem", ["", "(define (problem house)", "(define (problem p) (:domain alfred))"])
def test_a_broken_problem_is_trouble(problem: str) -> None:
    with pytest.raises(EnvironmentTrouble, match="household:from_problem"):
        episode(problem)


def test_a_broken_game_file_is_trouble_that_names_it_and_the_mend(tmp_path: Path) -> None:
    path = tmp_path / "game.tw-pddl"
    path.write_text(json.dumps(full_game(KITCHEN) | {"pddl_problem": "(define (problem house)"}))
    with pytest.raises(EnvironmentTrouble, match=f"{path} is no game that can be played .*; make it again, or take it"):
        asyncio.run(household_game(path, 50).reset(0))


def test_a_thing_in_no_place_is_refused() -> None:
    with pytest.raises(ValueError, match="no such place; the places are cabinet 1"):
        pddl(House(("cabinet",), {"drawer 1": ("apple",)}, Goal("apple", "cabinet")))


def test_a_household_needs_no_process_to_be_looked_at() -> None:
    assert "sinkbasin 1" in Household(full_game(KITCHEN)).reset(0).text
