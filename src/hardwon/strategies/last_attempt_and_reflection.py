"""`last_attempt_and_reflection`: the last program and the lessons (ablation of Shinn et al. 2023, section 4.2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from hardwon.session import Session
from hardwon.strategies.retry import RetryWithLessons
from hardwon.trial import Trial


@dataclass(frozen=True, slots=True)
class LastAttemptAndReflection(RetryWithLessons):
    """Shows the next trial the lessons and the last program, without what its checks said."""

    name: ClassVar[str] = "last_attempt_and_reflection"

    async def again(self, session: Session, trial: Trial) -> Trial:
        await session.reflect(trial, window=self.memory)
        return await session.attempt(session.recall(self.memory), trial, self.retry_temperature, feedback=False)
