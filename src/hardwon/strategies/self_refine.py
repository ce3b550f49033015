"""`self_refine`: criticise the last program, then refine it (Madaan et al. 2023, Algorithm 1), on grounded feedback."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from hardwon.session import Session
from hardwon.strategies.retry import Retry
from hardwon.trial import Trial


@dataclass(frozen=True, slots=True)
class SelfRefine(Retry):
    """Shows the next trial the last program, what its checks said, and every critique so far.

    In the paper the model also decides when to stop; here the checks do (law 2).
    """

    name: ClassVar[str] = "self_refine"

    async def again(self, session: Session, trial: Trial) -> Trial:
        await session.reflect(trial, window=None, form="critique")
        return await session.attempt(session.recall(None), trial, self.retry_temperature)
