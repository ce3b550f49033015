"""Messages, tools and calls in `pydantic-ai`'s terms; the library is imported when needed."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

from hardwon.models.protocol import Message
from hardwon.models.tools import Tool, ToolCall, returnable

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelMessage, ModelRequestPart, ModelResponse
    from pydantic_ai.models import ModelRequestParameters


def turns(messages: Sequence[Message]) -> list[ModelMessage]:
    """Our messages as requests (what is said to the model, and answers to its calls) and responses, in turn."""
    from pydantic_ai.messages import ModelRequest, ModelResponse, TextPart, ToolCallPart

    made: list[ModelMessage] = []
    names: dict[str, str] = {}
    for message in messages:
        if message.role == "assistant":
            calls = [returnable(call) for call in message.tool_calls]
            called = [ToolCallPart(call.name, call.arguments, call.id) for call in calls]
            names |= {call.id: call.name for call in calls}
            said = [TextPart(message.content)] if message.content or not called else []
            made.append(ModelResponse(parts=[*said, *called]))
            continue
        part = _heard(message, names)
        if made and isinstance(made[-1], ModelRequest):
            made[-1] = ModelRequest(parts=[*made[-1].parts, part])
        else:
            made.append(ModelRequest(parts=[part]))
    return made


def parameters(tools: Sequence[Tool]) -> ModelRequestParameters | None:
    """What tells the library of the tools; None where there are none. The model may answer in text all the same."""
    if not tools:
        return None
    from pydantic_ai.models import ModelRequestParameters
    from pydantic_ai.tools import ToolDefinition

    defined = [
        ToolDefinition(name=tool.name, parameters_json_schema=dict(tool.parameters), description=tool.description)
        for tool in tools
    ]
    return ModelRequestParameters(function_tools=defined)


def calls_of(response: ModelResponse) -> tuple[ToolCall, ...]:
    """The calls of a reply, their arguments as the model wrote them; the library numbers a call that has no id."""
    from pydantic_ai.messages import ToolCallPart

    return tuple(
        ToolCall(
            part.tool_call_id,
            part.tool_name,
            part.args if isinstance(part.args, str) else json.dumps(part.args or {}, ensure_ascii=False),
        )
        for part in response.parts
        if isinstance(part, ToolCallPart)
    )


def _heard(message: Message, names: dict[str, str]) -> ModelRequestPart:
    from pydantic_ai.messages import SystemPromptPart, ToolReturnPart, UserPromptPart

    if message.role == "tool":
        answered = message.tool_call_id or ""
        return ToolReturnPart(names.get(answered, "unknown"), message.content, answered)
    return SystemPromptPart(message.content) if message.role == "system" else UserPromptPart(message.content)
