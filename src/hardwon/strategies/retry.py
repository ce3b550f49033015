"""The loop that `reflexion` has in common with its ablations: they differ in what the next trial is made from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from hardwon.session import Session
from hardwon.strategies.plateau import plateau
from hardwon.strategies.ranges import counts, temperatures
from hardwon.strategies.stops import STOP
from hardwon.task import Problem
from hardwon.trial import Submission, Trial


@dataclass(frozen=True, slots=True)
class Retry:
    """Attempts; while the last trial failed, tries `again` from it: at most `trials` in all, or until a plateau.

    The loop stops when `patience` trials in a row brought nothing new; `retry_temperature` is that of every trial after
    the first.
    """

    needs_feedback: ClassVar[bool] = True

    trials: int = 3
    patience: int = 1
    retry_temperature: float = 0.7

    def __post_init__(self) -> None:
        counts(trials=self.trials, patience=self.patience)
        temperatures(retry_temperature=self.retry_temperature)

    async def again(self, session: Session, trial: Trial) -> Trial:
        """The next trial, made from one that failed. Raises BudgetExhausted, ModelError."""
        raise NotImplementedError

    async def solve(self, problem: Problem, session: Session) -> Submission:
        trial = await session.attempt()
        while trial.feedback.verdict == "fail" and trial.number < self.trials:
            if plateau(session.trials, self.patience):
                return session.submit("plateau")
            trial = await self.again(session, trial)
        return session.submit(STOP[trial.feedback.verdict])


@dataclass(frozen=True, slots=True)
class RetryWithLessons(Retry):
    """A retry whose next trial is told the last `memory` lessons (Ω; None: all)."""

    memory: int | None = 3

    def __post_init__(self) -> None:
        Retry.__post_init__(self)
        counts(memory=self.memory)
