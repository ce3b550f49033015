"""The bundled suite keeps its word: references pass, empty programs do not, hidden tests stay hidden."""

from __future__ import annotations

import asyncio

import pytest

from hardwon.sandbox.choose import open_sandbox
from hardwon.sandbox.protocol import FunctionTests, Sandbox
from hardwon.suites import jsonl, starter
from hardwon.suites.programming import ProgrammingTask, Tests
from hardwon.suites.protocol import SuiteOptions
from hardwon.task import Task
from hardwon.trial import Feedback, Trajectory

ITEMS = [item for _, item in jsonl.read_tasks(starter.DATA)]


def single_tests(tests: Tests | None) -> list[str]:
    if tests is None:
        return []
    if isinstance(tests, FunctionTests):
        return tests.source.splitlines()
    return [case.stdin for case in tests]


def check_all(programs: dict[str, str]) -> dict[str, tuple[Feedback, Feedback]]:
    """Feedback and grade of one program for each task, from the real evaluators in a real sandbox."""

    async def one(task: Task) -> tuple[Feedback, Feedback]:
        trajectory = Trajectory(programs[task.id])
        assert task.feedback is not None
        assert task.grader is not None
        return await task.feedback.check(trajectory), await task.grader.check(trajectory)

    async def every() -> dict[str, tuple[Feedback, Feedback]]:
        sandbox = open_sandbox(workers=2)
        try:
            tasks = starter.load(SuiteOptions(), sandbox)
            return dict(zip([task.id for task in tasks], await asyncio.gather(*map(one, tasks)), strict=True))
        finally:
            await sandbox.close()

    return asyncio.run(every())


def test_every_reference_solution_passes_visible_and_hidden_tests() -> None:
    outcomes = check_all({item.problem.id: item.solution or "" for item in ITEMS})
    assert outcomes.keys() == {item.problem.id for item in ITEMS}
    bad = {name: seen for name, seen in outcomes.items() if [f.verdict for f in seen] != ["pass", "pass"]}
    assert bad == {}
    counted = {name: len(grade.checks) for name, (_, grade) in outcomes.items()}
    assert counted == {item.problem.id: len(single_tests(item.hidden)) for item in ITEMS}


def test_a_program_that_does_nothing_fails_every_task_on_visible_and_hidden_tests() -> None:
    outcomes = check_all(
        {item.problem.id: f"def {item.problem.entry_point or 'main'}(*args):\n    pass\n" for item in ITEMS}
    )
    assert {verdict.verdict for seen in outcomes.values() for verdict in seen} == {"fail"}


@pytest.mark.parametrize("item", ITEMS, ids=lambda item: item.problem.id)
def test_each_task_has_enough_distinct_tests_and_shows_none_of_the_hidden_ones(item: ProgrammingTask) -> None:
    visible, hidden = single_tests(item.visible), single_tests(item.hidden)
    assert 2 <= len(visible) <= 4
    assert 6 <= len(hidden) <= 15
    assert len({*visible, *hidden}) == len(visible) + len(hidden)
    shown = "\n".join((item.problem.prompt, *item.problem.examples))
    if isinstance(item.hidden, FunctionTests):
        assert not [test for test in hidden if test in shown]
    assert item.problem.id.startswith("starter/")


def test_the_suite_is_about_thirty_tasks_of_both_kinds_and_shows_its_tests(sandbox: Sandbox) -> None:
    tasks = starter.load(SuiteOptions(), sandbox)
    kinds = [task.problem.kind for task in tasks]
    assert 28 <= len(tasks) <= 32
    assert 4 <= kinds.count("stdio") <= 6
    assert {task.graded_on for task in tasks} == {"hidden"}
    assert all(task.feedback is not None and task.feedback.source == "grounded" for task in tasks)
