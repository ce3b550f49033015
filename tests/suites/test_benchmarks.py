"""HumanEval and MBPP in their layouts."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hardwon.errors import UsageError
from hardwon.evaluators import GeneratedTests, UnitTests
from hardwon.sandbox.protocol import FunctionTests, Sandbox
from hardwon.suites import humaneval, mbpp
from hardwon.suites.protocol import SuiteOptions
from hardwon.suites.read import Row

Write = Callable[..., Path]

PROMPT = 'def half(n: int) -> int:\n    """Half of n.\n\n    >>> half(4)\n    2\n    """\n'
EVAL: dict[str, Any] = {
    "task_id": "X/0",
    "prompt": PROMPT,
    "entry_point": "half",
    "canonical_solution": "    return n // 2\n",
    "test": "def check(candidate):\n    assert candidate(6) == 3\n",
}
MULTIPLE = {k: v for k, v in EVAL.items() if k != "task_id"} | {"name": "x_0_half", "language": "py", "stop_tokens": []}
FIRST: dict[str, Any] = {
    "task_id": 7,
    "text": "Write a function to halve a number.",
    "code": "import math\ndef half(n):\n    return n // 2\n",
    "test_list": ["assert sorted([half(4)]) == [2]", "assert half(6) == 3"],
    "test_setup_code": "import math",
    "challenge_test_list": [],
}


def test_the_installed_package_gives_all_of_humaneval(sandbox: Sandbox) -> None:
    tasks = humaneval.load(SuiteOptions(), sandbox)
    assert [task.id for task in tasks] == [f"HumanEval/{number}" for number in range(164)]
    assert all(isinstance(task.feedback, GeneratedTests) for task in tasks)
    assert all(task.graded_on == "hidden" for task in tasks)


def test_examples_in_a_prompt_are_its_visible_tests(write: Write, sandbox: Sandbox) -> None:
    bare = EVAL | {"task_id": "X/1", "prompt": 'def half(n):\n    """Half of n."""\n'}
    with_example, without = humaneval.load(SuiteOptions(data=write(EVAL, bare), feedback="visible"), sandbox)
    assert isinstance(with_example.feedback, UnitTests)
    assert with_example.feedback.tests.source == "assert half(4) == 2\n"
    assert without.feedback is None
    assert with_example.problem.examples == ()


def test_the_reference_is_prompt_and_body_and_the_prompts_helpers_serve_the_tests() -> None:
    task = humaneval.function_task(Row("f:1", EVAL), "task_id")
    assert task.solution == PROMPT + "    return n // 2\n"
    assert isinstance(task.hidden, FunctionTests)
    assert task.hidden.prelude == task.prelude == PROMPT


def test_further_fields_such_as_those_of_evalplus_are_ignored(write: Write, sandbox: Sandbox) -> None:
    more = EVAL | {"base_input": [[1]], "plus_input": [[float("inf")]], "atol": 0, "contract": "..."}
    [plain] = humaneval.load(SuiteOptions(data=write(EVAL)), sandbox)
    [extended] = humaneval.load(SuiteOptions(data=write(more, name="plus.jsonl")), sandbox)
    assert extended.digest == plain.digest


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"test": None}, "'test' is null"),
        ({"entry_point": ""}, "'entry_point' is empty"),
        ({"test": "def check(candidate):\n    pass\n"}, "'test' asserts nothing"),
        ({"test": "def check(candidate:\n"}, "'test' is no valid Python"),
        ({"test": "assert 1 == 1"}, "'test' does not call candidate or half"),
    ],
)
def test_a_broken_benchmark_row_is_named_with_its_line(
    write: Write, sandbox: Sandbox, change: dict[str, Any], says: str
) -> None:
    path = write(EVAL, EVAL | {"task_id": "X/1"} | change)
    with pytest.raises(UsageError) as caught:
        humaneval.load(SuiteOptions(data=path), sandbox)
    assert str(caught.value).startswith(f"{path}:2: ")
    assert says in str(caught.value)


def test_mbpp_loads_in_the_layout_of_multipl_e_and_of_humaneval(write: Write, sandbox: Sandbox) -> None:
    tasks = mbpp.load(SuiteOptions(data=write(MULTIPLE, EVAL)), sandbox)
    assert [task.id for task in tasks] == ["x_0_half", "X/0"]


def test_mbpp_as_first_published_shows_one_assertion_and_is_graded_on_all(write: Write, sandbox: Sandbox) -> None:
    [task] = mbpp.load(SuiteOptions(data=write(FIRST), feedback="visible"), sandbox)
    assert task.id == "MBPP/7"
    assert task.problem.entry_point == "half"
    assert task.problem.examples == ("assert sorted([half(4)]) == [2]",)
    assert isinstance(task.feedback, UnitTests)
    assert isinstance(task.grader, UnitTests)
    assert task.feedback.tests.source.splitlines() == FIRST["test_list"][:1]
    assert task.grader.tests.source.splitlines() == FIRST["test_list"]
    assert task.grader.tests.prelude == "import math"


def test_mbpp_reads_the_edited_edition_with_prompt_and_test_imports(write: Write, sandbox: Sandbox) -> None:
    row = {"task_id": 7, "prompt": FIRST["text"], "test_imports": ["import math"], "test_list": FIRST["test_list"]}
    path = write(json.dumps([row], indent=2), name="edited.json")
    [task] = mbpp.load(SuiteOptions(data=path), sandbox)
    assert task.problem.entry_point == "half"
    assert isinstance(task.grader, UnitTests)
    assert task.grader.tests.prelude == "import math"


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"test_list": []}, "at least one assertion"),
        ({"test_list": ["assert half(4) == 2", "half(6)"]}, "test_list, test 2: asserts nothing"),
        ({"test_list": ["assert sorted([]) == []"]}, "calls no function of the task's own"),
        ({"test_setup_code": "def"}, "'test_setup_code' is no valid Python"),
    ],
)
def test_a_broken_mbpp_row_is_named_with_its_line(
    write: Write, sandbox: Sandbox, change: dict[str, Any], says: str
) -> None:
    path = write(FIRST, FIRST | {"task_id": 8} | change)
    with pytest.raises(UsageError) as caught:
        mbpp.load(SuiteOptions(data=path), sandbox)
    assert str(caught.value).startswith(f"{path}:2: ")
    assert says in str(caught.value)
