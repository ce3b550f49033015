"""Your own evaluator: any function of the program or answer text that says how good it is."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeAlias

from hardwon.errors import HardwonError, InfrastructureError
from hardwon.evaluators.verdict import cut, no_output
from hardwon.task import Ask
from hardwon.trial import Check, Feedback, Source, Trajectory

Outcome: TypeAlias = bool | float | tuple[bool | float, str] | Feedback
"""A verdict, or a score from 0 to 1 (1 passes), alone or with a text for the model; or a whole feedback."""

_TEXT_LIMIT = 4000


@dataclass(frozen=True, slots=True)
class FunctionCheck:
    """Asks `fn` about each program or answer; async functions are awaited, plain ones run in a thread.

    `fn` returns an `Outcome`. It runs in this process, so it must not execute the text it is given: that is
    what `UnitTests` and `CommandCheck` are for.
    """

    fn: Callable[[str], Outcome | Awaitable[Outcome]]
    source: Source = "grounded"

    @property
    def name(self) -> str:
        return str(getattr(self.fn, "__qualname__", type(self.fn).__qualname__))

    async def check(self, trajectory: Trajectory, ask: Ask | None = None) -> Feedback:
        """Raises InfrastructureError if the function raises or returns anything else: that is no verdict."""
        if trajectory.output is None:
            return no_output(self.source, "The reply held no answer. Give the whole answer in the form asked for.")
        try:
            if inspect.iscoroutinefunction(self.fn):
                outcome = await self.fn(trajectory.output)
            else:
                outcome = await asyncio.to_thread(self.fn, trajectory.output)
                if inspect.isawaitable(outcome):
                    outcome = await outcome
        except HardwonError:
            raise
        except Exception as error:
            raise InfrastructureError(
                f"evaluator {self.name} raised {type(error).__name__}: {error}; mend it, or let it "
                "return False with a text if the answer is at fault"
            ) from error
        return self._feedback(outcome)

    def _feedback(self, outcome: object) -> Feedback:
        if isinstance(outcome, Feedback):
            return outcome
        value, text = outcome if isinstance(outcome, tuple) and len(outcome) == 2 else (outcome, "")
        if not isinstance(value, int | float) or not 0 <= value <= 1 or not isinstance(text, str):
            raise InfrastructureError(
                f"evaluator {self.name} returned {cut(repr(outcome), 200)}; return a bool, a score "
                "from 0 to 1 (1 passes), one of these with a text, or a Feedback"
            )
        score = float(value)
        passed = score == 1.0
        text = cut(text, _TEXT_LIMIT) or ("The answer passed." if passed else f"The answer failed (score {score:g}).")
        check = Check(self.name, "pass" if passed else "fail", error=None if passed else text, source=self.source)
        return Feedback(check.status, score, text, (check,), self.source)
