"""The world's word decides: won passes, and nothing else does."""

from __future__ import annotations

import asyncio

from hypothesis import given
from hypothesis import strategies as st

from hardwon.evaluators.reward import EnvironmentReward
from hardwon.trial import Feedback, Step, Trajectory

STEPS = (Step("I look.", "look", "A room."), Step("", "", "Your reply held no action."), Step("", "go", "A wall."))


def check(trajectory: Trajectory, evaluator: EnvironmentReward = EnvironmentReward()) -> Feedback:  # noqa: B008
    return asyncio.run(evaluator.check(trajectory))


def test_won_passes_with_the_full_score() -> None:
    feedback = check(Trajectory(None, "", STEPS, True, 0.5))
    assert (feedback.verdict, feedback.score, feedback.source) == ("pass", 1.0, "grounded")
    assert feedback.text == "The goal was reached after 2 actions."


@given(st.floats(allow_nan=False))
def test_full_marks_are_not_won(reward: float) -> None:
    feedback = check(Trajectory(None, "", STEPS, False, reward))
    assert feedback.verdict == "fail"
    assert 0.0 <= feedback.score < 1.0


def test_a_failure_says_how_far_it_came_and_what_the_world_said_last() -> None:
    feedback = check(Trajectory(None, "", STEPS, False, 0.5))
    assert feedback.score == 0.5
    assert "after 2 actions" in feedback.text
    assert "50%" in feedback.text
    assert feedback.text.endswith("A wall.")
    assert [c.name for c in feedback.failing] == ["goal"]


def test_a_trajectory_of_no_world_shows_nothing() -> None:
    feedback = check(Trajectory("print(1)", "print(1)", reward=1.0))
    assert feedback.verdict == "no_evidence"
    assert not feedback.grounded


def test_an_oracles_word_is_labelled() -> None:
    for won in (True, False):
        feedback = check(Trajectory(None, "", STEPS, won), EnvironmentReward("oracle"))
        assert feedback.source == "oracle"
        assert {c.source for c in feedback.checks} == {"oracle"}
