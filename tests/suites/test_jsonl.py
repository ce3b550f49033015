"""The user's own layout: every form of test, and the message for every mistake."""

from __future__ import annotations

import ast
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hardwon.errors import UsageError
from hardwon.sandbox.protocol import FunctionTests, Sandbox, StdioCase
from hardwon.suites import jsonl
from hardwon.suites.own_tests import read_source
from hardwon.suites.protocol import SuiteOptions
from hardwon.suites.read import Row

Write = Callable[..., Path]

AREA: dict[str, Any] = {
    "task_id": "mine/area",
    "prompt": "Write `area(width, height)`.",
    "entry_point": "area",
    "tests": ["assert area(2, 3) == 6"],
    "hidden_tests": ["assert area(0, 9) == 0"],
}
SUM: dict[str, Any] = {
    "task_id": "mine/sum",
    "prompt": "Print the sum.",
    "tests": [{"stdin": "1 2\n", "stdout": "3\n"}],
    "hidden_tests": [{"stdin": "", "stdout": "0\n"}],
}
NONE = object()


def changed(row: dict[str, Any], **changes: Any) -> dict[str, Any]:
    return {name: value for name, value in (row | changes).items() if value is not NONE}


def test_the_three_forms_of_function_tests_become_assertions(write: Write) -> None:
    forms = ["assert area(2, 3) == 6", {"call": "area(2, 3)", "expected": 6}]
    forms.append({"args": [2], "kwargs": {"height": 3}, "expected": 6})
    [(_, task)] = jsonl.read_tasks(write(changed(AREA, tests=forms)))
    assert task.problem.examples == (
        "assert area(2, 3) == 6",
        "assert area(2, 3) == 6",
        "assert area(2, height=3) == 6",
    )
    assert isinstance(task.visible, FunctionTests)
    assert task.visible.source.splitlines() == list(task.problem.examples)


def test_stdin_and_stdout_become_cases_and_readable_examples(write: Write) -> None:
    [(_, task)] = jsonl.read_tasks(write(SUM))
    assert task.problem.kind == "stdio"
    assert task.problem.examples == ("input:\n1 2\noutput:\n3",)
    assert task.hidden == (StdioCase("", "0\n", "hidden_tests 1"),)


def test_hidden_tests_prelude_and_solution_never_enter_the_problem(write: Write) -> None:
    row = changed(AREA, prelude="SECRET_PRELUDE = 1", solution="SECRET_SOLUTION = 2")
    [(_, task)] = jsonl.read_tasks(write(row))
    assert "SECRET" not in repr(task.problem)
    assert "area(0, 9)" not in repr(task.problem)


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@settings(deadline=None)  # the machine may be busy
@given(st.lists(JSON_VALUES, max_size=3), st.dictionaries(st.sampled_from("abc"), JSON_VALUES), JSON_VALUES)
def test_arguments_and_expected_values_reach_the_assertion_unchanged(
    args: list[Any], kwargs: dict[str, Any], expected: Any
) -> None:
    [source] = read_source(Row("f:1", {}), "tests", [{"args": args, "kwargs": kwargs, "expected": expected}], "f")
    [statement] = ast.parse(source).body
    assert isinstance(statement, ast.Assert)
    compare = statement.test
    assert isinstance(compare, ast.Compare)
    assert isinstance(compare.left, ast.Call)
    assert [ast.literal_eval(argument) for argument in compare.left.args] == args
    assert {keyword.arg: ast.literal_eval(keyword.value) for keyword in compare.left.keywords} == kwargs
    assert ast.literal_eval(compare.comparators[0]) == expected


@pytest.mark.parametrize(
    ("row", "says"),
    [
        (changed(AREA, task_id=NONE), "'task_id' is missing"),
        (changed(AREA, prompt=NONE), "'prompt' is missing"),
        (changed(AREA, prompt="  "), "'prompt' is empty"),
        (changed(AREA, prompt=3), "'prompt' is a number"),
        (changed(AREA, prompt="\ud800"), "'prompt' holds half"),
        (changed(AREA, entry_point=NONE), "'entry_point' is missing"),
        (changed(AREA, entry_point="a b"), "no name of a Python function"),
        (changed(AREA, entry_point="class"), "no name of a Python function"),
        (changed(AREA, hiden_tests=[]), "unknown field 'hiden_tests'; did you mean 'hidden_tests'?"),
        (changed(AREA, tests="assert area(1, 1) == 1"), "'tests' is a text; give an array"),
        (changed(AREA, tests=[], hidden_tests=[]), "no tests"),
        (changed(AREA, tests=NONE, hidden_tests=None), "no tests"),
        (changed(AREA, prelude="def"), "'prelude' is no valid Python"),
        (changed(AREA, tests=["assert area(1"]), "tests, test 1: is no valid Python"),
        (changed(AREA, tests=["area(1, 1)"]), "tests, test 1: asserts nothing"),
        (changed(AREA, hidden_tests=["assert area(1, 1)", "assert True"]), "hidden_tests, test 2: does not call area"),
        (changed(AREA, tests=[3]), "tests, test 1: this is a number"),
        (changed(AREA, tests=[{"call": "area(1, 1)"}]), "'expected' is missing"),
        (changed(AREA, tests=[{"call": "x = 1", "expected": 1}]), "'call' is no Python expression"),
        (changed(AREA, tests=[{"call": "len([])", "expected": 0}]), "does not call area"),
        (changed(AREA, tests=[{"call": "area()", "args": [], "expected": 0}]), "a test is a text"),
        (changed(AREA, tests=[{"args": 1, "expected": 0}]), "'args' must be an array"),
        (changed(AREA, tests=[{"kwargs": {"a b": 1}, "expected": 0}]), "'a b', which is no name"),
        (changed(AREA, tests=[{"args": [], "expected": [float("nan")]}]), "no number that JSON knows"),
        (changed(AREA, tests=["def check(c):\n    assert area(1, 1)\n"] * 2), "defines `check` twice"),
        (changed(AREA, tests=SUM["tests"]), "mixed"),
        (changed(SUM, tests=[{"stdin": "1"}]), "tests, test 1: give it"),
        (changed(SUM, tests=[{"stdin": "1", "stdout": 1}]), "'stdout' is a number"),
        (changed(SUM, tests=[{"stdin": "1", "stdout": "\n"}]), "expects no output"),
        (changed(SUM, prelude="x = 1"), "'prelude' is for tests of a function"),
    ],
)
def test_each_mistake_is_named_with_its_line_and_a_mend(
    write: Write, sandbox: Sandbox, row: dict[str, Any], says: str
) -> None:
    path = write(changed(AREA, task_id="mine/first"), row)
    with pytest.raises(UsageError) as caught:
        jsonl.load(SuiteOptions(data=path), sandbox)
    message = str(caught.value)
    assert message.startswith(f"{path}:2: ")
    assert says in message
    assert "\n" not in message
    assert caught.value.exit_code == 2


def test_an_id_that_is_there_twice_names_both_lines(write: Write, sandbox: Sandbox) -> None:
    path = write(AREA, SUM, AREA)
    with pytest.raises(UsageError, match="is on line 1 already") as caught:
        jsonl.load(SuiteOptions(data=path), sandbox)
    assert str(caught.value).startswith(f"{path}:3: ")


def test_the_example_of_the_documentation_loads(write: Write, sandbox: Sandbox) -> None:
    page = Path(__file__).parents[2] / "docs" / "reference" / "jsonl.md"
    example = page.read_text(encoding="utf-8").partition("## An example")[2].split("```")[1].removeprefix("json\n")
    tasks = jsonl.load(SuiteOptions(data=write(*example.splitlines())), sandbox)
    assert [task.id for task in tasks] == ["mine/area", "mine/sum"]
