"""The `Actor` protocol, and the door to the model that an actor is given."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Protocol

from hardwon.models.protocol import Completion, Message
from hardwon.models.tools import Tool
from hardwon.task import Problem
from hardwon.trial import Lesson, Trajectory, Trial


@dataclass(frozen=True, slots=True)
class Hints:
    """What the next trial is told beside the problem.

    Lessons; an earlier trial to build on (or None), with what its checks said if `feedback`; the approach to take.
    `settle` takes what was observed in a world that may answer otherwise next time, and gives what counts: in a resumed
    run what was observed the first time. `calls_tools` tells whether the model is best asked for native tool calls.
    """

    lessons: tuple[Lesson, ...] = ()
    previous: Trial | None = None
    feedback: bool = True
    approach: str | None = None
    settle: Callable[[str], str] = str
    calls_tools: bool = False


class Generate(Protocol):
    """One model call of the role at hand, counted and journalled. Raises BudgetExhausted, ModelError."""

    def __call__(
        self,
        messages: tuple[Message, ...],
        *,
        temperature: float | None = None,
        max_tokens: int | None = None,
        stop: tuple[str, ...] = (),
        tools: tuple[Tool, ...] = (),
    ) -> Awaitable[Completion]: ...


class Actor(Protocol):
    """Makes one trajectory for a problem."""

    async def act(self, problem: Problem, hints: Hints, generate: Generate) -> Trajectory: ...
