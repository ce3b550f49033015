"""The `Model` protocol and the plain types that cross it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol, runtime_checkable

from hardwon.models.tools import Tool, ToolCall, spelled, spelled_tool

Role = Literal["act", "reflect", "tests", "judge", "induce"]
"""What a call is for; the ledger and the reports count by role."""


@dataclass(frozen=True, slots=True)
class Message:
    """What one side says. An assistant's message may hold `tool_calls`.

    Each of these is answered by a message of the role `tool`, whose `tool_call_id` is the call's id, before anything
    else is said: providers refuse a conversation with an unanswered call.
    """

    role: Literal["system", "user", "assistant", "tool"]
    content: str
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str | None = None

    @property
    def spelled(self) -> str:
        """The content and the calls as a reader sees them; without calls the content itself."""
        return spelled(self.content, self.tool_calls)


@dataclass(frozen=True, slots=True)
class Request:
    """One model call.

    `task_id`, `role` and `index` (0-based ordinal of this role's calls within one task of one arm) identify it, so that
    a scripted or replayed model is stateless: the same request has the same reply whatever was asked before.
    `max_tokens` limits the completion, reasoning included. `seed` is passed on where a provider takes one. `tools` are
    the functions that the model may call instead of, or beside, answering in text.
    """

    task_id: str
    role: Role
    index: int
    messages: tuple[Message, ...]
    temperature: float = 0.0
    max_tokens: int = 1024
    seed: int | None = None
    stop: tuple[str, ...] = ()
    tools: tuple[Tool, ...] = ()

    @property
    def texts(self) -> tuple[str, ...]:
        """All that the model is given to read, piece by piece, for estimates of its tokens."""
        return (*(message.spelled for message in self.messages), *(spelled_tool(tool) for tool in self.tools))


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
    """A model's reply: the answer, its reasoning text kept apart (None if it has none), usage and finish reason.

    `tool_calls` are the calls that it asks for, in its order; their arguments are as the model wrote them. A reply that
    ends with a call has the finish `stop`.
    """

    text: str
    usage: Usage
    model: str
    reasoning: str | None = None
    finish: Literal["stop", "length", "other"] = "stop"
    tool_calls: tuple[ToolCall, ...] = ()

    @property
    def spelled(self) -> str:
        """The text and the calls as a reader sees them; without calls the text itself."""
        return spelled(self.text, self.tool_calls)


@runtime_checkable
class Model(Protocol):
    """Anything that answers requests.

    `name` is the full name by which it was opened (`openai:gpt-5-mini`). `parallel` is how many requests are usefully
    in flight at once. `price_known` tells whether completions carry a cost. A model that is best asked for native tool
    calls says so with an attribute `calls_tools = True` (see `calls_tools`).
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


def calls_tools(model: Model) -> bool:
    """Whether agents ask this model for native tool calls where nothing else is set; no model has to know of it."""
    return bool(getattr(model, "calls_tools", False))
