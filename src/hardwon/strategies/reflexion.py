"""`reflexion`: act, be checked, reflect on a confirmed failure, try again (Shinn et al. 2023, Algorithm 1)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from hardwon.session import Form, Session
from hardwon.strategies.plateau import plateau
from hardwon.strategies.ranges import counts, temperatures
from hardwon.strategies.stops import STOP
from hardwon.task import Problem
from hardwon.trial import Submission, best


@dataclass(frozen=True, slots=True)
class Reflexion:
    """The Reflexion loop.

    `trials` caps the attempts; `memory` is Ω, the lessons that reach the next prompt (None: all); the loop stops when
    `patience` trials in a row brought nothing new; `show` is what the next trial sees beside its lessons: nothing, the
    last program, or the best so far, with its feedback; `retry_temperature` is that of every trial after the first.
    With `lesson=evidence` a lesson is made of the failing checks themselves, without a model call.
    """

    name: ClassVar[str] = "reflexion"
    needs_feedback: ClassVar[bool] = True

    trials: int = 3
    memory: int | None = 3
    patience: int = 1
    show: Literal["lesson", "last", "best"] = "lesson"
    retry_temperature: float = 0.7
    lesson: Literal["model", "evidence"] = "model"

    def __post_init__(self) -> None:
        counts(trials=self.trials, memory=self.memory, patience=self.patience)
        temperatures(retry_temperature=self.retry_temperature)

    async def solve(self, problem: Problem, session: Session) -> Submission:
        form: Form = "lesson" if self.lesson == "model" else "evidence"
        trial = await session.attempt()
        while trial.feedback.verdict == "fail" and trial.number < self.trials:
            if plateau(session.trials, self.patience):
                return session.submit("plateau")
            await session.reflect(trial, window=self.memory, form=form)
            shown = {"lesson": None, "last": trial, "best": best(session.trials)}[self.show]
            trial = await session.attempt(session.recall(self.memory), shown, self.retry_temperature)
        return session.submit(STOP[trial.feedback.verdict])
