"""Embedders by name."""

from __future__ import annotations

from hardwon.errors import UsageError
from hardwon.memory.bank.embedding import Embedder, MiniLM, present

FORMS = "auto, minilm, none, openai:MODEL, ollama:MODEL or http://HOST:PORT/v1#MODEL"
"""The valid names, for messages and help texts."""


def open_embedder(name: str | None) -> Embedder | None:
    """The embedder of that name; None for `none`, which leaves words alone.

    `auto` (or None) is MiniLM where its files are there already, else `none`. Raises UsageError for an unknown name, a
    missing key or extra, ModelError where MiniLM's files can not be had.
    """
    if name in ("none", "auto", None):
        return MiniLM() if name != "none" and present() else None
    if name == "minilm":
        return MiniLM()
    from hardwon.memory.bank.hosted import KINDS, HostedEmbedder

    kind, colon, model = name.partition(":")
    if name.startswith(("http://", "https://")) or (kind in KINDS and colon and model):
        return HostedEmbedder(name)
    raise UsageError(f"--embedder {name}: unknown; choose {FORMS}")
