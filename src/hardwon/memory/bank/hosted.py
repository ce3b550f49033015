"""Embeddings of a provider, or of any server that speaks OpenAI's `/v1/embeddings` (Ollama, vLLM, llama.cpp, …)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from hardwon.errors import HardwonError, ModelError, ModelRefused, UsageError
from hardwon.models.failures import PassingFailure, told_by
from hardwon.models.providers import endpoint_named

if TYPE_CHECKING:
    import httpx2
    import numpy as np
    from numpy.typing import NDArray

KINDS = ("openai", "ollama")
"""Providers by name; any other server is given by its address."""
_AT_ONCE = 64
"""Texts in one request."""
_PASSING = (408, 409, 425, 429)
_LONGEST_WAIT = 120.0
"""Seconds; a server that asks for a longer pause than this is not waited for."""
_LONGEST = 8000
"""Characters of a text that are sent: about what the smaller models read."""


class HostedEmbedder:
    """The embedder of that name: `openai:MODEL`, `ollama:MODEL` or `http(s)://HOST/v1#MODEL`.

    A request may take `timeout` seconds. Rate limits, time-outs, dropped connections, 5xx and replies that make no
    sense are tried again, `attempts` sends in all, after pauses of `wait_initial` seconds doubling up to `wait_max`, or
    the pause that the server asks for. The key is sent as a bearer token and shown nowhere. `embed` raises ModelError
    after the last attempt, ModelRefused for a request that can never succeed.
    """

    def __init__(
        self,
        name: str,
        *,
        timeout: float = 60.0,
        attempts: int = 6,
        wait_initial: float = 1.0,
        wait_max: float = 60.0,
    ) -> None:
        """Raises UsageError for a malformed name, a missing key or a missing extra; nothing is sent."""
        self.name = name
        self._endpoint = endpoint_named(name)
        try:
            import httpx2  # noqa: F401
            import numpy as np  # noqa: F401
        except ImportError:
            raise UsageError(f'{name}: needs an extra; run: pip install "hardwon[hosted,bank]"') from None
        self._timeout = timeout
        self._retries: dict[str, Any] = {
            "attempts": attempts,
            "timeout": None,
            "wait_initial": wait_initial,
            "wait_max": wait_max,
            "wait_jitter": wait_initial,
        }

    @cached_property
    def size(self) -> int:
        """Values in a vector, as the server gives them for a first text. Raises ModelError."""
        with self._connected() as http:
            return len(self._sent(http, ["size"])[0])

    def embed(self, texts: Sequence[str], *, query: bool = False) -> NDArray[np.float32]:
        import numpy as np

        rows: list[list[float]] = []
        with self._connected() as http:
            for start in range(0, len(texts), _AT_ONCE):
                # an empty text is refused by some
                part = [text[:_LONGEST].strip() or "-" for text in texts[start : start + _AT_ONCE]]
                rows += self._sent(http, part)
        if len({len(row) for row in rows}) > 1:
            raise ModelError(f"embedder {self.name}: gave vectors of several sizes; give another --embedder, or none")
        with np.errstate(over="ignore"):  # what is too large becomes infinite, and is refused as that
            return np.array(rows, np.float32) if rows else np.zeros((0, self.size), np.float32)

    def _connected(self) -> httpx2.Client:
        import httpx2

        key = self._endpoint.key
        headers = {} if key is None else {"Authorization": f"Bearer {key}"}
        return httpx2.Client(timeout=self._timeout, headers=headers)

    def _sent(self, http: httpx2.Client, texts: list[str]) -> list[list[float]]:
        import stamina

        sends = 0
        try:
            for attempt in stamina.retry_context(on=_pause, **self._retries):
                with attempt:
                    sends += 1
                    return self._once(http, texts)
        except PassingFailure as error:
            times = "1 attempt" if sends == 1 else f"{sends} attempts"
            raise ModelError(f"{error}; gave up after {times}") from None
        raise AssertionError("unreachable: the retries end in a return or an error")

    def _once(self, http: httpx2.Client, texts: list[str]) -> list[list[float]]:
        import httpx2

        address, asked = self._endpoint.address, {"model": self._endpoint.model, "input": texts}
        try:
            response = http.post(f"{address.rstrip('/')}/embeddings", json=asked)
        except httpx2.TimeoutException:
            raise PassingFailure(f"{self.name}: no answer from {address} in time") from None
        except httpx2.HTTPError as error:
            raise PassingFailure(
                f"{self.name}: {address} could not be reached ({told_by(error, self._endpoint)})"
            ) from None
        if response.status_code >= 300:
            raise self._refusal(response)
        try:
            given = sorted(response.json()["data"], key=lambda one: int(one.get("index", 0)))
            rows = [[float(value) for value in one["embedding"]] for one in given]
        except (ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError) as error:
            raise PassingFailure(f"{self.name}: the reply makes no sense ({type(error).__name__}: {error})") from None
        if len(rows) != len(texts) or not all(rows):
            raise PassingFailure(f"{self.name}: the reply makes no sense ({len(rows)} vectors for {len(texts)} texts)")
        return rows

    def _refusal(self, response: Any) -> HardwonError:
        status, endpoint = response.status_code, self._endpoint
        if status in (401, 403):
            # The server's own words are left out: some repeat a part of the key.
            return ModelRefused(
                f"{self.name}: the key was refused ({status}); set {endpoint.key_variable} to a valid key"
            )
        if status == 404:
            return ModelRefused(
                f"{self.name}: no embeddings by {endpoint.model!r} at {endpoint.address} (404); mend the name"
            )
        said = told_by(_Answer(response.text), endpoint)
        if status < 500 and status not in _PASSING:
            return ModelRefused(f"{self.name}: the request was refused ({status}): {said}")
        wait = _seconds(response.headers.get("retry-after"))
        if wait is not None and wait > _LONGEST_WAIT:
            return ModelError(f"{self.name}: the provider asks to wait {wait:.0f} s; try again then ({said})")
        return PassingFailure(f"{self.name}: the provider failed ({status}): {said}", wait)


class _Answer(Exception):
    """A refusal as `told_by` reads it."""

    def __init__(self, body: str) -> None:
        super().__init__(body)
        self.body = body


def _pause(error: Exception) -> bool | float:
    if not isinstance(error, PassingFailure):
        return False
    return True if error.retry_after is None else error.retry_after


def _seconds(text: str | None) -> float | None:
    try:
        return max(0.0, float(text)) if text else None
    except ValueError:
        return None
