"""The ladder of evidence: what the task shows first, tests that a model wrote second, and never a pass from neither."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from hardwon.budget import BudgetExhausted
from hardwon.evaluators import GeneratedTests, UnitTests
from hardwon.sandbox.protocol import FunctionTests, Sandbox
from hardwon.task import Problem
from hardwon.trial import Feedback, Trajectory

_PROBLEM = Problem(
    "t/1", 'def double(x: int) -> int:\n    """Twice x.\n\n    >>> double(1)\n    2\n    """\n', "function", "double"
)
_RIGHT, _SQUARE, _WRONG = (Trajectory(f"def double(x):\n    return {body}") for body in ("2 * x", "x * x + 1", "x"))
_REPLY = "assert double(2) == 4\nassert double(3) == 6\nassert double(1) == 2\n"


class Replies:
    """An `ask` that answers from a list by key, and keeps what it was asked."""

    def __init__(self, *replies: str) -> None:
        self.replies = replies
        self.asked: list[str] = []
        self.prompts: dict[str, str] = {}

    async def __call__(
        self,
        role: str,
        prompt: str,
        *,
        key: str,
        temperature: float = 0.0,
        max_tokens: int = 512,
        stop: tuple[str, ...] = (),
    ) -> str:
        self.asked.append(key)
        self.prompts[key] = prompt
        return self.replies[min(int(key.partition(":")[2]), len(self.replies) - 1)]


async def broke(*_: object, **__: object) -> str:
    raise BudgetExhausted("the budget of 10 tokens is spent")


Check = Callable[..., Feedback]


@pytest.fixture
def check(run: Callable[..., Any], sandbox: Sandbox) -> Check:
    def checked(trajectory: Trajectory, ask: object, visible: bool = True, samples: int = 3) -> Feedback:
        shown = UnitTests(FunctionTests("double", "assert double(1) == 2"), sandbox) if visible else None
        evaluator = GeneratedTests(_PROBLEM, sandbox, shown, samples=samples)
        return run(evaluator.check(trajectory, ask))  # type: ignore[arg-type]

    return checked


def test_a_failure_on_visible_evidence_costs_no_model_call_and_scores_below_a_half(check: Check) -> None:
    ask = Replies(_REPLY)
    feedback = check(_WRONG, ask)
    assert (feedback.verdict, feedback.source, ask.asked) == ("fail", "grounded", [])
    assert 0.0 <= feedback.score < 0.5


def test_generated_tests_catch_what_the_examples_let_through(check: Check) -> None:
    caught, passed = check(_SQUARE, Replies(_REPLY)), check(_RIGHT, Replies(_REPLY))
    assert (caught.verdict, caught.source) == ("fail", "generated")
    assert 0.5 <= caught.score < 1.0
    assert "double(2) == 4" in caught.text
    assert "may be wrong" in caught.text
    assert [c.source for c in caught.checks] == ["grounded", "generated", "generated"]
    assert (passed.verdict, passed.score, passed.source) == ("pass", 1.0, "generated")
    assert "2 self-written tests kept, 1 dropped (1 already shown by the prompt)" in passed.text


def test_the_same_keys_are_asked_for_at_every_check(check: Check) -> None:
    ask = Replies(_REPLY)
    first = check(_RIGHT, ask)
    assert sorted(ask.asked) == ["tests:0", "tests:1", "tests:2"]
    assert check(_RIGHT, ask).text == first.text
    assert sorted(ask.asked) == sorted(["tests:0", "tests:1", "tests:2"] * 2)


def test_later_samples_see_the_new_calls_of_the_first_but_not_its_answers(check: Check) -> None:
    ask = Replies("assert double(21) == 42\nassert double(1) == 2", "assert double(21) == 43", "")
    feedback = check(_RIGHT, ask, visible=False)
    for later in (ask.prompts["tests:1"], ask.prompts["tests:2"]):
        assert "assert double(21) == ..." in later
        assert "42" not in later
        assert "assert double(1) == ..." not in later
    assert feedback.verdict == "no_evidence"
    assert "on which the samples disagree" in feedback.text


def test_without_a_model_only_visible_evidence_counts(check: Check) -> None:
    feedback = check(_RIGHT, None)
    assert (feedback.verdict, feedback.source) == ("pass", "grounded")
    nothing = check(_RIGHT, None, visible=False)
    assert (nothing.verdict, nothing.score, nothing.source) == ("no_evidence", 0.0, "none")


@pytest.mark.parametrize("reply", ["", "I can not.", "assert True", "assert double(x) == y", "assert (", "pass"])
def test_no_test_kept_is_no_evidence_or_the_visible_pass_alone(check: Check, reply: str) -> None:
    nothing = check(_RIGHT, Replies(reply), visible=False)
    assert (nothing.verdict, nothing.source) == ("no_evidence", "none")
    assert "0 self-written tests kept" in nothing.text
    visible = check(_RIGHT, Replies(reply))
    assert (visible.verdict, visible.source) == ("pass", "grounded")
    assert "0 self-written tests kept" in visible.text


def test_without_visible_evidence_the_score_is_the_share_of_generated_tests(check: Check) -> None:
    reply = "assert double(2) == 4\nassert double(3) == 6\nassert double(0) == 1\nassert double(4) == 8"
    feedback = check(_RIGHT, Replies(reply), visible=False)
    assert (feedback.verdict, feedback.score, feedback.source) == ("fail", 0.75, "generated")


def test_a_reply_without_a_program_fails_where_there_are_tests_and_shows_nothing_elsewhere(check: Check) -> None:
    empty = Trajectory(None, "Sorry.")
    assert check(empty, Replies(_REPLY), visible=False).verdict == "fail"
    assert check(empty, Replies(""), visible=False).verdict == "no_evidence"
    assert check(empty, Replies(_REPLY)).verdict == "fail"


def test_a_spent_budget_keeps_the_visible_pass_and_is_raised_without_one(check: Check) -> None:
    feedback = check(_RIGHT, broke)
    assert (feedback.verdict, feedback.source) == ("pass", "grounded")
    assert "budget" in feedback.text
    with pytest.raises(BudgetExhausted):
        check(_RIGHT, broke, visible=False)


def test_what_a_model_wrote_is_run_only_as_vetted(check: Check) -> None:
    hostile = "assert double(2) == 4\nassert double(3) == __import__('os').abort()\nimport os; os.abort()"
    feedback = check(_RIGHT, Replies(hostile), visible=False)
    assert feedback.verdict == "pass"
    assert ["double(2)" in str(c.call) for c in feedback.checks] == [True]
