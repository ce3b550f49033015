"""`scale_sequential`: rounds of looking again at one's own work (sequential MaTTS, Ouyang et al. 2025, section 3.3)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from hardwon.session import Session
from hardwon.strategies.retry import Retry
from hardwon.trial import Trial


@dataclass(frozen=True, slots=True)
class ScaleSequential(Retry):
    """The model examines its last trial again, notes what it finds and writes a new one; `trials` is k.

    As in the paper it is not told what the checks said; they only end the rounds when a trial passes. The notes reach
    the next round, and the items that a run draws from the task.
    """

    name: ClassVar[str] = "scale_sequential"

    trials: int = 5
    patience: int = 4

    async def again(self, session: Session, trial: Trial) -> Trial:
        await session.reflect(trial, window=None, form="blind")
        return await session.attempt(session.recall(None), trial, self.retry_temperature, feedback=False)
