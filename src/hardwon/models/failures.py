"""What a failed call to a hosted model means: worth another try, or one that can never succeed."""

from __future__ import annotations

import json
import logging
from typing import Any

from hardwon.errors import HardwonError, ModelError, ModelRefused
from hardwon.models.providers import Endpoint

logging.getLogger("stamina").addHandler(logging.NullHandler())
"""Retries are counted in the usage; a program that has set up no logging is not to print a line for each."""

_LONGEST_WAIT = 120.0
"""Seconds; a provider that asks for a longer pause than this is not waited for."""

_PASSING = (408, 409, 425, 429)
_SHOWN = 300


class PassingFailure(ModelError):
    """A failure that may pass: rate limit, time-out, dropped connection, 5xx, rubbish reply.

    `retry_after` is the pause in seconds that the provider asked for, None if it asked for none.
    """

    def __init__(self, message: str, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


def classify(error: Exception, name: str, endpoint: Endpoint) -> HardwonError:
    """The error to raise in place of a library's: PassingFailure, ModelError or ModelRefused, without the key."""
    from pydantic_ai import exceptions as ai

    status = error.status_code if isinstance(error, ai.ModelHTTPError) else None
    said = told_by(error, endpoint)
    if isinstance(error, ai.ModelAuthenticationError):
        # The provider's own words are left out: some repeat a part of the key.
        return ModelRefused(f"{name}: the key was refused ({status}); set {endpoint.key_variable} to a valid key")
    if isinstance(error, ai.ModelNotFoundError):
        return ModelRefused(
            f"{name}: no model {endpoint.model!r} at {endpoint.address} ({status}); mend the name or the address"
        )
    if isinstance(error, ai.ModelQuotaExceededError):
        return ModelRefused(f"{name}: the account's quota or credit is used up; top it up ({said})")
    if isinstance(error, ai.ModelContextWindowExceededError):
        return ModelRefused(f"{name}: the prompt is too long for the model; shorten it ({said})")
    wait = error.retry_after if isinstance(error, ai.ModelAPIError) else None
    if wait is not None and wait > _LONGEST_WAIT:
        return ModelError(f"{name}: the provider asks to wait {wait:.0f} s; resume the run then ({said})")
    if status is not None and status < 500 and status not in _PASSING:
        return ModelRefused(f"{name}: the request was refused ({status}): {said}")
    if isinstance(error, ai.ModelTimeoutError | ai.ModelRequestTimeout):
        return PassingFailure(f"{name}: no answer from {endpoint.address} in time", wait)
    if isinstance(error, ai.ModelConnectionError):
        reached = "could not be reached" if error.phase in ("connect", "pool") else "dropped the connection"
        return PassingFailure(f"{name}: {endpoint.address} {reached} ({said})", wait)
    if status is not None:
        return PassingFailure(f"{name}: the provider failed ({status}): {said}", wait)
    if isinstance(error, ai.ModelRequestRejectedError | ai.UserError):
        return ModelRefused(f"{name}: the request was refused: {said}")
    return PassingFailure(f"{name}: the reply makes no sense ({said})", wait)


def told_by(error: Exception, endpoint: Endpoint) -> str:
    """What the provider or the library said, on one line of bounded length, the key blotted out."""
    text = _message(getattr(error, "body", None)) or str(error) or type(error).__name__
    if endpoint.key:
        text = text.replace(endpoint.key, "***")
    text = " ".join(text.split())
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "…"


def _message(body: Any) -> str | None:
    """The message inside an error body, whose shapes differ by provider."""
    if isinstance(body, str):
        try:
            body = json.loads(body)
        except ValueError:
            return body or None
    while isinstance(body, dict):
        inner = body.get("error", body.get("message"))
        if isinstance(inner, str):
            return inner
        if not isinstance(inner, dict):
            return json.dumps(body, default=str)
        body = inner
    return None
