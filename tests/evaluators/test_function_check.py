"""Your own function as evaluator: what it may return, and that its faults are never a verdict."""

from __future__ import annotations

import asyncio
import threading

import pytest

from hardwon.errors import InfrastructureError
from hardwon.evaluators import FunctionCheck, judge
from hardwon.trial import Check, Trajectory


def _run(fn: object, output: str | None = "42"):  # type: ignore[no-untyped-def]
    return asyncio.run(FunctionCheck(fn).check(Trajectory(output)))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("outcome", "verdict", "score"),
    [
        (True, "pass", 1.0),
        (False, "fail", 0.0),
        (1.0, "pass", 1.0),
        (0.25, "fail", 0.25),
        ((False, "too short"), "fail", 0.0),
        ((0.5, "half right"), "fail", 0.5),
    ],
)
def test_bools_scores_and_texts_become_feedback(outcome: object, verdict: str, score: float) -> None:
    feedback = _run(lambda answer: outcome)
    assert (feedback.verdict, feedback.score, feedback.source) == (verdict, score, "grounded")
    if isinstance(outcome, tuple):
        assert feedback.text == outcome[1]
    assert len(feedback.checks) == 1


def test_an_async_function_and_a_whole_feedback_are_taken_too() -> None:
    given = judge([Check("a", "pass")], "grounded")

    async def grade(answer: str) -> object:
        return given if answer == "42" else False

    assert _run(grade) is given
    assert _run(grade, "41").verdict == "fail"


def test_a_plain_function_runs_off_the_event_loop() -> None:
    threads = []
    _run(lambda answer: threads.append(threading.get_ident()) or True)
    assert threads != [threading.get_ident()]


def broken_grader(answer: str) -> bool:
    return bool(1 / 0)


def test_a_function_that_raises_is_an_error_that_names_it_and_never_a_failure() -> None:
    with pytest.raises(InfrastructureError, match="broken_grader raised ZeroDivisionError"):
        _run(broken_grader)


@pytest.mark.parametrize("outcome", [None, "fine", 1.5, -0.1, float("nan"), (True,), (True, 3), [True]])
def test_anything_else_that_is_returned_is_an_error(outcome: object) -> None:
    with pytest.raises(InfrastructureError, match="returned"):
        _run(lambda answer: outcome)


def test_a_reply_without_an_answer_fails_without_asking_the_function() -> None:
    assert _run(broken_grader, None).verdict == "fail"
