"""`placebo`: the control of `reflexion`, with a lesson of another task or none: did the text of the lesson matter?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from hardwon.session import Session
from hardwon.strategies.retry import RetryWithLessons
from hardwon.trial import Trial, best


@dataclass(frozen=True, slots=True)
class Placebo(RetryWithLessons):
    """The Reflexion loop, which writes and pays for its lessons, and does not get to see them.

    `lesson` is what the next trial sees in their place: `other`, a lesson of another task at the same length, or
    `none`. Everything else as in `reflexion`.
    """

    name: ClassVar[str] = "placebo"

    show: Literal["lesson", "last", "best"] = "lesson"
    lesson: Literal["other", "none"] = "other"

    async def again(self, session: Session, trial: Trial) -> Trial:
        await session.reflect(trial, window=self.memory, form="placebo" if self.lesson == "other" else "lesson")
        lessons = session.recall(self.memory) if self.lesson == "other" else ()
        shown = {"lesson": None, "last": trial, "best": best(session.trials)}[self.show]
        return await session.attempt(lessons, shown, self.retry_temperature)
