"""`reflexion`: act, be checked, reflect on a confirmed failure, try again (Shinn et al. 2023, Algorithm 1)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from hardwon.session import Session
from hardwon.strategies.plateau import plateau
from hardwon.task import Problem
from hardwon.trial import Stop, Submission, Verdict, best

_STOP: dict[Verdict, Stop] = {"pass": "solved", "fail": "trials", "no_evidence": "gate"}


@dataclass(frozen=True, slots=True)
class Reflexion:
    """The Reflexion loop.

    `trials` caps the attempts; `memory` is Ω, the lessons that reach the next prompt (None: all); the loop stops when
    `patience` trials in a row brought nothing new; `show` is what the next trial sees beside its lessons: nothing, the
    last program, or the best so far, with its feedback; `retry_temperature` is that of every trial after the first.
    """

    name: ClassVar[str] = "reflexion"
    needs_feedback: ClassVar[bool] = True

    trials: int = 3
    memory: int | None = 3
    patience: int = 1
    show: Literal["lesson", "last", "best"] = "lesson"
    retry_temperature: float = 0.7

    def __post_init__(self) -> None:
        if not 0 <= self.retry_temperature <= 2:
            raise ValueError(f"retry_temperature={self.retry_temperature}: want a number from 0 to 2")

    async def solve(self, problem: Problem, session: Session) -> Submission:
        trial = await session.attempt()
        while trial.feedback.verdict == "fail" and trial.number < self.trials:
            if plateau(session.trials, self.patience):
                return session.submit("plateau")
            await session.reflect(trial, window=self.memory)
            shown = {"lesson": None, "last": trial, "best": best(session.trials)}[self.show]
            trial = await session.attempt(session.recall(self.memory), shown, self.retry_temperature)
        return session.submit(_STOP[trial.feedback.verdict])
