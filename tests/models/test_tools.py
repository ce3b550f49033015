"""Tools and calls: what has none is known as it always was, streamed parts make a call, a call can always go back."""

from __future__ import annotations

import asyncio
import json
import re
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hardwon import prompts
from hardwon.budget import Budget, Ledger
from hardwon.calls import Calls, Sampling, request_digest
from hardwon.errors import UsageError
from hardwon.models import Completion, Message, Request, ScriptedModel, ToolCall, Usage, open_model
from hardwon.models.openai_form import CallChunks, message_form
from hardwon.models.tools import read_arguments, returnable, text_tool
from hardwon.record import MemoryRecord, completion_from, completion_payload

MESSAGES = (Message("system", "Be brief."), Message("user", "Häh?\0x"), Message("assistant", ""), Message("user", "go"))
SHELL = text_tool("shell", "Runs a command.", command="the command")
CALLS = st.builds(ToolCall, st.text(min_size=1, max_size=9), st.text(max_size=9), st.text(max_size=30))


def test_a_request_without_tools_is_known_as_it_was_before_there_were_any() -> None:
    request = Request("t", "act", 3, MESSAGES, 0.7, 9, 5, ("END",))
    assert request_digest(request) == "1edc832c1f3f4680"  # as written by the first version
    assert not any(name.startswith("actors/native_") for name in prompts.hashes())
    assert all(name.startswith("actors/native_") for name in prompts.hashes(native=True))


def test_a_call_without_tools_is_journalled_byte_for_byte_as_before() -> None:
    completion = Completion("hi", Usage(1, 2, 0, None, 1), "m", "why", "length")
    assert json.dumps(completion_payload(completion)) == (
        '{"text": "hi", "reasoning": "why", "model": "m", "finish": "length", "usage": {"tokens_in": 1, '
        '"tokens_out": 2, "tokens_cached": 0, "cost_usd": null, "attempts": 1}}'
    )
    record = MemoryRecord()
    calls = Calls("t", ScriptedModel.from_replies({"*": {"act": ["hi"]}}), Sampling(), Ledger(Budget()), record, None)
    asyncio.run(calls.door("act", 0.0, 9)(MESSAGES))
    payload = record.get("act", 0)
    assert payload is not None
    assert [*payload] == ["completion", "messages", "temperature", "allowed", "digest"]
    assert payload["messages"] == [[message.role, message.content] for message in MESSAGES]


def test_tools_calls_and_answers_make_another_request() -> None:
    plain = Request("t", "act", 0, MESSAGES)
    with_tools = Request("t", "act", 0, MESSAGES, tools=(SHELL,))
    described = Request("t", "act", 0, MESSAGES, tools=(text_tool("shell", "Runs it.", command="the command"),))
    turns = [
        (Message("assistant", "a", (ToolCall(i, "shell", a),)), Message("tool", "b", tool_call_id=i))
        for i, a in (("1", "{}"), ("2", "{}"), ("1", "{ }"))
    ]
    called = [Request("t", "act", 0, (*MESSAGES, *turn), tools=(SHELL,)) for turn in turns]
    digests = [request_digest(request) for request in (plain, with_tools, described, *called)]
    assert len(set(digests)) == len(digests)


@given(st.lists(CALLS, max_size=3))
def test_calls_come_back_from_the_journal_as_they_went_in(calls: list[ToolCall]) -> None:
    completion = Completion("text", Usage(1, 2), "m", tool_calls=tuple(calls))
    assert completion_from(json.loads(json.dumps(completion_payload(completion)))) == completion


@given(st.lists(CALLS, min_size=1, max_size=3), st.data())
def test_a_call_is_the_same_however_it_was_streamed(calls: list[ToolCall], data: st.DataObject) -> None:
    """In the form of llama.cpp's server: a header with id and name, then the arguments in pieces."""
    chunks = CallChunks()
    for index, call in enumerate(calls):
        chunks.take([{"index": index, "id": call.id, "type": "function", "function": {"name": call.name}}])
        rest = call.arguments
        while rest:
            size = data.draw(st.integers(1, len(rest)))
            chunks.take([{"index": index, "function": {"arguments": rest[:size]}}])
            rest = rest[size:]
    assert chunks.calls("act-0") == tuple(calls)


def test_a_streamed_call_without_an_id_is_given_one_that_repeats() -> None:
    for _ in range(2):
        chunks = CallChunks()
        chunks.take([{"index": 0, "function": {"name": "shell", "arguments": "{}"}}])
        chunks.take([{"index": 1, "function": {"name": "shell"}}])
        assert [call.id for call in chunks.calls("act-7")] == ["call-act-7-0", "call-act-7-1"]
    assert CallChunks().calls("act-7") == ()


@given(CALLS)
def test_any_call_can_go_back_to_a_provider(call: ToolCall) -> None:
    back = returnable(call)
    assert re.fullmatch(r"[A-Za-z0-9_-]{1,64}", back.name)
    assert isinstance(json.loads(back.arguments), dict)
    assert returnable(back) == back
    if read_arguments(call) is not None:
        assert read_arguments(back) == read_arguments(call)


@pytest.mark.parametrize(
    "arguments", ['{"command": "ls", "x": NaN}', '{"command": "echo \\ud800"}', '{"x": [Infinity]}']
)
def test_arguments_that_only_python_reads_are_none_and_go_back_in_a_form_that_all_read(arguments: str) -> None:
    call = ToolCall("1", "shell", arguments)
    assert read_arguments(call) is None
    assert json.loads(returnable(call).arguments) == {"INVALID_JSON": arguments}


def test_openais_form_of_a_message_without_calls_has_nothing_of_them() -> None:
    assert message_form(Message("user", "go")) == {"role": "user", "content": "go"}


def test_a_script_may_answer_with_calls(tmp_path: Path) -> None:
    reply = {"text": "I look.", "tool_calls": [{"name": "shell", "arguments": {"command": "ls"}}, {"name": "submit"}]}
    path = tmp_path / "script.json"
    path.write_text(json.dumps({"*": {"act": [reply, {"tool_calls": [{"name": "shell", "arguments": "{oops"}]}]}}))
    model = open_model(f"script:{path}")
    first, second = (asyncio.run(model.generate(Request("t", "act", n, MESSAGES))) for n in range(2))
    assert (first.text, first.spelled) == ("I look.", 'I look.\nshell({"command": "ls"})\nsubmit({})')
    assert [call.id for call in first.tool_calls] == ["call-act-0-0", "call-act-0-1"]
    assert second.tool_calls == (ToolCall("call-act-1-0", "shell", "{oops"),)


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        ({"txt": "a"}, r"\[0\]: unknown field 'txt'; the fields are text and tool_calls"),
        ({"text": 3}, r"\[0\]\.text: want a text, not a number"),
        ({"tool_calls": {}}, r"\[0\]\.tool_calls: want a list, not an object"),
        ({"tool_calls": ["ls"]}, r"tool_calls\[0\]: want an object, not a text"),
        ({"tool_calls": [{"arguments": {}}]}, r"tool_calls\[0\]\.name: want a text, not null"),
        ({"tool_calls": [{"name": "a", "arguments": 3}]}, r"\.arguments: want an object, not a number"),
        ({"tool_calls": [{"name": "a", "args": {}}]}, r"unknown field 'args'"),
    ],
)
def test_a_malformed_call_in_a_script_is_named_by_its_place(reply: Any, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        ScriptedModel.from_replies({"*": {"act": [reply]}})


def test_a_replayed_model_gives_the_calls_back(tmp_path: Path) -> None:
    completion = Completion("x", Usage(5, 2), "m", tool_calls=(ToolCall("c", "shell", "{oops"),))
    with sqlite3.connect(tmp_path / "journal.sqlite") as db:
        db.execute("CREATE TABLE events(task_id TEXT, arm TEXT, seed INTEGER, kind TEXT, idx INTEGER, payload TEXT)")
        payload = json.dumps({"completion": completion_payload(completion)})
        db.execute("INSERT INTO events VALUES ('t', 'a', 0, 'act', 0, ?)", (payload,))
    db.close()

    async def run() -> Completion:
        model = open_model(f"replay:{tmp_path}")
        try:
            return await model.generate(Request("t", "act", 0, MESSAGES))
        finally:
            await model.close()

    assert asyncio.run(run()).tool_calls == completion.tool_calls
