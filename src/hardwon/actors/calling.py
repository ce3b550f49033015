"""Native tool calls of the agents that act: what a reply calls, and the messages that answer it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from hardwon.actors.protocol import Hints
from hardwon.models.protocol import Completion, Message
from hardwon.models.tools import Tool, ToolUse, read_arguments, returnable
from hardwon.prompts import render

Flaw = Literal["no call", "cut off", "unknown tool", "malformed"]


@dataclass(frozen=True, slots=True)
class Called:
    """The first call of a reply: the tool's name and its arguments; or else `flaw` says why there is nothing to do."""

    name: str = ""
    arguments: Mapping[str, str] = field(default_factory=dict)
    flaw: Flaw | None = None


def is_native(use: ToolUse, hints: Hints) -> bool:
    """Whether the agent calls tools: as it is set, or as it suits the model."""
    return use == "native" or (use == "auto" and hints.calls_tools)


def first_call(completion: Completion, tools: Sequence[Tool]) -> Called:
    """What to do, by the first call of a reply.

    The others are not carried out (`answered` says so): what the first one brings is there to be thought about before
    the next, the world may have changed under them, and caps count one action a reply, as they do in text.
    """
    if not completion.tool_calls:
        return Called(flaw="cut off" if completion.finish == "length" else "no call")
    call = completion.tool_calls[0]
    tool = next((tool for tool in tools if tool.name == call.name), None)
    if tool is None:
        return Called(call.name, flaw="unknown tool")
    given = read_arguments(call)
    if given is None:
        return Called(call.name, flaw="cut off" if completion.finish == "length" else "malformed")
    arguments = {name: _text(given.get(name)) for name in tool.parameters["required"]}
    if not all(value.strip() for value in arguments.values()):
        return Called(call.name, flaw="malformed")
    return Called(call.name, arguments)


def answered(completion: Completion, said: str, told: str) -> tuple[Message, ...]:
    """A turn: the reply with its calls, `told` as the answer to the first, and a short note for each of the others.

    `said` is the reply's text as it is to be remembered. A reply without calls is answered by the user.
    """
    if not completion.tool_calls:
        return Message("assistant", said or "…"), Message("user", told)
    calls = tuple(returnable(call) for call in completion.tool_calls)
    notes = [told or "…", *[render("actors/native_note", note="not run", tools=())] * (len(calls) - 1)]
    answers = (Message("tool", note, tool_call_id=call.id) for call, note in zip(calls, notes, strict=True))
    return Message("assistant", said, calls), *answers


def flaw_note(flaw: str, tools: Sequence[Tool]) -> str:
    """What is told of a reply that could not be carried out."""
    return render("actors/native_note", note=flaw, tools=tools)


def _text(value: object) -> str:
    """An argument that should be a text; a number is taken as it is written."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return ""
    return str(value)
