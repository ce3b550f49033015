"""Your own tasks, one JSON object a line; docs/reference/jsonl.md says what each field means."""

from __future__ import annotations

import keyword
from collections.abc import Sequence
from pathlib import Path

from hardwon.errors import UsageError
from hardwon.sandbox.protocol import FunctionTests, Sandbox
from hardwon.suites.own_tests import read_cases, read_source, speaks_stdio
from hardwon.suites.programming import ProgrammingTask, Tests, build_all, parsed, solutions_of
from hardwon.suites.protocol import SuiteOptions
from hardwon.suites.read import Row, read_rows
from hardwon.task import Problem, Task

_FIELDS = ("task_id", "prompt", "entry_point", "tests", "hidden_tests", "prelude", "solution")


def load(options: SuiteOptions, sandbox: Sandbox) -> tuple[Task, ...]:
    """Raises UsageError that names file and line for the first thing that is wrong."""
    return build_all(_read(options), options, sandbox)


def solutions(options: SuiteOptions) -> dict[str, str]:
    """The reference solutions by task id. Raises UsageError."""
    return solutions_of(_read(options))


def _read(options: SuiteOptions) -> list[tuple[Row, ProgrammingTask]]:
    if options.data is None:
        raise UsageError("the suite jsonl is your own tasks; give --data FILE, or the file's path as the suite")
    return read_tasks(options.data)


def read_tasks(path: Path) -> list[tuple[Row, ProgrammingTask]]:
    """Every task of a file in this layout, with its reference solution. Raises UsageError."""
    return [(row, _task(row)) for row in read_rows(path)]


def _task(row: Row) -> ProgrammingTask:
    row.only(_FIELDS)
    task_id, prompt = row.need("task_id"), row.need("prompt")
    entry_point = row.text("entry_point", required=False)
    prelude = row.text("prelude", required=False) or ""
    solution = row.text("solution", required=False)
    groups = [(name, row.array(name)) for name in ("tests", "hidden_tests")]
    tests = [test for _, group in groups for test in group]
    if not tests:
        raise row.wrong("the task has no tests; fill in 'tests', 'hidden_tests' or both")
    if entry_point is not None and (not entry_point.isidentifier() or keyword.iskeyword(entry_point)):
        raise row.wrong(f"'entry_point' {entry_point!r} is no name of a Python function; mend it")
    if isinstance(flaw := parsed(prelude), str):
        raise row.wrong(f"'prelude' is no valid Python ({flaw}); mend it")
    stdio = [speaks_stdio(test) for test in tests]
    if any(stdio):
        if not all(stdio):
            raise row.wrong("tests of a function and stdin/stdout tests are mixed; make two tasks of them")
        if prelude:
            raise row.wrong("'prelude' is for tests of a function, and these are stdin/stdout; drop it")
        visible, hidden = (read_cases(row, name, group) for name, group in groups)
        examples = [f"input:\n{_line(case.stdin)}output:\n{case.expected.rstrip()}" for case in visible]
        problem = Problem(task_id, prompt, "stdio", None, tuple(examples))
        return ProgrammingTask(problem, visible or None, hidden or None, solution=solution)
    if entry_point is None:
        raise row.wrong("the field 'entry_point' is missing; name the function that the tests call")
    shown, kept = (read_source(row, name, group, entry_point) for name, group in groups)
    problem = Problem(task_id, prompt, "function", entry_point, shown)
    return ProgrammingTask(
        problem, _joined(shown, entry_point, prelude), _joined(kept, entry_point, prelude), prelude, solution
    )


def _joined(tests: Sequence[str], entry_point: str, prelude: str) -> Tests | None:
    return FunctionTests(entry_point, "\n".join(tests) + "\n", prelude) if tests else None


def _line(text: str) -> str:
    return text if not text or text.endswith("\n") else text + "\n"
