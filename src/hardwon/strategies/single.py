"""`single`: one pass, the incumbent of every comparison."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from hardwon.session import Session
from hardwon.task import Problem
from hardwon.trial import Submission


@dataclass(frozen=True, slots=True)
class Single:
    """Acts once and hands in the result; checks it only where that costs no model call."""

    name: ClassVar[str] = "single"
    needs_feedback: ClassVar[bool] = False

    async def solve(self, problem: Problem, session: Session) -> Submission:
        trial = await session.attempt(free_check=True)
        return session.submit("solved" if trial.feedback.verdict == "pass" else "trials")
