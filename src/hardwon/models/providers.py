"""Names of hosted models, and the clients that speak to them; the provider libraries are imported when needed."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from hardwon.errors import UsageError

if TYPE_CHECKING:
    from pydantic_ai.models import Model as Client

_KEYS = {
    "openai": ("OPENAI_API_KEY",),
    "anthropic": ("ANTHROPIC_API_KEY",),
    "google": ("GOOGLE_API_KEY", "GEMINI_API_KEY"),
    "ollama": ("OLLAMA_API_KEY",),
    "url": ("HARDWON_API_KEY",),
}
_KEY_NEEDED = ("openai", "anthropic", "google")
_ADDRESSES = {
    "openai": ("OPENAI_BASE_URL", "https://api.openai.com/v1"),
    "anthropic": ("ANTHROPIC_BASE_URL", "https://api.anthropic.com"),
    "google": ("GOOGLE_BASE_URL", "https://generativelanguage.googleapis.com"),
    "ollama": ("OLLAMA_BASE_URL", "http://localhost:11434/v1"),
}
_CONNECT_SECONDS = 10.0
_NO_TAG = "\0no such tag\0"
"""A tag that no reply holds: the library would cut `<think>` out of a program's own text, and lose an unclosed one."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where a model is reached: the kind of provider, the model's name there, the address and the key.

    `key_variable` is the environment variable that the key comes from. The key is never shown.
    """

    kind: str
    model: str
    address: str
    key_variable: str
    key: str | None = field(default=None, repr=False)


def endpoint_named(name: str) -> Endpoint:
    """Reads `openai:MODEL`, `anthropic:…`, `google:…`, `ollama:…` or `http(s)://HOST/v1#MODEL`.

    Keys come from the provider's own environment variable, from `HARDWON_API_KEY` for a server given by address;
    `OPENAI_BASE_URL` and its like move a provider's address. Raises UsageError for a malformed name, or a key
    that is missing or unusable.
    """
    if "://" in name:
        kind, model, address = "url", *_read_address(name)
    else:
        kind, _, model = name.partition(":")
        variable, default = _ADDRESSES[kind]
        address = os.environ.get(variable) or default
    key_variable = next((v for v in _KEYS[kind] if os.environ.get(v)), _KEYS[kind][0])
    key = os.environ.get(key_variable, "").strip() or None
    if key is None and kind in _KEY_NEEDED:
        raise UsageError(f"{name}: no key; set {' or '.join(_KEYS[kind])}")
    if key is not None and not (key.isascii() and key.isprintable()):
        raise UsageError(f"{name}: {key_variable} holds characters that no key has; set it anew")
    return Endpoint(kind, model, address, key_variable, key)


def _read_address(name: str) -> tuple[str, str]:
    """The model and the address of `http://HOST:PORT/v1#MODEL`."""
    form = "want http://HOST:PORT/v1#MODEL"
    try:
        parts = urlsplit(name)
        if not parts.hostname or (parts.port is not None and not 0 < parts.port < 65536):
            raise ValueError
    except ValueError:
        raise UsageError(f"{name}: not an address; {form}") from None
    if parts.username or parts.password or parts.query:
        # Not repeated: what stands there may be a secret.
        raise UsageError(f"http://…@…: {form}; put a key into HARDWON_API_KEY, not into the address")
    if not parts.fragment:
        raise UsageError(f"{name}: names no model; {form}")
    return parts.fragment, f"{parts.scheme}://{parts.netloc}{parts.path}"


def connect(endpoint: Endpoint, name: str, timeout: float, parallel: int) -> tuple[Client, Any]:
    """The `pydantic-ai` model that speaks to `endpoint`, and its HTTP client, which the caller closes.

    `timeout` is seconds for each phase of a request. Raises UsageError where the extra is not installed.
    """
    try:
        import httpx2
        from pydantic_ai.models import create_async_httpx2_client

        http = create_async_httpx2_client(
            timeout=httpx2.Timeout(timeout, connect=min(timeout, _CONNECT_SECONDS)),
            limits=httpx2.Limits(max_connections=parallel, max_keepalive_connections=parallel),
        )
        return _client(endpoint, http), http
    except ImportError:
        raise UsageError(f'{name}: needs an extra; run: pip install "hardwon[hosted]"') from None


def _client(endpoint: Endpoint, http: Any) -> Client:
    key, address = endpoint.key, endpoint.address
    if endpoint.kind == "anthropic":
        from pydantic_ai.models.anthropic import AnthropicModel
        from pydantic_ai.providers.anthropic import AnthropicProvider

        return AnthropicModel(
            endpoint.model, provider=AnthropicProvider(api_key=key, base_url=address, http_client=http)
        )
    if endpoint.kind == "google":
        from pydantic_ai.models.google import GoogleModel
        from pydantic_ai.providers.google import GoogleProvider

        return GoogleModel(
            endpoint.model, provider=GoogleProvider(api_key=key or "", base_url=address, http_client=http)
        )
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.profiles.openai import OpenAIModelProfile

    if endpoint.kind == "openai":
        from pydantic_ai.providers.openai import OpenAIProvider

        return OpenAIChatModel(
            endpoint.model,
            provider=OpenAIProvider(base_url=address, api_key=key, http_client=http),
            profile=OpenAIModelProfile(thinking_tags=(_NO_TAG, _NO_TAG)),
        )
    # Servers other than OpenAI's own know the limit by its older name and ignore the newer one.
    older = OpenAIModelProfile(thinking_tags=(_NO_TAG, _NO_TAG), openai_chat_supports_max_completion_tokens=False)
    if endpoint.kind == "ollama":
        from pydantic_ai.models.ollama import OllamaModel
        from pydantic_ai.providers.ollama import OllamaProvider

        return OllamaModel(
            endpoint.model,
            provider=OllamaProvider(base_url=address, api_key=key, http_client=http),
            profile=older,
        )
    from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider

    return OpenAIChatModel(
        endpoint.model,
        provider=OpenAICompatibleProvider(
            "openai-compatible", base_url=address, api_key=key, http_client=http, profile=older
        ),
    )
