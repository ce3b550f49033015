"""How values and program lines are shown in a check: short, bounded in time, never touching an opaque value."""

from __future__ import annotations

import reprlib
from typing import Any

from .standins import describe

SHOWN = 200
CALL = 300


class _Shown(reprlib.Repr):
    """A repr whose cost is bounded by what is shown, not by the value."""

    def __init__(self) -> None:
        super().__init__()
        self.maxlevel = 8
        self.maxtuple = self.maxlist = self.maxset = self.maxfrozenset = self.maxdeque = self.maxdict = 60
        self.maxstring = self.maxother = SHOWN

    def repr1(self, x: Any, level: int) -> str:
        return describe(x) or super().repr1(x, level)

    def repr_int(self, x: int, level: int) -> str:
        if x.bit_length() > 2000:  # a decimal form costs quadratic time and is refused beyond 4300 digits
            return f"<an int of {x.bit_length()} bits>"
        return repr(x)


_shown = _Shown()
_QUICK = frozenset({bool, float, type(None)})
_LARGE = 1 << 256


def _quick(value: Any) -> bool:
    """Whether the built-in repr is sure to be fast."""
    kind = type(value)
    if kind is int:
        return bool(-_LARGE < value < _LARGE)
    return kind in _QUICK or (kind is str and len(value) <= SHOWN)


def show(value: Any) -> str:
    """The value's repr, cut to `SHOWN` characters."""
    kind = type(value)
    if _quick(value) or (kind in (list, tuple) and len(value) <= 60 and all(map(_quick, value))):
        return cut(repr(value), SHOWN)
    return cut(_shown.repr(value), SHOWN)


def cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[: limit - 1] + "…"


def shown_line(source: str, number: int) -> str:
    """` (line 3: return x)` for a line of `source`, empty for line 0."""
    if number < 1:
        return ""
    rows = source.splitlines()
    return f" (line {number}: {rows[number - 1].strip()[:120]})" if number <= len(rows) else f" (line {number})"
