"""Makes text that a model or a program wrote safe and honest to show: nothing in it moves the words around it."""

from __future__ import annotations

import re

LONGEST = 60_000
"""A text is cut to so many characters on a page; the journal has all of it."""

_LETTERS = {code: chr(0x2400 + code) for code in range(0x20) if chr(code) not in "\n\t"}
_DELETE = {0x7F: "\u2421", **{code: f"‹{code:02X}›" for code in range(0x80, 0xA0)}}
_MARKS = {
    code: f"‹{code:04X}›"
    for code in (*range(0x202A, 0x202F), *range(0x2066, 0x206A), 0x200E, 0x200F, 0x061C, 0x2028, 0x2029, 0xFEFF)
}
_SHOWN = _LETTERS | _DELETE | _MARKS | dict.fromkeys(range(0xD800, 0xE000), "\ufffd")
_KEY = re.compile(
    r"\b(?:sk-[A-Za-z0-9_-]{20,}|AIza[A-Za-z0-9_-]{35}|(?:gsk|hf)_[A-Za-z0-9]{30,}|xai-[A-Za-z0-9]{40,}"
    r"|gh[pousr]_[A-Za-z0-9]{30,}|github_pat_[A-Za-z0-9_]{30,}|AKIA[A-Z0-9]{16}|glpat-[A-Za-z0-9_-]{20,})"
)
"""Keys of model providers, code hosts and clouds, which an error message or a program may quote."""
_SHORTEST_KEY = 20

_PASSWORD = re.compile(r"(?<=://)[^/\s@\"]+(?=@)")


def without_passwords(text: str) -> str:
    """Settings as they may be shown: `http://name:password@host` loses what stands before the @."""
    return _PASSWORD.sub("‹key›", text)


def shown(text: str) -> str:
    """`text` with control characters, terminal codes and direction marks made visible, and as valid Unicode.

    What looks like a provider's key is left out.
    """
    text = _KEY.sub("‹key›", text.replace("\r\n", "\n")) if len(text) >= _SHORTEST_KEY else text
    return text if text.isascii() and text.isprintable() else text.translate(_SHOWN)


def cut(text: str, longest: int = LONGEST) -> str:
    """`text`, or its beginning with a last line that says how much more there is."""
    if len(text) <= longest:
        return text
    return f"{text[:longest]}\n… {len(text) - longest:,} characters more, in the journal"
