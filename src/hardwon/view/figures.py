"""How numbers and times are written on pages, and the small pictures drawn on the server."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from hardwon.runs.comparison import Comparison
from hardwon.runs.comparison.chart import Chart, chart
from hardwon.runs.comparison.curve import curve_unit, curves
from hardwon.runs.comparison.result import ArmResult, Spending
from hardwon.statistics import wilson
from hardwon.view.rows import OUTCOMES, Outcome, Rows

_NOTHING = Spending(None, None, (None, None), 0.0, None)


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a bar: what it stands for, where it begins and how wide it is, in percent."""

    name: str
    count: float
    x: float
    width: float


def bar(counts: Sequence[tuple[str, float]], whole: float | None = None) -> list[Part]:
    """The parts of a bar of 100 units; `whole` is what all of it stands for (None: the sum of the parts)."""
    total = whole or sum(count for _, count in counts)
    parts: list[Part] = []
    x = 0.0
    for name, count in counts:
        if count > 0 and total:
            width = 100 * count / total
            parts.append(Part(name, count, round(x, 3), round(width, 3)))
            x += width
    return parts


def outcome_bar(counts: dict[Outcome, int], whole: int | None = None) -> list[Part]:
    return bar([(name, counts.get(name, 0)) for name in OUTCOMES], whole)


def run_chart(rows: Rows, arms: Sequence[str], config: dict[str, Any]) -> Chart | None:
    """Each arm's solve rate by budget, with its interval at the full budget; None before anything is graded.

    Rates of several seeds are taken together as they are: the comparison's page has the clustered intervals.
    """
    graded = [row for row in rows.all if row.solved is not None]
    if not graded:
        return None
    limits = {name: limit for name, limit in config["settings"].get("budget", {}).items() if limit is not None}
    unit = curve_unit(limits, rows.all)
    by_arm = {arm: [row for row in graded if row.arm == arm] for arm in arms}
    by_arm = {arm: found for arm, found in by_arm.items() if found}
    drawn = curves(by_arm, unit, limits.get(unit))
    measured = []
    for arm, found in by_arm.items():
        solved = sum(row.solved is True for row in found)
        feedback = {row.feedback: 1 for row in found}
        measured.append(
            ArmResult(
                arm=arm,
                tasks=len(found),
                seeds=len({row.seed for row in found}),
                rows=len(found),
                graded=len(found),
                errors=0,
                solved=solved,
                rate=solved / len(found),
                se=None,
                interval=wilson(solved, len(found)),
                calls=_NOTHING,
                tokens=_NOTHING,
                usd=None,
                unspent=None,
                curve=drawn[arm],
                pass_at={},
                feedback={str(source): n for source, n in feedback.items()},
                graded_on={},
                votes=sum(row.votes for row in found),
            )
        )
    return chart(Comparison(measured[0].arm, limits, unit, limits.get(unit), 0.95, tuple(measured), (), ()))


def count(value: float | None) -> str:
    return "-" if value is None else f"{value:,.0f}"


def short(value: float | None) -> str:
    """A number of tokens in little room."""
    if value is None:
        return "-"
    if value < 10_000:
        return f"{value:,.0f}"
    return f"{value / 1000:,.0f} k" if value < 10_000_000 else f"{value / 1e6:,.1f} M"


def dollars(value: float | None) -> str:
    """Unknown is `?` (law 9)."""
    if value is None:
        return "?"
    return "$0" if value == 0 else f"${value:.4f}" if value < 1 else f"${value:,.2f}"


def seconds(value: float | None) -> str:
    if value is None:
        return "-"
    if value < 10:
        return f"{value:.1f} s"
    if value < 90:
        return f"{value:.0f} s"
    if value < 5400:
        return f"{value / 60:.0f} min"
    return f"{value / 3600:.1f} h" if value < 2 * 86400 else f"{value / 86400:.0f} days"


def ago(at: float) -> str:
    return f"{seconds(max(0.0, time.time() - at))} ago"


def percent(share: float | None) -> str:
    return "-" if share is None else f"{share:.1%}"
