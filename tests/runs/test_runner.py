"""The runner: graders out of reach, graded once, and errors that are neither pass nor fail."""

import asyncio
import gc
import types
from collections.abc import Sequence
from pathlib import Path

import pytest

from hardwon.actors.program import ProgramActor
from hardwon.errors import InfrastructureError, ModelError, ModelRefused
from hardwon.evaluators.function import FunctionCheck
from hardwon.models.protocol import Completion, Model, Request
from hardwon.models.scripted import ScriptedModel
from hardwon.runs.folder import open_folder
from hardwon.runs.results import read_rows
from hardwon.runs.row import Row
from hardwon.runs.runner import Arm, Runner
from hardwon.session import Session
from hardwon.strategies.protocol import Strategy
from hardwon.strategies.reflexion import Reflexion
from hardwon.strategies.single import Single
from hardwon.task import Problem, Task
from hardwon.trial import Submission

CODE = "```python\ndef f():\n    return 1\n```"
MODEL = ScriptedModel.from_replies({"*": {"act": [CODE]}})


class Grader(FunctionCheck):
    """The hidden evaluator; counts how often it is asked."""


def task(name: str, *, right: bool = True, graded: list[str] | None = None) -> Task:
    def grade(text: str) -> bool:
        if graded is not None:
            graded.append(name)
        return right

    problem = Problem(name, "Write f.", "function", "f")
    return Task(problem, FunctionCheck(lambda text: True), Grader(grade), name)


def run(folder: Path, tasks: Sequence[Task], model: Model = MODEL, strategy: Strategy | None = None) -> list[Row]:
    async def go() -> None:
        with open_folder(folder, {"settings": {}}) as journal:
            runner = Runner(journal, model, ProgramActor(), workers=2)
            await runner.run(tasks, [Arm("arm", strategy or Single())])

    asyncio.run(go())
    return read_rows(folder)


class Prying:
    """A strategy that looks for a grader in everything that it can reach by attributes."""

    name = "prying"
    needs_feedback = False

    def __init__(self) -> None:
        self.seen = 0
        self.found: list[object] = []

    async def solve(self, problem: Problem, session: Session) -> Submission:
        todo: list[object] = [problem, session]
        seen = {id(self), id(self.found)}
        while todo:
            thing = todo.pop()
            if id(thing) in seen or isinstance(thing, type | types.ModuleType | types.FrameType):
                continue
            seen.add(id(thing))
            if isinstance(thing, Grader):
                self.found.append(thing)
            if isinstance(thing, types.FunctionType):
                todo.extend(cell.cell_contents for cell in thing.__closure__ or ())
            else:
                todo.extend(gc.get_referents(thing))
        self.seen = len(seen)
        await session.attempt()
        return session.submit("solved")


def test_no_attribute_of_what_a_strategy_holds_leads_to_the_grader(tmp_path: Path) -> None:
    prying = Prying()
    rows = run(tmp_path / "run", [task("a"), task("b", right=False)], strategy=prying)
    assert prying.seen > 30
    assert prying.found == []
    assert [row.solved for row in rows] == [True, False]


def test_a_submission_is_graded_once(tmp_path: Path) -> None:
    graded: list[str] = []
    run(tmp_path / "run", [task("a", graded=graded)], strategy=Reflexion())
    run(tmp_path / "run", [task("a", graded=graded)], strategy=Reflexion())
    assert graded == ["a"]


class Faulty:
    """A model that fails for some tasks."""

    name = "faulty"
    parallel = 1
    price_known = True

    def __init__(self, error: Exception, *tasks: str) -> None:
        self.error = error
        self.tasks = tasks

    async def generate(self, request: Request) -> Completion:
        if request.task_id in self.tasks:
            raise self.error
        return await MODEL.generate(request)

    async def close(self) -> None: ...


@pytest.mark.parametrize("error", [ModelError("server dropped the connection"), RuntimeError("a bug")])
def test_one_tasks_error_is_recorded_and_does_not_end_the_run(tmp_path: Path, error: Exception) -> None:
    rows = run(tmp_path / "run", [task(n) for n in "abc"], Faulty(error, "b"))
    assert [(row.solved, row.stop) for row in rows] == [(True, "solved"), (None, "error"), (True, "solved")]
    assert str(error) in (rows[1].error or "")
    assert rows[1].submission is None


def test_a_later_sitting_tries_again_what_an_error_ended(tmp_path: Path) -> None:
    run(tmp_path / "run", [task(n) for n in "abc"], Faulty(ModelError("down"), "b"))
    run(tmp_path / "run", [task(n) for n in "abc"], Faulty(ModelError("down again"), "b"))
    rows = run(tmp_path / "run", [task(n) for n in "abc"])
    assert [row.solved for row in rows] == [True, True, True]
    assert rows[1].error is None


def test_a_wrong_key_ends_the_run_at_the_first_call(tmp_path: Path) -> None:
    with pytest.raises(ModelRefused, match="key"):
        run(tmp_path / "run", [task(n) for n in "abc"], Faulty(ModelRefused("wrong key"), *"abc"))


def test_a_dead_server_ends_the_run_instead_of_failing_every_task(tmp_path: Path) -> None:
    names = [f"t{n}" for n in range(50)]
    with pytest.raises(InfrastructureError, match="in a row"):
        run(tmp_path / "run", [task(n) for n in names], Faulty(ModelError("unreachable"), *names))
    assert len(read_rows(tmp_path / "run")) < 10


def test_a_grader_that_crashes_is_an_error_not_a_failure(tmp_path: Path) -> None:
    def crash(text: str) -> bool:
        raise OSError("no disk")

    broken = Task(Problem("a", "Write f.", "function", "f"), None, Grader(crash), "a")
    (row,) = run(tmp_path / "run", [broken])
    assert row.solved is None
    assert row.stop == "error"
    assert "no disk" in (row.error or "")


def test_a_changed_task_is_not_mixed_into_an_old_run(tmp_path: Path) -> None:
    run(tmp_path / "run", [task("a")])
    changed = Task(Problem("a", "Write f, differently.", "function", "f"), None, None, "another digest")
    with pytest.raises(Exception, match="a: has changed"):
        run(tmp_path / "run", [changed])


def test_work_is_known_by_task_id_not_by_its_place(tmp_path: Path) -> None:
    graded: list[str] = []
    run(tmp_path / "run", [task(n, graded=graded) for n in "ab"])
    rows = run(tmp_path / "run", [task(n, graded=graded) for n in "cba"])
    assert sorted(graded) == ["a", "b", "c"]
    assert [row.task_id for row in rows] == ["a", "b", "c"]
