"""The strategies that draw independent samples: `best_of_n` and `self_consistency`."""

import asyncio
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.strategies.watched import PROSE, Constants, Watched, open_session, program, programs, run

from hardwon.budget import Budget
from hardwon.evaluators.behaviour import CallBehaviour
from hardwon.runs.runner import solve
from hardwon.sandbox.choose import open_sandbox
from hardwon.sandbox.protocol import Sandbox
from hardwon.strategies.best_of_n import BestOfN
from hardwon.strategies.self_consistency import SelfConsistency
from hardwon.task import Problem


def test_samples_are_independent_and_the_best_on_visible_evidence_is_handed_in() -> None:
    submission, session, model = run(BestOfN(trials=4), programs(1, 7, 3, 2), 9)
    assert submission.stop == "trials"
    assert submission.trial == session.trials[1]
    assert model.roles == ["act"] * 4
    assert len(set(model.prompts("act"))) == 1
    assert [r.temperature for r in model.requests] == [0.0, 0.8, 0.8, 0.8]


def test_sampling_stops_at_the_first_visible_pass() -> None:
    submission, session, _ = run(BestOfN(), programs(1, 9, 9), 9)
    assert submission.stop == "solved"
    assert submission.trial == session.trials[1]
    assert len(session.trials) == 2


def test_samples_that_nothing_can_choose_among_are_not_drawn() -> None:
    submission, session, _ = run(BestOfN(), programs(1, 9), None)
    assert submission.stop == "gate"
    assert submission.trial == session.trials[0]
    assert len(session.trials) == 1


def test_the_majority_is_handed_in_where_no_evaluator_exists() -> None:
    submission, session, _ = run(SelfConsistency(), programs(4, 2, 3, 2, 3), None, behaviour=Constants())
    assert submission.stop == "trials"
    assert submission.trial == session.trials[1]


def test_programs_agree_by_what_they_do_and_not_by_how_they_are_written() -> None:
    acts = programs(4, "+2", 4, "2", " 2")
    submission, session, _ = run(SelfConsistency(), acts, None, behaviour=Constants())
    assert submission.trial == session.trials[1]
    unseen, session, _ = run(SelfConsistency(), acts, None)
    assert unseen.trial == session.trials[0], "where nothing can be seen only equal programs agree"


def test_only_the_best_on_visible_evidence_have_a_say() -> None:
    submission, session, _ = run(SelfConsistency(), programs(2, 2, 8, 2, 2), 9, behaviour=Constants())
    assert submission.trial == session.trials[2]


def test_replies_without_a_program_are_no_majority() -> None:
    submission, session, _ = run(SelfConsistency(), [PROSE, PROSE, program(3), PROSE], None, behaviour=Constants())
    assert submission.trial == session.trials[2]


def test_sampling_goes_on_after_a_pass_until_the_majority_is_decided() -> None:
    submission, session, _ = run(SelfConsistency(trials=9), programs(1, 9), 9, behaviour=Constants())
    assert submission.stop == "solved"
    assert submission.trial == session.trials[1]
    assert len(session.trials) == 5, "four of nine agree, and the four left could only draw level"


def test_failures_that_agree_do_not_end_the_sampling() -> None:
    submission, session, _ = run(SelfConsistency(), programs(1, 1, 1, 1, 9), 9, behaviour=Constants())
    assert submission.stop == "solved"
    assert submission.trial == session.trials[4]


def test_a_budget_that_ends_midway_hands_in_the_majority_so_far() -> None:
    acts = programs(1, 2, 2, 3, 3, 3)
    submission, session, _ = run(SelfConsistency(trials=9), acts, None, Budget(calls=4), behaviour=Constants())
    assert submission.stop == "budget"
    assert submission.trial == session.trials[1]


@given(st.lists(st.integers(0, 2), min_size=1, max_size=7))
def test_stopping_early_hands_in_what_all_samples_would_have(numbers: list[int]) -> None:
    submission, _, _ = run(SelfConsistency(trials=len(numbers)), programs(*numbers), None, behaviour=Constants())
    majority = max(dict.fromkeys(numbers), key=numbers.count)
    assert submission.trial is not None
    assert submission.trial.number == numbers.index(majority) + 1


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    opened = open_sandbox(1, "process")
    yield opened
    asyncio.run(opened.close())


@pytest.mark.filterwarnings("ignore")
def test_agreement_is_seen_by_running_the_samples_in_the_sandbox(sandbox: Sandbox) -> None:
    problem = Problem("t", "Write double(n).", "function", "double", ("assert double(2) == 4",))
    bodies = ("n * n", "n + n", "2 * n", "n ** 2", "sum([n, n])")
    model = Watched({"act": [f"```python\ndef double(n):\n    return {body}\n```" for body in bodies]})
    session = open_session(model, None, behaviour=CallBehaviour(problem, sandbox), problem=problem)
    submission = asyncio.run(solve(SelfConsistency(), session))
    assert submission.trial == session.trials[1]
