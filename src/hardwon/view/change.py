"""What changed from one text to the next, line by line."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Literal

_LINES = 1500
_CONTEXT = 3


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a difference; `gap` stands for lines that are the same and left out."""

    kind: Literal["same", "gone", "new", "gap"]
    text: str


def changes(before: str, after: str) -> list[Line]:
    """The lines that went and came, with a few of those around them; empty where nothing changed."""
    old, new = before.splitlines()[:_LINES], after.splitlines()[:_LINES]
    found: list[Line] = []
    end = 0
    for group in SequenceMatcher(None, old, new, autojunk=False).get_grouped_opcodes(_CONTEXT):
        if group[0][1] > end:
            found.append(_gap(group[0][1] - end))
        for tag, old_start, old_end, new_start, new_end in group:
            if tag == "equal":
                found += [Line("same", line) for line in old[old_start:old_end]]
                continue
            found += [Line("gone", line) for line in old[old_start:old_end]]
            found += [Line("new", line) for line in new[new_start:new_end]]
        end = group[-1][2]
    if found and end < len(old):
        found.append(_gap(len(old) - end))
    return found


def _gap(lines: int) -> Line:
    return Line("gap", f"{lines} line{'s' if lines != 1 else ''} the same")
