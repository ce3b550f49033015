"""What an evaluator is attacked with."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

Kind = Literal["trivial", "always-equal", "early-exit", "hard-coded", "mutant"]
"""`mutant` is a known solution with one change, which may be harmless; the other kinds do not try to solve the task."""

KINDS: tuple[Kind, ...] = ("trivial", "always-equal", "early-exit", "hard-coded", "mutant")


@dataclass(frozen=True, slots=True)
class Attack:
    """A program that should not pass.

    `gives` is what it gives back whatever the input, as Python source, or `FIRST_ARGUMENT`; None where that can not be
    said. It serves to see whether the known solution does no more than that.
    """

    kind: Kind
    name: str
    program: str
    gives: str | None = None


FIRST_ARGUMENT = "its input"


def answers(attacks: Iterable[Attack]) -> int:
    """How many different constant answers the attacks give; values that are equal to each other count once."""
    found: list[object] = []
    for attack in attacks:
        if attack.gives is None or attack.gives == FIRST_ARGUMENT:
            continue
        try:
            value: object = ast.literal_eval(attack.gives)
        except (ValueError, SyntaxError):
            value = attack.gives  # what a program prints
        if value not in found:
            found.append(value)
    return len(found)
