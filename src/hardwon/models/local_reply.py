"""One request to llama.cpp in its own form, and its streamed reply put together."""

from __future__ import annotations

import threading
from typing import Any, Literal

from hardwon.errors import ModelError, ModelRefused
from hardwon.models.openai_form import CallChunks, message_form, tool_form
from hardwon.models.protocol import Completion, Request, Usage
from hardwon.models.reasoning import split_reasoning

_FINISH: dict[str, Literal["stop", "length"]] = {"stop": "stop", "length": "length", "tool_calls": "stop"}


class Reply:
    """Collects the chunks of one reply; `take` is called from the library's thread and says True to stop."""

    def __init__(self, *stops: threading.Event) -> None:
        self._stops = stops
        self._text: list[str] = []
        self._reasoning: list[str] = []
        self._calls = CallChunks()
        self._finish: str | None = None
        self._usage: dict[str, Any] | None = None
        self._cached = 0
        self._error: dict[str, Any] | None = None

    def take(self, chunk: dict[str, Any]) -> bool:
        if "error" in chunk:
            self._error = chunk["error"]
            return True
        for choice in chunk.get("choices", ()):
            delta = choice.get("delta") or {}
            self._text.append(delta.get("content") or "")
            self._reasoning.append(delta.get("reasoning_content") or "")
            self._calls.take(delta.get("tool_calls") or ())
            self._finish = choice.get("finish_reason") or self._finish
        if chunk.get("usage"):
            self._usage = chunk["usage"]
            self._cached = int((chunk.get("timings") or {}).get("cache_n") or 0)
        return any(stop.is_set() for stop in self._stops)

    def completion(self, name: str, request: Request, context: int) -> Completion:
        if self._error is not None:
            if self._error.get("type") == "exceed_context_size_error":
                tokens = self._error.get("n_prompt_tokens", "?")
                raise ModelRefused(
                    f"{name}: task {request.task_id}: the prompt has {tokens} tokens and a slot holds"
                    f" {context}; shorten the prompt or open the model with a larger context"
                )
            raise ModelError(f"{name}: task {request.task_id}: {self._error.get('message', self._error)}")
        if self._usage is None:
            raise ModelError(f"{name}: task {request.task_id}: the generation was stopped before its end")
        text, thought = split_reasoning("".join(self._text))
        usage = Usage(
            tokens_in=int(self._usage["prompt_tokens"]),
            tokens_out=int(self._usage["completion_tokens"]),
            tokens_cached=self._cached,
            cost_usd=0.0,
        )
        reasoning = "".join(self._reasoning).strip() or thought
        calls = self._calls.calls(f"{request.role}-{request.index}")
        return Completion(text, usage, name, reasoning, _FINISH.get(self._finish or "", "other"), calls)


def request_body(request: Request) -> dict[str, Any]:
    body: dict[str, Any] = {
        "messages": [message_form(message) for message in request.messages],
        "max_tokens": request.max_tokens,
        "temperature": request.temperature,
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    if request.seed is not None:
        # llama.cpp keeps 32 bits and takes the highest value as "choose at random".
        body["seed"] = request.seed % (2**32 - 1)
    if request.stop:
        body["stop"] = list(request.stop)
    if request.tools:
        body["tools"] = [tool_form(tool) for tool in request.tools]
    return body
