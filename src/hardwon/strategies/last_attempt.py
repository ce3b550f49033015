"""`last_attempt`: tries again with the last program in sight (ablation of Shinn et al. 2023, section 4.2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from hardwon.session import Session
from hardwon.strategies.retry import Retry
from hardwon.trial import Trial


@dataclass(frozen=True, slots=True)
class LastAttempt(Retry):
    """Shows the next trial the last program and that it failed, but neither what its checks said nor a lesson."""

    name: ClassVar[str] = "last_attempt"

    async def again(self, session: Session, trial: Trial) -> Trial:
        return await session.attempt((), trial, self.retry_temperature, feedback=False)
