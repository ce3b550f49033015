"""MBPP in the layouts it goes about in: as first published, and HumanEval-like (MultiPL-E).

Austin et al., "Program Synthesis with Large Language Models", 2021: a sentence, and three assertions.
"""

from __future__ import annotations

import ast
import builtins

from hardwon.errors import UsageError
from hardwon.sandbox.protocol import FunctionTests, Sandbox
from hardwon.suites.humaneval import function_task
from hardwon.suites.programming import ProgrammingTask, build_all, flaw_in_tests, parsed, solutions_of
from hardwon.suites.protocol import SuiteOptions
from hardwon.suites.read import Row, is_unicode, read_rows
from hardwon.task import Problem, Task


def load(options: SuiteOptions, sandbox: Sandbox) -> tuple[Task, ...]:
    """Raises UsageError that names file and line for the first thing that is wrong."""
    return build_all(_read(options), options, sandbox, "generated")


def solutions(options: SuiteOptions) -> dict[str, str]:
    """The programs first published with the tasks, by task id; the other layout has none. Raises UsageError."""
    return solutions_of(_read(options))


def _read(options: SuiteOptions) -> list[tuple[Row, ProgrammingTask]]:
    if options.data is None:
        raise UsageError("the suite mbpp has no data of its own; give --data PATH")
    return [(row, _task(row)) for row in read_rows(options.data)]


def _task(row: Row) -> ProgrammingTask:
    if "test_list" in row.fields:
        return _first_published(row)
    return function_task(row, "name" if "name" in row.fields and "task_id" not in row.fields else "task_id")


def _first_published(row: Row) -> ProgrammingTask:
    """The prompt is a sentence that does not name the function: its first assertion is shown beside it.

    All assertions are hidden tests, as everywhere where MBPP is graded.
    """
    number = row.fields.get("task_id")
    task_id = f"MBPP/{number}" if isinstance(number, int) else row.need("task_id")
    prompt = row.need("text" if "text" in row.fields else "prompt")
    code = row.text("code", required=False)
    tests = row.array("test_list", required=True)
    if not tests or not all(isinstance(test, str) and is_unicode(test) for test in tests):
        raise row.wrong("'test_list' must hold at least one assertion, each a text; mend it")
    entry_point = _tested(row, tests, code)
    for place, test in enumerate(tests, 1):
        if flaw := flaw_in_tests(test, {entry_point}):
            raise row.wrong(f"test_list, test {place}: {flaw}")
    prelude = _prelude(row)
    return ProgrammingTask(
        Problem(task_id, prompt, "function", entry_point, (tests[0].strip(),)),
        visible=FunctionTests(entry_point, tests[0].strip() + "\n", prelude),
        hidden=FunctionTests(entry_point, "\n".join(tests) + "\n", prelude),
        prelude=prelude,
        solution=code,
    )


def _prelude(row: Row) -> str:
    lines = [row.text("test_setup_code", required=False) or "", *row.array("test_imports")]
    if not all(isinstance(line, str) for line in lines):
        raise row.wrong("'test_imports' must hold texts; mend it")
    prelude = "\n".join(line for line in lines if line)
    if isinstance(flaw := parsed(prelude), str):
        raise row.wrong(f"'test_setup_code' is no valid Python ({flaw}); mend it")
    return prelude


def _tested(row: Row, tests: list[str], code: str | None) -> str:
    """The function that every test calls: of those that `code` defines, or of all that are no builtins."""
    defined: set[str] | None = None
    if code is not None and isinstance(tree := parsed(code), ast.Module):
        defined = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
    for call in _calls(tests[0]):
        if call in defined if defined is not None else not hasattr(builtins, call):
            return call
    raise row.wrong("the first test of 'test_list' calls no function of the task's own; mend it")


def _calls(source: str) -> list[str]:
    """Names of the functions called, outermost first."""
    tree = parsed(source)
    if isinstance(tree, str):
        return []
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    return [node.func.id for node in calls if isinstance(node.func, ast.Name)]
