"""Promises of hosted models, kept against a real server that misbehaves."""

from __future__ import annotations

import asyncio
import json
import socket
import subprocess
import sys
import threading
import time
from typing import Any

import pytest

from hardwon.errors import ModelError, ModelRefused, UsageError
from hardwon.models import Completion, Message, Request, open_model
from hardwon.models.failures import PassingFailure
from hardwon.models.hosted import HostedModel

from .chat_server import ChatServer, answer, completion, drop, hang, raw, serving, status

KEY = "sk-secret-0123456789abcdef"


def request(index: int = 0, **fields: Any) -> Request:
    return Request("t", "act", index, (Message("system", "Be brief."), Message("user", "Hello?")), **fields)


def ask(name: str, *requests: Request, **options: Any) -> list[Completion]:
    """Opens the model, sends all requests at once, closes it."""

    async def run() -> list[Completion]:
        model = HostedModel(name, **({"wait_initial": 0.001, "wait_max": 0.002, "timeout": 20.0} | options))
        try:
            return await asyncio.gather(*(model.generate(r) for r in requests or (request(),)))
        finally:
            await model.close()

    return asyncio.run(run())


def named(server: ChatServer) -> str:
    return f"{server.url}#served-model"


def test_an_answer_comes_with_its_usage_and_the_request_as_it_was_made() -> None:
    with serving(answer("hi", finish="length")) as server:
        (got,) = ask(named(server), request(temperature=0.7, max_tokens=9, seed=3, stop=("END",)))
    assert (got.text, got.finish, got.model, got.reasoning) == ("hi", "length", "served-model", None)
    assert (got.usage.tokens_in, got.usage.tokens_out, got.usage.tokens_cached) == (11, 7, 5)
    assert got.usage.attempts == 1
    body = server.bodies[0]
    assert body["messages"] == [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Hello?"},
    ]
    assert (body["temperature"], body["max_tokens"], body["seed"], body["stop"]) == (0.7, 9, 3, ["END"])


def test_a_price_that_is_not_known_is_none() -> None:
    with serving(answer()) as server:
        (got,) = ask(named(server))
        model = HostedModel(named(server))
        assert got.usage.cost_usd is None
        assert not model.price_known
        asyncio.run(model.close())


def test_a_listed_price_is_charged_for_input_cached_input_and_output(monkeypatch: pytest.MonkeyPatch) -> None:
    from genai_prices import Usage as Priced

    from hardwon.models.prices import price_usd

    address = "https://api.openai.com/v1"
    plain = price_usd(Priced(input_tokens=1000, output_tokens=100), ("gpt-5-mini",), address)
    cached = price_usd(Priced(input_tokens=1000, cache_read_tokens=900, output_tokens=100), ("gpt-5-mini",), address)
    assert plain is not None
    assert cached is not None
    assert 0 < cached < plain
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    model = open_model("openai:gpt-5-mini")
    assert model.price_known
    asyncio.run(model.close())


@pytest.mark.parametrize(
    ("turn", "said"),
    [
        (status(429, "slow down"), "429"),
        (status(500, "oh"), "500"),
        (status(503, "oh"), "503"),
        (drop, "dropped"),
        (raw(b"<html>Sign in</html>", "text/html"), "makes no sense"),
        (raw(b"{broken"), "makes no sense"),
        (raw(b"{}"), "makes no sense"),
        (raw(json.dumps(completion() | {"choices": []}).encode()), "makes no sense"),
        (raw(b'{"choices": "x"}'), "makes no sense"),
        (raw(b"[1, 2]"), "makes no sense"),
    ],
)
def test_a_passing_failure_is_tried_again_and_every_send_is_counted(turn: Any, said: str) -> None:
    with serving(turn, turn, answer("at last")) as server:
        (got,) = ask(named(server))
        assert (got.text, got.usage.attempts, len(server.bodies)) == ("at last", 3, 3)
    with serving(turn) as server:
        with pytest.raises(ModelError, match=f"{said}.*gave up after 3 attempts"):
            ask(named(server), attempts=3)
        assert len(server.bodies) == 3


def test_a_server_that_hangs_is_given_up_in_time() -> None:
    with serving(hang, hang, answer("awake")) as server:
        (got,) = ask(named(server), timeout=0.5)
        assert (got.text, got.usage.attempts) == ("awake", 3)
    with serving(hang) as server, pytest.raises(ModelError, match="in time; gave up after 2 attempts"):
        ask(named(server), timeout=0.3, attempts=2)


def test_a_server_that_is_not_there_is_named() -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with pytest.raises(ModelError, match=rf"http://127.0.0.1:{port}/v1 could not be reached.*2 attempts"):
        ask(f"http://127.0.0.1:{port}/v1#m", attempts=2)


def test_the_pause_that_the_provider_asks_for_is_kept() -> None:
    with serving(status(429, Retry_After="1"), answer()) as server:
        started = time.monotonic()
        ask(named(server))
        assert time.monotonic() - started >= 1.0


def test_a_pause_of_hours_is_not_waited_for() -> None:
    with serving(status(429, Retry_After="7200")) as server:
        with pytest.raises(ModelError, match="wait 7200 s") as caught:
            ask(named(server))
        assert not isinstance(caught.value, PassingFailure)
        assert len(server.bodies) == 1


@pytest.mark.parametrize("code", [400, 401, 402, 403, 404, 413, 422])
def test_a_request_that_can_never_succeed_is_sent_once(code: int) -> None:
    with serving(status(code, "never")) as server:
        with pytest.raises(ModelRefused) as caught:
            ask(named(server))
        assert len(server.bodies) == 1
    assert str(code) in str(caught.value) or "quota" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_wrong_key_names_its_variable_and_is_never_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HARDWON_API_KEY", KEY)
    for code in (401, 400, 500):
        with serving(status(code, f"Incorrect key {KEY} of sk-secr**cdef")) as server:
            with pytest.raises((ModelRefused, ModelError)) as caught:
                ask(named(server), attempts=2)
            assert server.headers[0]["authorization"] == f"Bearer {KEY}"
        error: BaseException | None = caught.value
        assert ("HARDWON_API_KEY" in str(error)) == (code == 401)
        assert KEY not in f"{error}{error!r}"
    model = HostedModel("http://localhost:1/v1#m")
    assert KEY not in repr(model)
    assert KEY not in repr(vars(model)["_endpoint"])
    asyncio.run(model.close())


def test_another_server_is_never_given_the_openai_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.delenv("HARDWON_API_KEY", raising=False)
    with serving(answer()) as server:
        ask(named(server))
        assert KEY not in json.dumps(server.headers)


def test_an_unknown_model_is_named_with_the_address() -> None:
    with serving(status(404, "nope")) as server, pytest.raises(ModelRefused, match=r"served-model.*/v1"):
        ask(named(server))


@pytest.mark.parametrize("code", [400, 422])
def test_a_setting_that_a_model_refuses_is_left_out_from_then_on(code: int) -> None:
    refusal = status(code, "Unsupported parameter: 'temperature' is not supported with this model.")
    with serving(refusal, answer("a"), answer("b")) as server:

        async def run() -> list[Completion]:
            model = HostedModel(named(server), wait_initial=0.001)
            try:
                return [await model.generate(request(i, temperature=0.5)) for i in range(2)]
            finally:
                await model.close()

        first, second = asyncio.run(run())
        assert ["temperature" in body for body in server.bodies] == [True, False, False]
        assert (first.text, first.usage.attempts, second.text, second.usage.attempts) == ("a", 2, "b", 1)


def test_stop_sequences_hold_even_where_the_model_takes_none() -> None:
    with serving(status(400, "Unsupported parameter: 'stop'"), answer("keep\nEND drop")) as server:
        (got,) = ask(named(server), request(stop=("END",)))
        assert got.text == "keep\n"


def test_a_refusal_of_a_setting_that_was_not_sent_is_final() -> None:
    with serving(status(400, "temperature is out of order")) as server:
        with pytest.raises(ModelRefused):
            ask(named(server))
        assert len(server.bodies) == 2  # once with the temperature, once without


@pytest.mark.parametrize(
    "message",
    [
        {"text": "42", "reasoning_content": "six times seven"},
        {"text": "<think>six times seven</think>\n\n42"},
    ],
)
def test_reasoning_is_kept_apart_from_the_answer(message: dict[str, str]) -> None:
    with serving(answer(**message)) as server:
        (got,) = ask(named(server))
    assert (got.text, got.reasoning) == ("42", "six times seven")


def test_a_tag_inside_an_answer_stays_and_an_unfinished_thought_is_no_answer() -> None:
    program = 'TAGS = ("<think>", "</think>")'
    with serving(answer(program), answer("<think>and then", finish="length")) as server:
        (whole,) = ask(named(server))
        (cut,) = ask(named(server))
    assert (whole.text, whole.reasoning) == (program, None)
    assert (cut.text, cut.reasoning, cut.finish) == ("", "and then", "length")


def test_an_empty_answer_is_an_answer() -> None:
    with serving(answer(None)) as server:
        (got,) = ask(named(server))
    assert (got.text, got.usage.attempts) == ("", 1)


def test_a_server_without_usage_gives_an_estimate_and_no_cost() -> None:
    bare = completion("four")
    del bare["usage"]
    with serving(raw(json.dumps(bare).encode())) as server:
        (got,) = ask(named(server))
    assert (got.usage.tokens_in, got.usage.tokens_out, got.usage.cost_usd) == (5, 1, None)


def test_never_more_requests_are_in_flight_than_asked_for_and_no_fewer() -> None:
    together = threading.Barrier(3, timeout=20)

    def meet(handler: Any) -> None:
        together.wait()  # passes only when three are here at once
        answer()(handler)

    with serving(meet) as server:
        ask(named(server), *(request(i) for i in range(9)), parallel=3)
        assert server.most_running == 3


def test_a_cancelled_call_is_cancelled_at_once_and_frees_its_place() -> None:
    with serving(hang, answer("next")) as server:

        async def run() -> Completion:
            model = HostedModel(named(server), parallel=1)
            try:
                stuck = asyncio.create_task(model.generate(request()))
                while not server.bodies:
                    await asyncio.sleep(0)
                stuck.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await stuck
                return await model.generate(request(1))
            finally:
                await model.close()

        assert asyncio.run(run()).text == "next"


def test_the_providers_own_address_and_key_are_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", f" {KEY}\n")
    with serving(answer("hi")) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        (got,) = ask("openai:gpt-4o-mini")
        assert server.headers[0]["authorization"] == f"Bearer {KEY}"
        assert server.bodies[0]["model"] == "gpt-4o-mini"
        assert got.usage.cost_usd is None  # another server's price is not OpenAI's
    with serving(answer("hi")) as server:
        monkeypatch.setenv("OLLAMA_BASE_URL", server.url)
        (got,) = ask("ollama:qwen3", request(max_tokens=5))
        assert server.bodies[0]["max_tokens"] == 5


def test_a_reasoning_model_is_not_sent_a_temperature(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with serving(answer()) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        ask("openai:gpt-5-mini")
        assert "temperature" not in server.bodies[0]


def test_anthropic_and_google_speak_their_own_protocols(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    monkeypatch.setenv("GOOGLE_API_KEY", KEY)
    spoken = {
        "id": "m",
        "type": "message",
        "role": "assistant",
        "model": "claude-haiku-4-5",
        "stop_reason": "max_tokens",
        "content": [
            {"type": "thinking", "thinking": "hm", "signature": "s"},
            {"type": "text", "text": "yes"},
        ],
        "usage": {"input_tokens": 3, "output_tokens": 2, "cache_read_input_tokens": 4},
    }
    with serving(status(529, "overloaded"), raw(json.dumps(spoken).encode())) as server:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url.removesuffix("/v1"))
        (got,) = ask("anthropic:claude-haiku-4-5", request(seed=1))
        assert (got.text, got.reasoning, got.finish) == ("yes", "hm", "length")
        assert (got.usage.tokens_in, got.usage.tokens_cached, got.usage.attempts) == (7, 4, 2)
        assert len(server.bodies) == 2
    spoken = {
        "candidates": [{"content": {"role": "model", "parts": [{"text": "ja"}]}, "finishReason": "STOP"}],
        "usageMetadata": {"promptTokenCount": 3, "candidatesTokenCount": 2, "totalTokenCount": 5},
        "modelVersion": "gemini-2.5-flash",
    }
    with serving(status(503, "busy"), raw(json.dumps(spoken).encode())) as server:
        monkeypatch.setenv("GOOGLE_BASE_URL", server.url.removesuffix("/v1"))
        (got,) = ask("google:gemini-2.5-flash")
        assert (got.text, got.usage.tokens_in, got.usage.tokens_out, got.usage.attempts) == ("ja", 3, 2, 2)
        assert len(server.bodies) == 2


def test_a_missing_key_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, variable in (
        ("openai:gpt-5-mini", "OPENAI_API_KEY"),
        ("anthropic:claude-haiku-4-5", "ANTHROPIC_API_KEY"),
        ("google:gemini-2.5-flash", "GOOGLE_API_KEY or GEMINI_API_KEY"),
    ):
        for known in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GOOGLE_API_KEY", "GEMINI_API_KEY"):
            monkeypatch.delenv(known, raising=False)
        with pytest.raises(UsageError, match=f"set {variable}$"):
            open_model(name)


def test_a_key_in_an_address_is_refused_without_repeating_it() -> None:
    with pytest.raises(UsageError, match="HARDWON_API_KEY") as caught:
        open_model(f"http://me:{KEY}@localhost:1/v1#m")
    assert KEY not in str(caught.value)


@pytest.mark.parametrize(
    ("absent", "name", "extra"),
    [
        ("pydantic_ai", "http://localhost:1/v1#m", "hosted"),
        ("openai", "http://localhost:1/v1#m", "hosted"),
    ],
)
def test_a_missing_extra_is_named(absent: str, name: str, extra: str) -> None:
    code = f"import sys; sys.modules[{absent!r}] = None\nfrom hardwon.models import open_model\nopen_model({name!r})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert f'pip install "hardwon[{extra}]"' in done.stderr.splitlines()[-1]
