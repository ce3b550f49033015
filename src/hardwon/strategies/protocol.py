"""The `Strategy` protocol."""

from __future__ import annotations

from typing import ClassVar, Protocol

from hardwon.session import Session
from hardwon.task import Problem
from hardwon.trial import Submission


class Strategy(Protocol):
    """A rule that spends a budget on one problem; its settings are the fields of a frozen dataclass.

    `needs_feedback` makes the runner refuse a run without an evaluator (law 2). When the budget ends inside `solve`
    the session raises BudgetExhausted; the runner then hands in the best trial so far, so a strategy need not catch it.
    """

    name: ClassVar[str]
    needs_feedback: ClassVar[bool]

    async def solve(self, problem: Problem, session: Session) -> Submission: ...


def learns(strategy: Strategy) -> bool:
    """Whether the strategy uses the `experience` of earlier tasks (its class says `learns = True`)."""
    return bool(getattr(strategy, "learns", False))
