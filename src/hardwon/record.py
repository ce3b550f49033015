"""The record of one task in one arm: the effects a session has had, kept before they are used.

The journal provides the durable one; `MemoryRecord` serves a single task solved from Python. Payloads are plain JSON
values, so that a record reads the same in every store.
"""

from __future__ import annotations

from dataclasses import asdict, fields
from typing import Any, Protocol

from hardwon.models.protocol import Completion, Usage
from hardwon.models.tools import ToolCall
from hardwon.trial import Check, Feedback, Lesson, Step, Trajectory

Payload = dict[str, Any]

_CHECK = tuple(f.name for f in fields(Check))
_TRAJECTORY = tuple(f.name for f in fields(Trajectory))
_FEEDBACK = tuple(f.name for f in fields(Feedback))


class Record(Protocol):
    """Effects by kind (`act`, `check`, `reflect`, …) and 0-based index; written once, never changed."""

    @property
    def earlier_seconds(self) -> float:
        """Wall seconds of earlier sittings at this task."""
        ...

    def get(self, kind: str, index: int) -> Payload | None: ...

    def put(self, kind: str, index: int, payload: Payload, elapsed: float) -> None:
        """Keeps an effect, `elapsed` seconds into the task. Raises JournalError when it can not be kept."""
        ...


class MemoryRecord:
    """A record that lives as long as the process."""

    def __init__(self) -> None:
        self.earlier_seconds = 0.0
        self._effects: dict[tuple[str, int], Payload] = {}

    def get(self, kind: str, index: int) -> Payload | None:
        return self._effects.get((kind, index))

    def put(self, kind: str, index: int, payload: Payload, elapsed: float) -> None:
        self._effects[kind, index] = payload


def completion_payload(completion: Completion) -> Payload:
    """A completion's effect; calls of tools are part of it only where there are any."""
    usage = completion.usage
    calls = [[call.id, call.name, call.arguments] for call in completion.tool_calls]
    return {
        "text": completion.text,
        "reasoning": completion.reasoning,
        "model": completion.model,
        "finish": completion.finish,
        "usage": {
            "tokens_in": usage.tokens_in,
            "tokens_out": usage.tokens_out,
            "tokens_cached": usage.tokens_cached,
            "cost_usd": usage.cost_usd,
            "attempts": usage.attempts,
        },
        **({"tool_calls": calls} if calls else {}),
    }


def completion_from(payload: Payload) -> Completion:
    calls = tuple(ToolCall(*call) for call in payload.get("tool_calls", ()))
    return Completion(**{**payload, "usage": Usage(**payload["usage"]), "tool_calls": calls})


def feedback_payload(feedback: Feedback) -> Payload:
    return {name: getattr(feedback, name) for name in _FEEDBACK} | {
        "checks": [{name: getattr(check, name) for name in _CHECK} for check in feedback.checks]
    }


def feedback_from(payload: Payload) -> Feedback:
    """The feedback in a payload, which may hold more than that."""
    known = {name: payload[name] for name in _FEEDBACK}
    return Feedback(**{**known, "checks": tuple(Check(**check) for check in payload["checks"])})


def trajectory_payload(trajectory: Trajectory) -> Payload:
    """As it is in the journal; without the opening of a world that shows none."""
    payload = asdict(trajectory)
    if not trajectory.opening:
        del payload["opening"]
    return payload


def trajectory_from(payload: Payload) -> Trajectory:
    """The trajectory in a payload, which may hold more than that."""
    known = {name: payload[name] for name in _TRAJECTORY if name != "opening" or name in payload}
    return Trajectory(**{**known, "steps": tuple(Step(**step) for step in payload["steps"])})


def lesson_payload(lesson: Lesson) -> Payload:
    return asdict(lesson)


def lesson_from(payload: Payload) -> Lesson:
    return Lesson(**{**payload, "checks": tuple(payload["checks"]), "rejected": tuple(payload["rejected"])})
