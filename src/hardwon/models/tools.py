"""Tools that a model may call, its calls, and how both are written for a reader, a journal and a provider."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

ToolUse = Literal["auto", "text", "native"]
"""How an agent acts: by lines or blocks in its replies, by native tool calls, or by what suits the model."""

_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")


@dataclass(frozen=True, slots=True)
class Tool:
    """A function that a model may call: its name, what it does, and its parameters as the JSON schema of an object."""

    name: str
    description: str
    parameters: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call that a model asks for; its answer names the `id`. `arguments` is JSON, or what the model wrote for it."""

    id: str
    name: str
    arguments: str


def text_tool(name: str, description: str, **parameters: str) -> Tool:
    """A tool whose parameters are all needed and all texts; each is given with its own description."""
    properties = {key: {"type": "string", "description": told} for key, told in parameters.items()}
    schema = {"type": "object", "properties": properties, "required": [*parameters], "additionalProperties": False}
    return Tool(name, description, schema)


def read_arguments(call: ToolCall) -> dict[str, Any] | None:
    """The arguments of a call; none at all are an empty object.

    None for what is not a JSON object, or is one for this Python alone: with `NaN`, or half of a surrogate pair, which
    can be written nowhere.
    """
    if not call.arguments.strip():
        return {}
    try:
        arguments = json.loads(call.arguments)
        json.dumps(arguments, ensure_ascii=False, allow_nan=False).encode()
    except (ValueError, RecursionError):
        return None
    return arguments if isinstance(arguments, dict) else None


def returnable(call: ToolCall) -> ToolCall:
    """The call in a form in which every provider takes it back as a part of the conversation.

    Some refuse a conversation in which arguments are no JSON object, or a name has other than letters and digits.
    """
    arguments = call.arguments if call.arguments.strip() else "{}"
    if read_arguments(call) is None:
        arguments = json.dumps({"INVALID_JSON": call.arguments})
    return ToolCall(call.id, call.name if _NAME.fullmatch(call.name) else "unknown", arguments)


def spelled(text: str, calls: Sequence[ToolCall]) -> str:
    """A text and the calls below it, `name(arguments)` a line; without calls the text itself."""
    if not calls:
        return text
    return "\n".join([*([text] if text else []), *(f"{call.name}({call.arguments})" for call in calls)])


def spelled_tool(tool: Tool) -> str:
    """All of a tool in one text, the same for the same tool."""
    return f"{tool.name}: {tool.description} {json.dumps(tool.parameters, sort_keys=True)}"
