"""`immediate_reflection`: reflects without having seen the checks (ablation of Shinn et al. 2023, Table 3)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from hardwon.session import Session
from hardwon.strategies.retry import RetryWithLessons
from hardwon.trial import Trial


@dataclass(frozen=True, slots=True)
class ImmediateReflection(RetryWithLessons):
    """Reflexion whose reflections do not know what the checks said; the checks only say when to stop.

    The next trial sees the lessons and the last program, without its feedback.
    """

    name: ClassVar[str] = "immediate_reflection"

    async def again(self, session: Session, trial: Trial) -> Trial:
        await session.reflect(trial, window=self.memory, form="blind")
        return await session.attempt(session.recall(self.memory), trial, self.retry_temperature, feedback=False)
