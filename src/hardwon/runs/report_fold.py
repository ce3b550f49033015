"""Tables in little room: what does not fit beside each other stands below each other, and no number is torn."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

_LEAST = 24
"""Where fewer columns than this are left for a value, it stands below its label."""
_INDENT = "  "


def fold(text: str, width: int | None, indent: str = _INDENT) -> list[str]:
    """The text in lines of at most `width` columns (None: in one), those after the first behind `indent`."""
    if width is None:
        return [text]
    room = max(width, len(indent) + 1)
    return textwrap.wrap(text, room, subsequent_indent=indent, break_on_hyphens=False) or [""]


def pairs(found: Sequence[tuple[str, str]], width: int | None) -> list[str]:
    """Labels and their values, a line each; a value that is too long goes on below itself, or below its label."""
    longest = max((len(label) for label, _ in found), default=0)
    beside = longest + len(_INDENT)
    lines: list[str] = []
    for label, value in found:
        whole = f"{label.ljust(longest)}{_INDENT}{value}".rstrip()
        if width is None or len(whole) <= width:
            lines.append(whole)
        elif width - beside >= _LEAST:
            first, *rest = fold(value, width - beside, "")
            lines += [f"{label.ljust(longest)}{_INDENT}{first}", *(f"{'':{beside}}{line}" for line in rest)]
        else:
            lines += fold(label, width)
            lines += [f"{_INDENT}{line}" for line in fold(value, max(1, width - len(_INDENT)), "")]
    return lines


def table(header: Sequence[str], rows: Sequence[Sequence[str]], width: int | None) -> list[str]:
    """A table, its first column to the left; where it is wider than `width`, each row is a block of labelled values."""
    everything = [header, *rows]
    widths = [max(len(line[column]) for line in everything) for column in range(len(header))]
    if width is None or sum(widths) + len(_INDENT) * (len(widths) - 1) <= width:
        return [_aligned(line, widths) for line in everything]
    lines = []
    for first, *rest in rows:
        lines += fold(first, width)
        values = zip(header[1:], rest, strict=True)
        lines += [f"{_INDENT}{line}" for line in pairs(list(values), max(1, width - len(_INDENT)))]
    return lines


def _aligned(cells: Sequence[str], widths: Sequence[int]) -> str:
    first, *rest = zip(cells, widths, strict=True)
    return _INDENT.join([first[0].ljust(first[1]), *(cell.rjust(width) for cell, width in rest)]).rstrip()
