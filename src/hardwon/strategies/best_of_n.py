"""`best_of_n`: independent samples, chosen by visible evidence (Chen et al. 2021, filtering by the shown tests)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from hardwon.session import Session
from hardwon.strategies.ranges import counts, temperatures
from hardwon.strategies.stops import STOP
from hardwon.task import Problem
from hardwon.trial import Submission


@dataclass(frozen=True, slots=True)
class BestOfN:
    """Draws up to `trials` samples and stops at the first visible pass: more could not score higher.

    `temperature` is that of every sample after the first.
    """

    name: ClassVar[str] = "best_of_n"
    needs_feedback: ClassVar[bool] = True

    trials: int = 5
    temperature: float = 0.8

    def __post_init__(self) -> None:
        counts(trials=self.trials)
        temperatures(temperature=self.temperature)

    async def solve(self, problem: Problem, session: Session) -> Submission:
        trial = await session.attempt()
        while trial.feedback.verdict == "fail" and trial.number < self.trials:
            trial = await session.attempt(temperature=self.temperature)
        return session.submit(STOP[trial.feedback.verdict])
