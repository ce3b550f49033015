"""`uniform_cost`: the cheapest path first, over what the checks say (the search in the code of Shinn et al. 2023)."""

from __future__ import annotations

from dataclasses import dataclass
from heapq import heappop, heappush
from typing import ClassVar

from hardwon.session import Session
from hardwon.strategies.ranges import counts, temperatures
from hardwon.strategies.stops import STOP
from hardwon.task import Problem
from hardwon.trial import Submission, Trial


@dataclass(frozen=True, slots=True)
class UniformCost:
    """Expands the failed trial that took the fewest expansions to reach; among equals, that with fewer failing checks.

    To expand is to reflect on the trial once and to draw `branch` samples, at `temperature`, that see this lesson and
    the program with its feedback. Trials on which every check says the same are one state, which is expanded once.
    Ends at a pass, at `trials`, or when no state is left. `memory` is Ω, the lessons that the reflector is shown
    (None: all).
    """

    name: ClassVar[str] = "uniform_cost"
    needs_feedback: ClassVar[bool] = True

    trials: int = 8
    branch: int = 2
    memory: int | None = 3
    temperature: float = 0.8

    def __post_init__(self) -> None:
        counts(trials=self.trials, branch=self.branch, memory=self.memory)
        temperatures(temperature=self.temperature)

    async def solve(self, problem: Problem, session: Session) -> Submission:
        trial = await session.attempt()
        visited = {_state(trial)}
        queue = [(0, len(trial.feedback.failing), trial.number)]
        while trial.feedback.verdict == "fail" and trial.number < self.trials:
            if not queue:
                return session.submit("plateau")
            cost, _, number = heappop(queue)
            parent = session.trials[number - 1]
            lesson = await session.reflect(parent, window=self.memory)
            for _ in range(min(self.branch, self.trials - len(session.trials))):
                trial = await session.attempt([lesson], parent, self.temperature)
                if trial.feedback.verdict != "fail":
                    break
                if _state(trial) not in visited:
                    visited.add(_state(trial))
                    heappush(queue, (cost + 1, len(trial.feedback.failing), trial.number))
        return session.submit(STOP[trial.feedback.verdict])


def _state(trial: Trial) -> object:
    """What every check said; the score tells apart what a single, graded check says."""
    return trial.feedback.score, tuple(check.status for check in trial.feedback.checks)
