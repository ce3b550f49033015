"""Makes text that a model or a program wrote safe to show in a terminal."""

from __future__ import annotations

import unicodedata

_BIDIRECTIONAL = set("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f\u061c")


def printable(text: str, longest: int | None = None) -> str:
    """`text` without control characters, terminal codes, direction marks and signs that no one sees.

    Cut to `longest` characters.
    """
    safe = "".join(map(_shown, text))
    if longest is not None and len(safe) > longest:
        return safe[: longest - 1] + "…"
    return safe


def one_line(text: str, longest: int = 160) -> str:
    """The same on a single line."""
    return printable(" ".join(text.split()), longest)


def _shown(character: str) -> str:
    """The character, a mark in place of one that would do something, or nothing for one without a form (Cf)."""
    if character in "\n\t":
        return character
    category = unicodedata.category(character)
    if category in ("Cc", "Cs") or character in _BIDIRECTIONAL:
        return "\ufffd"
    return "" if category == "Cf" else character
