"""Models behind an API: typed requests through `pydantic-ai`, retried where that can help, priced where known."""

from __future__ import annotations

import asyncio
from typing import Any, Literal

from hardwon.errors import ModelError, ModelRefused, UsageError
from hardwon.models.failures import PassingFailure, classify, told_by
from hardwon.models.prices import price_is_known, price_usd
from hardwon.models.protocol import Completion, Request, Usage
from hardwon.models.providers import connect, endpoint_named
from hardwon.models.reasoning import split_reasoning
from hardwon.models.scripted import estimate_tokens
from hardwon.models.tools import spelled
from hardwon.models.translated import calls_of, parameters, turns

_FINISH: dict[str, Literal["stop", "length"]] = {"stop": "stop", "length": "length", "tool_call": "stop"}
_OPTIONAL = {"temperature": "temperature", "seed": "seed", "stop_sequences": "stop"}
"""Settings that a model may refuse, and the word by which providers name each when they do."""


class HostedModel:
    """A model of a provider, or of any server that speaks OpenAI's chat completions.

    At most `parallel` requests are in flight; the others wait. A request may take `timeout` seconds. Rate limits,
    time-outs, dropped connections, 5xx and replies that make no sense are tried again, `attempts` sends in all,
    after pauses of `wait_initial` seconds doubling up to `wait_max`, or the pause that the provider asks for.
    A setting that a model refuses (some take no temperature) is left out from then on; stop sequences that are
    left out are applied to the answer here.

    Belongs to the event loop of its first request. Where a server reports no usage, tokens are estimated from the
    texts and the cost is None.
    """

    calls_tools = True

    def __init__(
        self,
        name: str,
        *,
        parallel: int = 4,
        timeout: float = 300.0,
        attempts: int = 6,
        wait_initial: float = 1.0,
        wait_max: float = 60.0,
    ) -> None:
        """Raises UsageError for a malformed name, a missing key or a missing extra; nothing is sent."""
        if parallel < 1 or attempts < 1 or timeout <= 0:
            raise UsageError(f"{name}: want at least 1 request in flight, 1 attempt and a timeout above 0")
        self.name = name
        self.parallel = parallel
        self._endpoint = endpoint_named(name)
        self._client, self._http = connect(self._endpoint, name, timeout, parallel)
        self._timeout = timeout
        self._attempts = attempts
        self._wait_initial = wait_initial
        self._wait_max = wait_max
        self._free = asyncio.Semaphore(parallel)
        self._left_out = _refused_by_profile(self._client)
        self.price_known = price_is_known(self._endpoint.model, self._endpoint.address)

    async def generate(self, request: Request) -> Completion:
        """Raises ModelError after the last attempt, ModelRefused for a request that can never succeed."""
        import stamina

        sends = 0
        async with self._free:
            try:
                async for attempt in stamina.retry_context(
                    on=_pause,
                    attempts=self._attempts,
                    timeout=None,
                    wait_initial=self._wait_initial,
                    wait_max=self._wait_max,
                    wait_jitter=self._wait_initial,
                ):
                    with attempt:
                        while True:
                            sends += 1
                            left_out = self._left_out
                            response = await self._send(request, left_out)
                            if response is not None:
                                return self._completion(request, response, left_out, sends)
            except PassingFailure as error:
                times = "1 attempt" if sends == 1 else f"{sends} attempts"
                raise ModelError(f"{error}; gave up after {times}") from None
        raise AssertionError("unreachable: the retries end in a return or an error")

    async def _send(self, request: Request, left_out: frozenset[str]) -> Any:
        """One send; None when the provider refused a setting, which is then left out for good."""
        from pydantic_ai.direct import model_request
        from pydantic_ai.exceptions import ModelHTTPError

        try:
            return await model_request(
                self._client,
                turns(request.messages),
                model_settings=self._settings(request, left_out),  # type: ignore[arg-type]
                model_request_parameters=parameters(request.tools),
            )
        except Exception as error:  # whatever a library raises becomes one of our errors, and is raised
            if isinstance(error, ModelHTTPError) and error.status_code in (400, 422):
                said = told_by(error, self._endpoint).lower()
                refused = {s for s, word in _OPTIONAL.items() if word in said} & self._settings(
                    request, left_out
                ).keys()
                if refused:
                    self._left_out |= refused
                    return None
            if request.tools and isinstance(error, ModelHTTPError) and error.status_code in (400, 404, 422, 501):
                said = told_by(error, self._endpoint)
                if "tool" in said.lower() or "function" in said.lower():
                    raise ModelRefused(
                        f"{self.name}: the request was refused ({error.status_code}: {said}); where the model takes no"
                        " tools, give --tools text"
                    ) from None
            raise classify(error, self.name, self._endpoint) from None

    def _settings(self, request: Request, left_out: frozenset[str]) -> dict[str, Any]:
        settings: dict[str, Any] = {
            "max_tokens": request.max_tokens,
            "temperature": request.temperature,
            "timeout": self._timeout,
            "request_timeout": self._timeout,
            "max_retries": 0,  # the library behind would otherwise send again, uncounted
        }
        if request.seed is not None:
            settings["seed"] = request.seed
        if request.stop:
            settings["stop_sequences"] = list(request.stop)
        return {name: value for name, value in settings.items() if name not in left_out}

    def _completion(self, request: Request, response: Any, left_out: frozenset[str], sends: int) -> Completion:
        from pydantic_ai.messages import TextPart, ThinkingPart

        calls = calls_of(response)
        text = "".join(part.content for part in response.parts if isinstance(part, TextPart))
        thoughts = [part.content for part in response.parts if isinstance(part, ThinkingPart)]
        answer, thought = split_reasoning(text)
        if "stop_sequences" in left_out:
            answer = _cut(answer, request.stop)
        reasoning = "\n\n".join(part for part in (*thoughts, thought) if part) or None
        return Completion(
            answer,
            self._usage(request, response, spelled(text, calls), reasoning, sends),
            response.model_name or self._endpoint.model,
            reasoning,
            _FINISH.get(response.finish_reason or "stop", "other"),
            calls,
        )

    def _usage(self, request: Request, response: Any, text: str, reasoning: str | None, sends: int) -> Usage:
        usage = response.usage
        if usage.unmeasured_requests or not (usage.input_tokens or usage.output_tokens):
            tokens_in = sum(map(estimate_tokens, request.texts))
            return Usage(tokens_in, estimate_tokens(text + (reasoning or "")), attempts=sends)
        models = tuple(dict.fromkeys(filter(None, (response.model_name, self._endpoint.model))))
        return Usage(
            tokens_in=usage.input_tokens,
            tokens_out=usage.output_tokens,
            tokens_cached=usage.cache_read_tokens,
            cost_usd=price_usd(usage, models, self._endpoint.address),
            attempts=sends,
        )

    async def close(self) -> None:
        """Closes the connections; the model cannot be used after that."""
        await self._http.aclose()

    def __repr__(self) -> str:
        return f"HostedModel({self.name!r}, parallel={self.parallel})"


def _pause(error: Exception) -> bool | float:
    """Whether to try again, or the pause in seconds that the provider asked for."""
    if not isinstance(error, PassingFailure):
        return False
    return True if error.retry_after is None else error.retry_after


def _refused_by_profile(client: Any) -> frozenset[str]:
    """The settings that the model is known not to take: reasoning models have no temperature."""
    profile, refused = client.profile, set(client.unsupported_settings)
    reasons = profile.get("openai_supports_reasoning") and profile.get("thinking_enabled_by_default")
    if reasons or profile.get("anthropic_disallows_sampling_settings"):
        refused.add("temperature")
    return frozenset(refused & _OPTIONAL.keys())


def _cut(text: str, stops: tuple[str, ...]) -> str:
    """The text up to the first stop sequence."""
    ends = [end for end in (text.find(stop) for stop in stops if stop) if end >= 0]
    return text[: min(ends)] if ends else text
