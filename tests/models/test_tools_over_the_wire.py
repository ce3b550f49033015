"""Native tool calls of hosted models: what goes over the wire, and what comes back, in each provider's form."""

from __future__ import annotations

import json
from typing import Any

import pytest

from hardwon.errors import ModelRefused
from hardwon.models import Completion, Message, Request, Tool, ToolCall
from hardwon.models.tools import text_tool

from .chat_server import answer, calling, raw, serving, status
from .test_hosted_models import KEY, ask, named

SHELL = text_tool("shell", "Runs a command.", command="the command")
TOOLS = (SHELL, text_tool("submit", "Hands in."))
LS = ToolCall("call-1", "shell", '{"command": "ls"}')


def request(*history: Message, tools: tuple[Tool, ...] = TOOLS) -> Request:
    return Request("t", "act", 0, (Message("system", "Work."), Message("user", "Mend it."), *history), tools=tools)


def answered(call: ToolCall, *more: ToolCall) -> tuple[Message, ...]:
    answers = (Message("tool", f"answer to {each.id}", tool_call_id=each.id) for each in (call, *more))
    return Message("assistant", "I look.", (call, *more)), *answers


def spoken(calls: list[dict[str, Any]], text: str = "I look.") -> bytes:
    """A reply in Anthropic's form."""
    return json.dumps(
        {
            "id": "m",
            "type": "message",
            "role": "assistant",
            "model": "claude-haiku-4-5",
            "stop_reason": "tool_use",
            "content": [{"type": "text", "text": text}, *calls],
            "usage": {"input_tokens": 3, "output_tokens": 2},
        }
    ).encode()


def test_openais_form_carries_tools_calls_and_answers() -> None:
    with serving(calling(("call-2", "shell", '{"command": "cat a"}'), text="Now a.")) as server:
        (got,) = ask(named(server), request(*answered(LS)))
    assert (got.text, got.finish) == ("Now a.", "stop")
    assert got.tool_calls == (ToolCall("call-2", "shell", '{"command": "cat a"}'),)
    body = server.bodies[0]
    assert [tool["type"] for tool in body["tools"]] == ["function", "function"]
    function = body["tools"][0]["function"]
    assert (function["name"], function["description"]) == ("shell", "Runs a command.")
    assert function["parameters"]["properties"] == {"command": {"type": "string", "description": "the command"}}
    assert function["parameters"]["required"] == ["command"]
    system, user, assistant, tool = body["messages"]
    assert (system["role"], user["role"], assistant["content"]) == ("system", "user", "I look.")
    (call,) = assistant["tool_calls"]
    assert (call["id"], call["function"]["name"]) == ("call-1", "shell")
    assert json.loads(call["function"]["arguments"]) == {"command": "ls"}
    assert tool == {"role": "tool", "tool_call_id": "call-1", "content": "answer to call-1"}


def test_anthropics_form_carries_tools_calls_and_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    used = {"type": "tool_use", "id": "toolu-2", "name": "submit", "input": {}}
    with serving(raw(spoken([used]))) as server:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url.removesuffix("/v1"))
        (got,) = ask("anthropic:claude-haiku-4-5", request(*answered(LS, ToolCall("call-x", "submit", ""))))
    assert (got.text, got.finish, got.tool_calls) == ("I look.", "stop", (ToolCall("toolu-2", "submit", "{}"),))
    body = server.bodies[0]
    assert [tool["name"] for tool in body["tools"]] == ["shell", "submit"]
    assert body["tools"][0]["input_schema"]["required"] == ["command"]
    user, assistant, results = body["messages"]
    assert (user["role"], assistant["role"], results["role"]) == ("user", "assistant", "user")
    assert [(part["type"], part.get("input")) for part in assistant["content"]] == [
        ("text", None),
        ("tool_use", {"command": "ls"}),
        ("tool_use", {}),
    ]
    assert [(part["type"], part["tool_use_id"]) for part in results["content"]] == [
        ("tool_result", "call-1"),
        ("tool_result", "call-x"),
    ]


def test_googles_form_carries_tools_calls_and_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GOOGLE_API_KEY", KEY)
    parts = [{"functionCall": {"name": "shell", "args": {"command": "ls"}}}]
    reply = {
        "candidates": [{"content": {"role": "model", "parts": parts}, "finishReason": "STOP"}],
        "usageMetadata": {"promptTokenCount": 3, "candidatesTokenCount": 2, "totalTokenCount": 5},
        "modelVersion": "gemini-2.5-flash",
    }
    with serving(raw(json.dumps(reply).encode())) as server:
        monkeypatch.setenv("GOOGLE_BASE_URL", server.url.removesuffix("/v1"))
        (got,) = ask("google:gemini-2.5-flash", request(*answered(LS)))
    (call,) = got.tool_calls
    assert (call.name, json.loads(call.arguments), bool(call.id)) == ("shell", {"command": "ls"}, True)
    body = json.dumps(server.bodies[0])
    assert '"functionDeclarations"' in body
    contents = server.bodies[0]["contents"]
    assert contents[1]["parts"][1]["functionCall"]["name"] == "shell"
    assert contents[2]["parts"][0]["functionResponse"]["name"] == "shell"


def test_ollama_is_asked_in_openais_form(monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(calling(("c", "submit", "{}"))) as server:
        monkeypatch.setenv("OLLAMA_BASE_URL", server.url)
        (got,) = ask("ollama:qwen3", request())
    assert got.tool_calls == (ToolCall("c", "submit", "{}"),)
    assert [tool["function"]["name"] for tool in server.bodies[0]["tools"]] == ["shell", "submit"]


@pytest.mark.parametrize("arguments", ['{"command": "ls', "ls", "[1]", '"ls"', "null"])
def test_arguments_that_are_no_json_object_come_as_written_and_go_back_well_formed(arguments: str) -> None:
    with serving(calling(("c", "shell", arguments))) as server:
        (got,) = ask(named(server), request())
        assert (got.text, got.usage.attempts) == ("", 1)
        assert got.tool_calls == (ToolCall("c", "shell", arguments),)
        ask(named(server), request(*answered(got.tool_calls[0])))
    sent = server.bodies[1]["messages"][2]["tool_calls"][0]["function"]["arguments"]
    assert json.loads(sent) == {"INVALID_JSON": arguments}


def test_a_request_without_tools_goes_out_as_it_always_did() -> None:
    with serving(answer()) as server:
        ask(named(server), request(tools=()))
    assert not {"tools", "tool_choice", "parallel_tool_calls"} & server.bodies[0].keys()


def test_a_model_that_takes_no_tools_is_named_with_the_mend(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HARDWON_API_KEY", KEY)
    with serving(status(400, f"m does not support tools, {KEY}")) as server:
        with pytest.raises(ModelRefused, match="give --tools text") as caught:
            ask(named(server), request())
        assert len(server.bodies) == 1
    assert KEY not in str(caught.value)
    with serving(status(400, "the tool shed is closed")) as server, pytest.raises(ModelRefused) as caught:
        ask(named(server), request(tools=()))
    assert "--tools" not in str(caught.value)


def test_a_server_without_usage_has_calls_and_tools_in_its_estimate() -> None:
    bare = {
        "id": "c",
        "object": "chat.completion",
        "created": 1,
        "model": "m",
        "choices": [
            {
                "index": 0,
                "finish_reason": "tool_calls",
                "message": {
                    "role": "assistant",
                    "content": None,
                    "tool_calls": [
                        {"id": "c", "type": "function", "function": {"name": "shell", "arguments": '{"command": "ls"}'}}
                    ],
                },
            }
        ],
    }

    def asked(tools: tuple[Tool, ...]) -> Completion:
        with serving(raw(json.dumps(bare).encode())) as server:
            return ask(named(server), request(tools=tools))[0]

    assert asked(TOOLS).usage.tokens_out == 6
    assert asked(TOOLS).usage.tokens_in > asked(()).usage.tokens_in
