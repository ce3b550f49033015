"""Unit and input/output tests end to end, behind the real wall."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from hardwon.evaluators import StdioTests, UnitTests
from hardwon.sandbox.protocol import FunctionTests, Limits, Sandbox, StdioCase
from hardwon.trial import Feedback, Source, Trajectory

_TESTS = "assert add(1, 2) == 3\nassert add(0, 0) == 0\nassert add(-1, 1) == 0"


Check = Callable[..., Feedback]


@pytest.fixture
def check(run: Callable[..., Any], sandbox: Sandbox) -> Check:
    def checked(
        program: str | None, tests: str = _TESTS, source: Source = "grounded", seconds: float = 3.0
    ) -> Feedback:
        limits = Limits(test_seconds=seconds, load_seconds=seconds)
        evaluator = UnitTests(FunctionTests("add", tests), sandbox, source, limits)
        return run(evaluator.check(Trajectory(program)))

    return checked


def test_each_test_has_its_own_result(check: Check) -> None:
    feedback = check("def add(a, b):\n    return a - b")
    assert feedback.verdict == "fail"
    assert [c.status for c in feedback.checks] == ["fail", "pass", "fail"]
    assert feedback.score == pytest.approx(1 / 3)
    assert (feedback.checks[0].expected, feedback.checks[0].observed) == ("3", "-1")
    assert "add(1, 2)" in feedback.text
    assert "expected 3, got -1" in feedback.text


def test_an_odd_escape_in_the_tests_is_no_trouble(check: Check) -> None:
    assert check("def add(a, b):\n    return a + b", "assert add('\\d', '') == '\\d'").verdict == "pass"


def test_all_tests_passed_is_a_pass_of_the_named_source(check: Check) -> None:
    feedback = check("def add(a, b):\n    return a + b", source="oracle")
    assert (feedback.verdict, feedback.score, feedback.source) == ("pass", 1.0, "oracle")
    assert {c.source for c in feedback.checks} == {"oracle"}


def test_an_exception_and_a_time_out_are_told_to_the_model(check: Check) -> None:
    feedback = check("def add(a, b):\n    raise ValueError(f'no {a}')")
    assert "ValueError: no 1" in feedback.text
    endless = check("def add(a, b):\n    while True: pass", "assert add(1, 2) == 3", seconds=0.5)
    assert endless.verdict == "fail"
    assert endless.checks[0].error


@pytest.mark.parametrize(
    "tests", ["", "# nothing", "add(1, 2)", "def check(candidate):\n    pass", "assert add(1, 2 ==", "print(add(1, 2))"]
)
@pytest.mark.parametrize("program", ["def add(a, b):\n    return a + b", "import os; os._exit(0)", None])
def test_tests_that_assert_nothing_are_no_evidence_for_anything(check: Check, tests: str, program: str | None) -> None:
    feedback = check(program, tests)
    assert (feedback.verdict, feedback.score, feedback.source) == ("no_evidence", 0.0, "none")


@pytest.mark.parametrize("program", ["", "def add(a, b) return", "import os; os._exit(0)", "def other(): pass"])
def test_a_program_that_can_not_be_tested_fails(check: Check, program: str) -> None:
    feedback = check(program)
    assert (feedback.verdict, feedback.score) == ("fail", 0.0)


def test_a_reply_without_a_program_fails_and_says_what_to_do(check: Check) -> None:
    feedback = check(None)
    assert (feedback.verdict, feedback.score) == ("fail", 0.0)
    assert "no Python program" in feedback.text
    assert feedback.failing


def test_the_same_failure_reads_the_same_twice(check: Check) -> None:
    program = "def add(a, b):\n    raise ValueError(object())"
    assert check(program).text == check(program).text


def test_input_output_pairs_are_each_judged(run: Callable[..., Any], sandbox: Sandbox) -> None:
    cases = (StdioCase("1 2\n", "3\n"), StdioCase("2 2\n", "5\n"))

    def checked(program: str | None, given: tuple[StdioCase, ...] = cases) -> Feedback:
        return run(StdioTests(given, sandbox).check(Trajectory(program)))

    feedback = checked("print(sum(map(int, input().split())))")
    assert [c.status for c in feedback.checks] == ["pass", "fail"]
    assert feedback.score == 0.5
    assert checked(None).verdict == "fail"
    assert checked("print(3)", ()).verdict == "no_evidence"
