"""`immediate_refinement`: rewrites on the feedback, without a lesson (ablation of Shinn et al. 2023, Table 3)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from hardwon.session import Session
from hardwon.strategies.retry import Retry
from hardwon.trial import Trial


@dataclass(frozen=True, slots=True)
class ImmediateRefinement(Retry):
    """Shows the next trial the last program and what its checks said."""

    name: ClassVar[str] = "immediate_refinement"

    async def again(self, session: Session, trial: Trial) -> Trial:
        return await session.attempt((), trial, self.retry_temperature)
