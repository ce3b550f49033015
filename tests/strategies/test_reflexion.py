"""The loop: laws 2, 4 and 5, the caps, the plateau, and lessons that really arrive."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.strategies.watched import LESSONS, program, run

from hardwon.budget import Budget
from hardwon.memory.episodic import window
from hardwon.strategies.plateau import plateau
from hardwon.strategies.reflexion import Reflexion
from hardwon.strategies.single import Single
from hardwon.trial import Check, Feedback, Lesson, Step, Submission, Trajectory, Trial, best


def test_a_failure_is_reflected_on_and_the_next_trial_passes() -> None:
    submission, session, model = run(Reflexion(), [program(1), program(5)], 5)
    assert submission.stop == "solved"
    assert submission.trial == session.trials[1]
    assert [lesson.text for lesson in session.lessons] == [LESSONS[0]]
    assert [r.role for r in model.requests] == ["act", "reflect", "act"]


def test_success_ends_the_loop_at_once_and_is_not_reflected_on() -> None:
    submission, _, model = run(Reflexion(trials=5), [program(5), program(6)], 5)
    assert submission.stop == "solved"
    assert [r.role for r in model.requests] == ["act"]


@pytest.mark.parametrize(("omega", "arrive"), [(1, 1), (2, 2), (None, 3)])
def test_the_last_omega_lessons_reach_the_next_prompt_and_no_others(omega: int | None, arrive: int) -> None:
    programs = [program(n) for n in (1, 2, 3, 4)]
    _, _, model = run(Reflexion(trials=4, memory=omega), programs, 9)
    last = model.prompts("act")[3]
    assert [lesson in last for lesson in LESSONS[:3]] == [n >= 3 - arrive for n in range(3)]
    assert LESSONS[0] not in model.prompts("act")[0]


def test_the_loop_stops_at_its_trial_cap_without_a_last_lesson() -> None:
    submission, session, model = run(Reflexion(trials=3), [program(1), program(2), program(3), program(9)], 9)
    assert submission.stop == "trials"
    assert len(session.trials) == 3
    assert len(model.prompts("reflect")) == 2


def test_the_best_trial_is_handed_in_not_the_last() -> None:
    submission, session, _ = run(Reflexion(trials=3), [program(1), program(8), program(2)], 9)
    assert submission.trial == session.trials[1]


def test_the_same_program_again_is_a_plateau_even_with_new_comments() -> None:
    again = "```python\ndef f():  # now better\n    return 1\n```"
    submission, session, _ = run(Reflexion(trials=5), [program(1), again, program(9)], 9)
    assert submission.stop == "plateau"
    assert len(session.trials) == 2


def test_patience_lets_a_plateau_last_longer() -> None:
    submission, session, _ = run(Reflexion(trials=5, patience=2), [program(1), program(1), program(9)], 9)
    assert submission.stop == "solved"
    assert len(session.trials) == 3


def episode(number: int, *actions: str, output: str | None = None) -> Trial:
    steps = tuple(Step("", action, "Nothing happens.") for action in actions)
    lost = Feedback("fail", 0.0, "not reached", (Check("goal", "fail", error="the goal was not reached"),))
    return Trial(number, Trajectory(output, "the last reply", steps, won=False), lost)


def test_an_episode_repeats_another_if_the_same_was_done_in_it() -> None:
    first, other = episode(1, "go north", "look"), episode(2, "go south", "look")
    assert not plateau([first, other])
    assert plateau([first, other, episode(3, "Go North", "look")])
    assert plateau([episode(1, "a", output="Paris"), episode(2, "b", output="Paris")])


def test_without_evidence_the_first_trial_is_handed_in_through_the_gate() -> None:
    submission, session, model = run(Reflexion(), [program(1), program(9)], None)
    assert submission.stop == "gate"
    assert submission.trial is not None
    assert len(session.trials) == 1
    assert [r.role for r in model.requests] == ["act"]


def test_a_budget_that_ends_midway_hands_in_the_best_so_far() -> None:
    submission, session, _ = run(Reflexion(trials=9), [program(7), program(1), program(2)], 9, Budget(calls=4))
    assert submission.stop == "budget"
    assert submission.trial == session.trials[0]
    assert session.ledger.calls == 4


def test_a_budget_too_small_for_one_call_hands_in_nothing() -> None:
    submission, _, model = run(Single(), [program(1)], 9, Budget(tokens=1))
    assert submission == Submission(None, "budget")
    assert model.requests == []


def test_a_reply_without_a_program_is_a_failed_trial_that_says_so() -> None:
    submission, session, _ = run(Reflexion(), ["I would rather not.", program(9)], 9)
    assert submission.stop == "solved"
    assert session.trials[0].feedback.verdict == "fail"
    assert session.trials[0].feedback.text


@pytest.mark.parametrize(("show", "shown"), [("lesson", None), ("last", "return 2"), ("best", "return 8")])
def test_what_the_next_trial_is_shown_is_a_setting(show: str, shown: str | None) -> None:
    _, _, model = run(Reflexion(trials=3, show=show), [program(8), program(2), program(3)], 9)  # type: ignore[arg-type]
    third = model.prompts("act")[2]
    assert [f"return {n}" in third for n in (8, 2)] == [f"return {n}" == shown for n in (8, 2)]


def test_retries_use_their_own_temperature() -> None:
    _, _, model = run(Reflexion(trials=3, retry_temperature=0.4), [program(n) for n in (1, 2, 3)], 9)
    assert [r.temperature for r in model.requests if r.role == "act"] == [0.0, 0.4, 0.4]


@given(st.lists(st.integers(0, 9), min_size=1, max_size=6), st.integers(1, 6), st.integers(1, 6))
def test_more_trials_never_make_the_visible_score_worse(numbers: list[int], few: int, more: int) -> None:
    programs = [program(n) for n in numbers]
    small, large = sorted((few, more))
    scores = []
    for cap in (small, large):
        submission, _, _ = run(Reflexion(trials=cap), programs, 9)
        assert submission.trial is not None
        scores.append(submission.trial.feedback.score)
    assert scores[0] <= scores[1]


@given(st.lists(st.floats(0, 1), max_size=8))
def test_best_is_the_highest_score_and_the_earliest_of_equals(scores: list[float]) -> None:
    trials = [Trial(i + 1, Trajectory("x"), Feedback("fail", s, "")) for i, s in enumerate(scores)]
    chosen = best(trials)
    assert (chosen is None) == (not scores)
    if chosen is not None:
        assert chosen.number == scores.index(max(scores)) + 1


@given(st.lists(st.text(max_size=5)), st.one_of(st.none(), st.integers(1, 5)))
def test_the_window_is_a_suffix_of_bounded_length(texts: list[str], size: int | None) -> None:
    lessons = [Lesson(text) for text in texts]
    kept = window(lessons, size)
    assert list(kept) == lessons[len(lessons) - len(kept) :]
    assert len(kept) == (len(lessons) if size is None else min(size, len(lessons)))
