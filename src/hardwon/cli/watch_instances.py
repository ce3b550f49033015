"""The table of a batch over repositories: a line for each instance in work, as far as the terminal has room."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from rich.cells import cell_len, set_cell_size

from hardwon.cli.plain import one_line
from hardwon.runs.instances import Instance, Standing
from hardwon.runs.stages import Stage

_GAP = "  "
_LEAST = 12
"""Columns that the name of an instance has at least; before it has fewer, other columns go."""
_COLUMNS = ("stage", "trial", "step", "cost", "time")
_GOES_FIRST = ("trial", "time", "cost", "stage", "step")
_BRIEF: dict[Stage, str] = {"workspace ready": "ready", "lessons induced": "induced"}
"""How stages are called where there is little room."""


def instance_table(standing: Standing, width: int, height: int) -> list[str]:
    """The table in at most `height` lines of at most `width` columns: a summary, a header, and those longest in work.

    Where not all fit the last line says how many more there are.
    """
    lines = textwrap.wrap(summary(standing), width)[: max(1, height - 2)]
    room = max(1, height - len(lines) - 1)
    shown = standing.working[: room if len(standing.working) <= room else room - 1]
    if shown:
        lines += _rows(shown, width)
    if more := len(standing.working) - len(shown):
        lines.append(f"and {more} more in work"[:width])
    return [line.rstrip() for line in lines[:height]]


def summary(standing: Standing) -> str:
    """How many are done, in work and waiting, and what all have taken, in one line."""
    outcomes = (
        ("solved", standing.solved),
        ("not solved", standing.unsolved),
        ("not graded", standing.ungraded),
        ("errors" if standing.errors != 1 else "error", standing.errors),
    )
    said = ", ".join(f"{count} {name}" for name, count in outcomes if count)
    parts = [f"{standing.finished} of {standing.total} finished" + (f" ({said})" if said else "")]
    parts += [f"{len(standing.working)} in work", f"{standing.waiting} waiting", f"{_short(standing.tokens)} tokens"]
    if standing.cost_usd != 0:
        parts.append("$?" if standing.cost_usd is None else f"${standing.cost_usd:.2f}")
    return " · ".join(parts)


def _rows(shown: Sequence[Instance], width: int) -> list[str]:
    """The header and a line for each; with little room stages have short names, then columns go."""
    several = len({each.key.arm for each in shown}) > 1
    names = ["instance", *(_name(each, several) for each in shown)]
    longest = max(map(cell_len, names))
    wanted = min(longest, max(_LEAST, width // 3))
    header = {column: column for column in _COLUMNS}
    columns = list(_COLUMNS)
    table = [header, *(_cells(each, brief=False) for each in shown)]
    if wanted + _taken(table, columns) > width:
        table = [header, *(_cells(each, brief=True) for each in shown)]
    for column in _GOES_FIRST:
        if wanted + _taken(table, columns) > width:
            columns.remove(column)
    first = min(longest, width - _taken(table, columns))
    widths = _widths(table, columns)
    return [
        _fitted(name, first) + "".join(_GAP + _set(row[column], column, widths[column]) for column in columns)
        for name, row in zip(names, table, strict=True)
    ]


def _widths(table: Sequence[dict[str, str]], columns: Sequence[str]) -> dict[str, int]:
    return {column: max(len(row[column]) for row in table) for column in columns}


def _taken(table: Sequence[dict[str, str]], columns: Sequence[str]) -> int:
    """What the columns beside the first take."""
    return sum(len(_GAP) + width for width in _widths(table, columns).values())


def _cells(instance: Instance, *, brief: bool) -> dict[str, str]:
    cost, stage = instance.cost_usd, instance.stage
    paid = f"{_short(instance.tokens)} tok" if not cost else f"${cost:.4f}" if cost < 1 else f"${cost:,.2f}"
    return {
        "stage": _BRIEF.get(stage, stage) if brief else stage,
        "trial": str(instance.trial or "-"),
        "step": str(instance.step or "-"),
        "cost": paid,
        "time": _clock(instance.seconds),
    }


def _name(instance: Instance, arms: bool) -> str:
    name = one_line(instance.key.task_id, 200)
    return f"{name} · {one_line(instance.key.arm, 40)} · seed {instance.key.seed}" if arms else name


def _set(text: str, column: str, width: int) -> str:
    return text.ljust(width) if column == "stage" else text.rjust(width)


def _fitted(text: str, width: int) -> str:
    """The text in exactly so many columns; of one that is too long the end is kept, where names differ."""
    if cell_len(text) <= width:
        return set_cell_size(text, width)
    if width < 2:
        return "…"[:width]
    while cell_len(text) > width - 1:
        text = text[1:]
    return set_cell_size(f"…{text}", width)


def _short(tokens: int) -> str:
    if tokens < 10_000:
        return f"{tokens:,}"
    return f"{tokens / 1000:,.0f}k" if tokens < 10_000_000 else f"{tokens / 1e6:,.1f}M"


def _clock(seconds: float) -> str:
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
