"""`ab_mcts`: wider and deeper by visible scores, the same tree every time, and no trace in numpy's global generator."""

import asyncio
import sys

import numpy as np
import pytest
from tests.strategies.watched import PROBLEM, Watched, open_session, programs, run

from hardwon.budget import Budget
from hardwon.errors import UsageError
from hardwon.runs.runner import solve
from hardwon.strategies.ab_mcts import ABMCTS
from hardwon.strategies.registry import make_strategy
from hardwon.task import Problem

ACTS = programs(5, 6, 7, 4, 6, 7, 8, 3, 6, 5, 7, 8)


def test_a_step_starts_afresh_or_refines_an_earlier_trial() -> None:
    submission, session, model = run(ABMCTS(trials=12), ACTS, 9)
    shown = ["return" in prompt for prompt in model.prompts("act")]
    assert not shown[0]
    assert set(shown[1:]) == {True, False}
    assert [r.temperature for r in model.requests] == [0.0] + [0.8] * 11
    assert submission.stop == "trials"
    assert submission.trial == session.trials[6]


def test_a_visible_pass_stops_the_search() -> None:
    submission, session, _ = run(ABMCTS(), programs(1, 2, 9, 8), 9)
    assert submission.stop == "solved"
    assert len(session.trials) == 3


def test_without_evidence_the_first_trial_is_handed_in_through_the_gate() -> None:
    submission, _, model = run(ABMCTS(), programs(1, 9), None)
    assert submission.stop == "gate"
    assert model.roles == ["act"]


def test_a_budget_that_ends_midway_hands_in_the_best() -> None:
    submission, session, _ = run(ABMCTS(), programs(2, 7, 1, 3), 9, Budget(calls=4))
    assert submission.stop == "budget"
    assert submission.trial == session.trials[1]


def test_sessions_side_by_side_grow_the_trees_they_grow_alone() -> None:
    problems = [PROBLEM, Problem("u", "Write f.", "function", "f")]

    def models() -> list[Watched]:
        return [Watched({"act": ACTS}) for _ in problems]

    async def grow(model: Watched, problem: Problem) -> None:
        await solve(ABMCTS(trials=12), open_session(model, 9, problem=problem))

    async def together(side_by_side: list[Watched]) -> None:
        await asyncio.gather(*map(grow, side_by_side, problems))

    alone, side_by_side = models(), models()
    for model, problem in zip(alone, problems, strict=True):
        asyncio.run(grow(model, problem))
    asyncio.run(together(side_by_side))
    assert [m.requests for m in side_by_side] == [m.requests for m in alone]
    assert alone[0].prompts("act") != alone[1].prompts("act"), "each task has its own chance"


def test_the_global_generator_of_numpy_is_left_as_it_was() -> None:
    np.random.seed(7)
    before = np.random.get_state()
    run(ABMCTS(trials=6), ACTS, 9)
    after = np.random.get_state()
    assert all(np.array_equal(a, b) for a, b in zip(before, after, strict=True))


def test_a_missing_package_is_said_when_the_strategy_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "treequest", None)
    with pytest.raises(UsageError, match=r"pip install 'hardwon\[lab\]'"):
        make_strategy("ab_mcts")
