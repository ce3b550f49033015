"""Makes text that a model or a program wrote safe to show in a terminal."""

from __future__ import annotations

import unicodedata

_BIDIRECTIONAL = set("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f\u061c")


def printable(text: str, longest: int | None = None) -> str:
    """`text` without control characters, terminal codes and direction marks; cut to `longest` characters."""
    safe = "".join(c if _harmless(c) else "\ufffd" for c in text)
    if longest is not None and len(safe) > longest:
        return safe[: longest - 1] + "…"
    return safe


def one_line(text: str, longest: int = 160) -> str:
    """The same on a single line."""
    return printable(" ".join(text.split()), longest)


def _harmless(character: str) -> bool:
    if character in "\n\t":
        return True
    return unicodedata.category(character) not in ("Cc", "Cs") and character not in _BIDIRECTIONAL
