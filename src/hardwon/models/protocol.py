"""The `Model` protocol and the plain types that cross it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol, runtime_checkable

Role = Literal["act", "reflect", "tests", "judge", "induce"]
"""What a call is for; the ledger and the reports count by role."""


@dataclass(frozen=True, slots=True)
class Message:
    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True, slots=True)
class Request:
    """One model call.

    `task_id`, `role` and `index` (0-based ordinal of this role's calls within one task of one arm) identify it, so that
    a scripted or replayed model is stateless: the same request has the same reply whatever was asked before.
    `max_tokens` limits the completion, reasoning included. `seed` is passed on where a provider takes one.
    """

    task_id: str
    role: Role
    index: int
    messages: tuple[Message, ...]
    temperature: float = 0.0
    max_tokens: int = 1024
    seed: int | None = None
    stop: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens and dollars of one call. `tokens_cached` is the part of `tokens_in` the provider served from its cache.

    `cost_usd` is None when the price is not known (law 9). `attempts` counts the sends, retries included.
    """

    tokens_in: int
    tokens_out: int
    tokens_cached: int = 0
    cost_usd: float | None = None
    attempts: int = 1


@dataclass(frozen=True, slots=True)
class Completion:
    """A model's reply: the answer, its reasoning text kept apart (None if it has none), usage and finish reason."""

    text: str
    usage: Usage
    model: str
    reasoning: str | None = None
    finish: Literal["stop", "length", "other"] = "stop"


@runtime_checkable
class Model(Protocol):
    """Anything that answers requests.

    `name` is the full name by which it was opened (`openai:gpt-5-mini`). `parallel` is how many requests are usefully
    in flight at once. `price_known` tells whether completions carry a cost.
    """

    @property
    def name(self) -> str: ...

    @property
    def parallel(self) -> int: ...

    @property
    def price_known(self) -> bool: ...

    async def generate(self, request: Request) -> Completion:
        """Raises ModelError (after retries) or ModelRefused (a call that can never succeed)."""
        ...

    async def close(self) -> None: ...
