"""The ablations and the control of `reflexion`, and `self_refine`: what each one's next trial is made from."""

import pytest
from tests.strategies.watched import LESSONS, programs, run

from hardwon.budget import Budget
from hardwon.strategies.immediate_refinement import ImmediateRefinement
from hardwon.strategies.immediate_reflection import ImmediateReflection
from hardwon.strategies.last_attempt import LastAttempt
from hardwon.strategies.last_attempt_and_reflection import LastAttemptAndReflection
from hardwon.strategies.placebo import Placebo
from hardwon.strategies.protocol import Strategy
from hardwon.strategies.reflexion import Reflexion
from hardwon.strategies.self_refine import SelfRefine

RETRYING = [
    ImmediateReflection(),
    ImmediateRefinement(),
    LastAttempt(),
    LastAttemptAndReflection(),
    SelfRefine(),
    Placebo(),
    Placebo(lesson="none"),
]
FAILED = "returned 1"
"""What the check says of the first program."""


@pytest.mark.parametrize(
    ("strategy", "program_seen", "feedback_seen", "lesson_seen"),
    [
        (ImmediateReflection(), True, False, True),
        (ImmediateRefinement(), True, True, False),
        (LastAttempt(), True, False, False),
        (LastAttemptAndReflection(), True, False, True),
        (SelfRefine(), True, True, True),
        (Placebo(), False, False, False),
        (Placebo(show="last"), True, True, False),
        (Placebo(lesson="none"), False, False, False),
    ],
    ids=repr,
)
def test_what_the_second_trial_sees(
    strategy: Strategy, program_seen: bool, feedback_seen: bool, lesson_seen: bool
) -> None:
    _, _, model = run(strategy, programs(1, 9), 9)
    second = model.prompts("act")[1]
    assert ("return 1" in second, FAILED in second, LESSONS[0] in second) == (program_seen, feedback_seen, lesson_seen)


@pytest.mark.parametrize("strategy", RETRYING, ids=repr)
def test_a_pass_ends_the_loop_and_a_retry_has_its_own_temperature(strategy: Strategy) -> None:
    submission, session, model = run(strategy, programs(1, 9), 9)
    assert submission.stop == "solved"
    assert submission.trial == session.trials[1]
    assert [r.temperature for r in model.requests if r.role == "act"] == [0.0, 0.7]


@pytest.mark.parametrize("strategy", RETRYING, ids=repr)
def test_the_same_program_again_is_a_plateau(strategy: Strategy) -> None:
    submission, session, _ = run(strategy, programs(1, 1, 9), 9)
    assert submission.stop == "plateau"
    assert len(session.trials) == 2


@pytest.mark.parametrize("strategy", RETRYING, ids=repr)
def test_a_budget_that_ends_midway_hands_in_the_best(strategy: Strategy) -> None:
    submission, session, _ = run(strategy, programs(7, 1, 2), 9, Budget(calls=2))
    assert submission.stop == "budget"
    assert submission.trial == session.trials[0]


@pytest.mark.parametrize("strategy", RETRYING, ids=repr)
def test_without_evidence_there_is_no_loop(strategy: Strategy) -> None:
    submission, _, model = run(strategy, programs(1, 9), None)
    assert submission.stop == "gate"
    assert model.roles == ["act"]


def test_a_blind_reflection_is_not_told_what_the_checks_said() -> None:
    _, _, model = run(ImmediateReflection(), programs(1, 9), 9)
    assert "return 1" in model.prompts("reflect")[0]
    assert FAILED not in model.prompts("reflect")[0]


def test_every_critique_so_far_is_shown_to_the_refiner() -> None:
    _, _, model = run(SelfRefine(trials=6), programs(1, 2, 3, 4, 5, 6), 9)
    assert [lesson in model.prompts("act")[4] for lesson in LESSONS] == [True] * 4
    assert LESSONS[0] in model.prompts("reflect")[2]


@pytest.mark.parametrize("lesson", ["other", "none"])
def test_the_control_makes_the_calls_of_reflexion_up_to_where_the_lesson_is_shown(lesson: str) -> None:
    _, earned, reflexion = run(Reflexion(), programs(1, 2, 3), 9)
    _, given, control = run(Placebo(lesson=lesson), programs(1, 2, 3), 9)  # type: ignore[arg-type]
    assert control.requests[:2] == reflexion.requests[:2]
    assert control.roles == reflexion.roles
    assert control.requests[2] != reflexion.requests[2]
    assert given.ledger.calls_by_role == earned.ledger.calls_by_role


def test_a_lesson_of_another_task_is_as_long_as_the_one_it_stands_for() -> None:
    _, session, model = run(Placebo(), programs(1, 2), 9)
    lesson = session.lessons[0]
    assert lesson.origin == "placebo"
    assert lesson.text in model.prompts("act")[1]
    assert abs(len(lesson.text) - len(LESSONS[0])) <= 12
