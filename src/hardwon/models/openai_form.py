"""Messages and tools in the form of OpenAI's chat completions, and calls put together from streamed chunks of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from hardwon.models.protocol import Message
from hardwon.models.tools import Tool, ToolCall, returnable


def message_form(message: Message) -> dict[str, Any]:
    """A message as an element of `messages`."""
    form: dict[str, Any] = {"role": message.role, "content": message.content}
    if message.tool_calls:
        form["tool_calls"] = [_call_form(returnable(call)) for call in message.tool_calls]
    if message.tool_call_id is not None:
        form["tool_call_id"] = message.tool_call_id
    return form


def tool_form(tool: Tool) -> dict[str, Any]:
    """A tool as an element of `tools`."""
    function = {"name": tool.name, "description": tool.description, "parameters": dict(tool.parameters)}
    return {"type": "function", "function": function}


class CallChunks:
    """Puts calls together: each chunk holds a part of one call's name or arguments, and says of which by its index."""

    def __init__(self) -> None:
        self._parts: dict[int, tuple[list[str], list[str], list[str]]] = {}

    def take(self, chunks: Iterable[Mapping[str, Any]]) -> None:
        """The `tool_calls` of one streamed delta."""
        for chunk in chunks:
            ids, names, arguments = self._parts.setdefault(int(chunk.get("index") or 0), ([], [], []))
            function = chunk.get("function") or {}
            ids.append(chunk.get("id") or "")
            names.append(function.get("name") or "")
            arguments.append(function.get("arguments") or "")

    def calls(self, mark: str) -> tuple[ToolCall, ...]:
        """The calls so far, in the order of their index; one without an id is known by `mark` and its index."""
        return tuple(
            ToolCall("".join(ids) or f"call-{mark}-{index}", "".join(names), "".join(arguments))
            for index, (ids, names, arguments) in sorted(self._parts.items())
        )


def _call_form(call: ToolCall) -> dict[str, Any]:
    return {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
