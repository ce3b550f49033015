"""From a programming task to a task: who may see what, who grades, and which tasks are picked."""

from __future__ import annotations

import asyncio
import types
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import pytest

from hardwon.errors import UsageError
from hardwon.evaluators import GeneratedTests, StdioTests, UnitTests
from hardwon.sandbox.protocol import FunctionTests, Limits, Sandbox
from hardwon.sandbox.remembering import RememberingSandbox
from hardwon.suites import jsonl
from hardwon.suites.programming import ProgrammingTask, build
from hardwon.suites.protocol import FeedbackKind, SuiteOptions
from hardwon.task import Problem
from hardwon.trial import Trajectory

Write = Callable[..., Path]
SECRET = "assert f(41) == 42"
TASK = ProgrammingTask(
    Problem("t/f", "Add one.", "function", "f", ("assert f(1) == 2",)),
    FunctionTests("f", "assert f(1) == 2"),
    FunctionTests("f", SECRET),
    solution="def f(x):\n    return x + 1",
)
ROW: dict[str, Any] = {"prompt": "Add one.", "entry_point": "f", "tests": ["assert f(1) == 2"]}


def reachable(start: object) -> Iterator[object]:
    """Everything that attributes, items and elements lead to, functions' closures included."""
    seen: set[int] = set()
    queue = [start]
    while queue:
        item = queue.pop()
        if id(item) in seen or isinstance(item, type | types.ModuleType):
            continue
        seen.add(id(item))
        yield item
        if isinstance(item, str | bytes | int | float | None):
            continue
        queue.extend(getattr(item, "__dict__", {}).values())
        slots = [name for kind in type(item).__mro__ for name in getattr(kind, "__slots__", ())]
        queue.extend(getattr(item, name) for name in slots if hasattr(item, name))
        queue.extend(cell.cell_contents for cell in getattr(item, "__closure__", None) or ())
        if isinstance(item, dict):
            queue.extend((*item.keys(), *item.values()))
        elif isinstance(item, list | tuple | set | frozenset):
            queue.extend(item)


@pytest.mark.parametrize("feedback", ["visible", "generated"])
def test_neither_problem_nor_feedback_leads_to_the_grader_or_the_solution(
    sandbox: Sandbox, feedback: FeedbackKind
) -> None:
    task = build(TASK, feedback, sandbox, Limits())
    assert any(item == SECRET for item in reachable(task.grader))
    for item in (*reachable(task.problem), *reachable(task.feedback)):
        assert item is not task.grader
        assert not (isinstance(item, str) and (SECRET in item or "x + 1" in item))


def test_what_a_comparison_remembers_of_grading_is_out_of_reach_of_the_loop(sandbox: Sandbox) -> None:
    remembering = RememberingSandbox(sandbox)
    task = build(TASK, "visible", remembering, Limits())
    trajectory = Trajectory("def f(x):\n    return 2")

    async def check_and_grade() -> None:
        assert task.feedback is not None
        assert task.grader is not None
        assert (await task.feedback.check(trajectory)).verdict == "pass"
        assert (await task.grader.check(trajectory)).verdict == "fail"

    asyncio.run(check_and_grade())
    assert any(isinstance(item, str) and "f(1)" in item for item in remembered(remembering))
    for held in (remembering, task.feedback, task.behaviour):
        for item in (*reachable(held), *remembered(remembering)):
            assert not (isinstance(item, str) and "f(41)" in item)


def remembered(sandbox: RememberingSandbox) -> Iterator[object]:
    """What its futures hold: they show it to no attribute."""
    for future in sandbox._known.values():
        yield from reachable(future.result())


@pytest.mark.parametrize("feedback", get_args(FeedbackKind))
def test_the_grader_is_an_instance_of_its_own_with_the_limits_asked_for(
    sandbox: Sandbox, feedback: FeedbackKind
) -> None:
    task = build(TASK, feedback, sandbox, Limits(test_seconds=1.5))
    assert task.grader is not task.feedback
    assert isinstance(task.grader, UnitTests)
    assert task.grader.tests.source == SECRET
    assert task.grader.limits.test_seconds == 1.5
    assert task.graded_on == "hidden"


def test_oracle_feedback_is_labelled_as_such_and_the_other_kinds_by_their_evidence(sandbox: Sandbox) -> None:
    sources = {}
    for feedback in get_args(FeedbackKind):
        evaluator = build(TASK, feedback, sandbox, Limits()).feedback
        assert evaluator is not None
        sources[feedback] = evaluator.source
    assert sources == {"visible": "grounded", "generated": "generated", "oracle": "oracle"}


def test_a_task_without_hidden_tests_is_graded_on_the_visible_ones_and_says_so(sandbox: Sandbox) -> None:
    task = build(replace(TASK, hidden=None), "visible", sandbox, Limits())
    assert task.graded_on == "visible"
    assert task.grader == task.feedback
    assert task.grader is not task.feedback


def test_oracle_feedback_without_hidden_tests_is_refused(sandbox: Sandbox) -> None:
    with pytest.raises(UsageError, match="t/f has no hidden tests"):
        build(replace(TASK, hidden=None), "oracle", sandbox, Limits())


def test_a_task_without_visible_tests_has_no_visible_feedback(sandbox: Sandbox) -> None:
    assert build(replace(TASK, visible=None), "visible", sandbox, Limits()).feedback is None


def test_the_digest_changes_with_problem_and_tests_and_with_nothing_else(sandbox: Sandbox) -> None:
    same = replace(TASK, solution=None)
    others = [
        replace(TASK, problem=replace(TASK.problem, prompt="Add two.")),
        replace(TASK, visible=None),
        replace(TASK, hidden=FunctionTests("f", "assert f(41) == 43")),
        replace(TASK, hidden=FunctionTests("f", SECRET, prelude="import math")),
    ]
    assert same.digest == TASK.digest
    assert len({TASK.digest, *(other.digest for other in others)}) == 5
    built = {build(TASK, kind, sandbox, Limits(test_seconds=9)).digest for kind in get_args(FeedbackKind)}
    assert built == {TASK.digest}


def test_self_written_tests_are_the_default_only_where_a_task_has_no_visible_ones(
    write: Write, sandbox: Sandbox
) -> None:
    bare = {"task_id": "b", "prompt": "Add one.", "entry_point": "f", "hidden_tests": ["assert f(1) == 2"]}
    full = write({"task_id": "a", **ROW}, name="full.jsonl")
    partly = write({"task_id": "a", **ROW}, bare, name="partly.jsonl")
    assert [type(t.feedback) for t in jsonl.load(SuiteOptions(data=full), sandbox)] == [UnitTests]
    assert [type(t.feedback) for t in jsonl.load(SuiteOptions(data=partly), sandbox)] == [GeneratedTests] * 2
    chosen = jsonl.load(SuiteOptions(data=partly, feedback="visible"), sandbox)
    assert [type(t.feedback) for t in chosen] == [UnitTests, type(None)]


def test_stdio_tasks_get_stdio_evaluators(write: Write, sandbox: Sandbox) -> None:
    row = {"task_id": "s", "prompt": "Echo.", "tests": [{"stdin": "a", "stdout": "a"}]}
    [task] = jsonl.load(SuiteOptions(data=write(row)), sandbox)
    assert isinstance(task.feedback, StdioTests)
    assert isinstance(task.grader, StdioTests)


@pytest.fixture
def letters(write: Write) -> Path:
    return write(*({"task_id": f"x/{name}", **ROW} for name in ("delta", "alpha", "gamma")))


def ids_of(path: Path, sandbox: Sandbox, **options: Any) -> list[str]:
    return [task.id for task in jsonl.load(SuiteOptions(data=path, **options), sandbox)]


def test_ids_and_limit_pick_tasks_in_the_order_of_the_file(letters: Path, sandbox: Sandbox) -> None:
    assert ids_of(letters, sandbox) == ["x/delta", "x/alpha", "x/gamma"]
    assert ids_of(letters, sandbox, ids=("x/gamma", "x/delta")) == ["x/delta", "x/gamma"]
    assert ids_of(letters, sandbox, limit=2) == ["x/delta", "x/alpha"]
    assert ids_of(letters, sandbox, ids=("x/gamma", "x/alpha"), limit=1) == ["x/alpha"]


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"ids": ("x/alpha", "x/gama")}, "--ids x/gama: no such task; did you mean x/gamma?"),
        ({"ids": ("delta",)}, "did you mean x/delta?"),
        ({"ids": ("1",)}, "look like x/delta"),
        ({"ids": ()}, "--ids names no task"),
        ({"limit": 0}, "--limit 0"),
    ],
)
def test_a_choice_that_picks_nothing_is_an_error(
    letters: Path, sandbox: Sandbox, options: dict[str, Any], says: str
) -> None:
    with pytest.raises(UsageError) as caught:
        ids_of(letters, sandbox, **options)
    assert says in str(caught.value)
