"""The plan as text: a table for reading at 80 columns, JSON for programs."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterator

from hardwon.runs.planning.estimate import Plan, Range
from hardwon.runs.planning.reach import Reach
from hardwon.runs.planning.rehearsal import Spent

_WIDTH = 80
_NAME = 26
_PAID = "all arms, shared calls once"


def as_json(plan: Plan) -> str:
    """Everything the table shows."""
    return json.dumps(plan.as_json(), indent=2, ensure_ascii=False, allow_nan=False)


def as_table(title: str, plan: Plan) -> str:
    """What each arm takes, what that rests on, and what the comparison can show."""
    size = f"{plan.tasks} tasks, {plan.seeds} seed{'s' * (plan.seeds > 1)}, at most {plan.budget} for each task and arm"
    lines = [*_wrapped(title), *_wrapped(size), ""]
    lines.append(f"{'':{_NAME}}  {'':8}{'calls':>8}{'tokens in':>10}{'out':>9}{'cost':>9}{'time':>8}".rstrip())
    for arm in plan.arms:
        lines += _range(arm.name, arm.takes)
    lines += ["", *_range(_PAID, plan.paid), ""]
    lines += _wrapped(
        "low and high bound each number by itself: every trial passes its visible checks, or none does and no attempt "
        "repeats an earlier one; replies of 1 token up to as many as a call may have. Short replies leave a budget of "
        "tokens room for more calls. An arm is charged as if it were alone; calls that arms have in common are paid "
        "once."
    )
    lines += ["", "Assumed:"]
    for said in plan.assumed:
        lines += textwrap.wrap(said, _WIDTH, initial_indent="- ", subsequent_indent="  ")
    return "\n".join([*lines, "", *_shows(plan)])


def _range(name: str, takes: Range) -> Iterator[str]:
    """Three lines; a name that is too long has one of its own."""
    shown = name
    if len(name) > _NAME:
        yield name
        shown = ""
    for case, spent in (("low", takes.low), ("expected", takes.expected), ("high", takes.high)):
        yield f"{shown:{_NAME}}  {case:8}{_cells(spent)}"
        shown = ""


def _cells(spent: Spent) -> str:
    cells = (
        _count(spent.calls),
        _count(spent.tokens_in),
        _count(spent.tokens_out),
        _usd(spent.usd),
        _time(spent.seconds),
    )
    return "".join(f"{cell:>{width}}" for cell, width in zip(cells, (8, 10, 9, 9, 8), strict=True))


def _shows(plan: Plan) -> Iterator[str]:
    points = f"{100 * plan.difference:g} points"
    yield from _wrapped(f"To show a difference of {points} with power {plan.power:.0%} (paired, two-sided, 5 %):")
    if plan.reach and plan.reach[0].arm is None:
        yield f"{'tasks that differ':24}{f'{plan.tasks:,} tasks show':24}{points} need"
        for row in plan.reach:
            share = f"{row.share:.0%}{' (worst case)' if row.share == 1 else ''}"
            yield f"  {share:22}{_at_least(row):24}{row.tasks:,} tasks"
        yield from _wrapped("A pilot that compares these arms says how many tasks differ, and what more seeds bring.")
        return
    for row in plan.reach:
        yield from textwrap.wrap(
            _said(row, plan), _WIDTH, initial_indent="- ", subsequent_indent="  ", break_on_hyphens=False
        )


def _said(row: Reach, plan: Plan) -> str:
    against = f"{row.arm} against {plan.arms[0].name}"
    if row.shows is None or row.tasks is None:
        return f"{against}: the pilot has no pair of rows that differ, which says nothing of a larger run"
    each = f"{plan.seeds} seed{'s' * (plan.seeds > 1)}"
    if row.tasks <= plan.tasks:
        return f"{against}: {row.tasks:,} tasks at {each}; these {plan.tasks:,} are enough"
    short = f"{plan.tasks:,} tasks at {each} show differences of {_at_least(row)}"
    more = f"{row.tasks:,} tasks at {each}"
    if row.seeds is not None:
        return f"{against}: {more}, or {row.seeds} seeds on these tasks; {short}"
    return f"{against}: {more}; the suite is too small: {short}"


def _at_least(row: Reach) -> str:
    return f"{100 * (row.shows or 0):.1f} points or more"


def _wrapped(text: str) -> list[str]:
    return textwrap.wrap(text, _WIDTH, break_on_hyphens=False)


def _count(value: float) -> str:
    for size, unit in ((1e9, "G"), (1e6, "M")):
        if value >= size * 10:
            return f"{value / size:.1f}{unit}"
    return f"{value / 1000:.0f}k" if value >= 1e5 else f"{value:,.0f}"


def _usd(value: float | None) -> str:
    if value is None:
        return "?"
    return "$0" if value == 0 else f"${value:.4f}" if value < 0.1 else f"${value:,.2f}"


def _time(seconds: float | None) -> str:
    if seconds is None:
        return "?"
    if seconds < 99.5:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5970 else f"{seconds / 3600:.1f} h"
