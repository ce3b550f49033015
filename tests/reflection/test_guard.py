"""The guard refuses lessons that teach nothing."""

import asyncio

import pytest

from hardwon.models.protocol import Completion, Message, Usage
from hardwon.reflection import reflect
from hardwon.reflection.guard import objection
from hardwon.task import Problem
from hardwon.trial import Check, Feedback, Lesson, Trajectory, Trial

FEEDBACK = Feedback(
    "fail",
    0.5,
    "1 of 2 tests failed:\n- assert top([3, 1, 3]) == 3\n  expected 3, got 1",
    (Check("test 1", "pass"), Check("test 2", "fail", "top([3, 1, 3]) == 3", "3", "1")),
)
GOOD = "The loop overwrote the maximum with a later smaller element; compare before assigning."
OTHER = "Ties were broken by position instead of by value, so sort descending first."
PROBLEM = Problem("t", "Write top(xs).", "function", "top")
TRIAL = Trial(1, Trajectory("def top(xs):\n    return xs[1]"), FEEDBACK)


class Replies:
    """A door to a model that has these replies, and remembers its prompts."""

    def __init__(self, *texts: str) -> None:
        self.texts = list(texts)
        self.prompts: list[str] = []

    async def __call__(
        self, messages: tuple[Message, ...], *, temperature: float | None = None, max_tokens: int | None = None
    ) -> Completion:
        self.prompts.append(messages[-1].content)
        return Completion(self.texts.pop(0), Usage(1, 1), "t")


def test_a_specific_lesson_is_kept() -> None:
    assert objection(GOOD, FEEDBACK, []) is None


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "empty"),
        (" \n", "empty"),
        ("Oops.", "empty"),
        ("The test top([3, 1, 3]) failed: expected 3, got 1.", "restates"),
        (f"{GOOD}\n```python\ndef top(xs):\n    best = 0\n    return best\n```", "program"),
        (f"{GOOD}\n\ndef top(xs):\n    return max(xs)\n", "program"),
        (OTHER, "repeats"),
        (OTHER.upper() + "!", "repeats"),
    ],
)
def test_a_lesson_that_teaches_nothing_is_refused(text: str, said: str) -> None:
    assert said in (objection(text, FEEDBACK, [Lesson(OTHER)]) or "")


def test_a_refused_lesson_is_asked_for_once_more_and_told_why() -> None:
    door = Replies("", GOOD)
    lesson = asyncio.run(reflect(PROBLEM, TRIAL, [], door))
    assert lesson == Lesson(GOOD, ("test 2",), "model", ("is empty",))
    assert "is empty" in door.prompts[1]
    assert "is empty" not in door.prompts[0]


def test_after_two_refusals_the_lesson_is_made_of_the_evidence() -> None:
    lesson = asyncio.run(reflect(PROBLEM, TRIAL, [], Replies("", "Oops.")))
    assert lesson.origin == "evidence"
    assert lesson.rejected == ("is empty", "is empty")
    assert "top([3, 1, 3])" in lesson.text
    assert "not 1" in lesson.text


def test_what_did_not_fail_is_never_reflected_on() -> None:
    for verdict in ("pass", "no_evidence"):
        trial = Trial(1, TRIAL.trajectory, Feedback(verdict, 1.0, ""))
        with pytest.raises(ValueError, match="no confirmed failure"):
            asyncio.run(reflect(PROBLEM, trial, [], Replies(GOOD)))


def test_the_reflector_sees_problem_program_and_failing_checks() -> None:
    door = Replies(GOOD)
    asyncio.run(reflect(PROBLEM, TRIAL, [Lesson(OTHER)], door))
    for part in (PROBLEM.prompt, "return xs[1]", FEEDBACK.text, OTHER):
        assert part in door.prompts[0]
