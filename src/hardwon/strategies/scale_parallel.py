"""`scale_parallel`: several rollouts under the same advice, and the best of them (parallel MaTTS, Ouyang et al. 2025).

Section 3.3 of the paper: what sets successes and failures of one task apart teaches more than a single rollout. A run
that learns contrasts all of them, with their labels, when it draws the task's items.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from hardwon.session import Session
from hardwon.strategies.ranges import counts, temperatures
from hardwon.task import Problem
from hardwon.trial import Submission


@dataclass(frozen=True, slots=True)
class ScaleParallel:
    """Draws all of `trials` rollouts (the paper's k), whatever came of the first: they are there to be contrasted.

    None of them is reflected on, and none sees another. `temperature` is that of every rollout after the first.
    Without evidence there is nothing to choose by, and one rollout is all.
    """

    name: ClassVar[str] = "scale_parallel"
    needs_feedback: ClassVar[bool] = True

    trials: int = 5
    temperature: float = 0.7

    def __post_init__(self) -> None:
        counts(trials=self.trials)
        temperatures(temperature=self.temperature)

    async def solve(self, problem: Problem, session: Session) -> Submission:
        trial = await session.attempt()
        if trial.feedback.verdict == "no_evidence":
            return session.submit("gate")
        while len(session.trials) < self.trials:
            await session.attempt(temperature=self.temperature)
        solved = any(trial.feedback.verdict == "pass" for trial in session.trials)
        return session.submit("solved" if solved else "trials")
