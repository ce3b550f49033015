"""The geometry of the chart of solve rates by budget, for the page; and the colours that both pictures use."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from hardwon.runs.comparison.cells import rated
from hardwon.runs.comparison.result import ArmResult, Comparison, Unit

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#808080")
"""Told apart by colour-blind eyes (Okabe and Ito 2008); with more arms they repeat, with other dashes."""
DASHES = ((), (6, 3), (2, 2), (8, 3, 2, 3))
AXIS: dict[Unit, str] = {
    "tokens": "tokens spent on each task",
    "calls": "model calls spent on each task",
    "usd": "dollars spent on each task",
}
WIDTH, HEIGHT = 760, 400
_LEFT, _RIGHT, _TOP, _BOTTOM, _BAR = 56, 12, 12, 48, 14


@dataclass(frozen=True, slots=True)
class Tick:
    """A mark on an axis: where, in the picture's units, and what is written there."""

    at: float
    label: str


@dataclass(frozen=True, slots=True)
class Line:
    """An arm's steps as an SVG path, and its interval at the full budget as a bar from `low` to `high` at `x`."""

    arm: str
    label: str
    colour: int
    dashes: str
    path: str
    x: float
    y: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Chart:
    """All that the page's picture is drawn from. The plot reaches from `left`, `top` to `right`, `bottom`."""

    left: float
    right: float
    top: float
    bottom: float
    x_ticks: tuple[Tick, ...]
    y_ticks: tuple[Tick, ...]
    lines: tuple[Line, ...]
    axis: str
    limit: float | None


def chart(comparison: Comparison) -> Chart:
    """Lays the curves out in a picture of WIDTH by HEIGHT; the interval bars stand beside the plot, at its right."""
    arms = comparison.arms
    right = WIDTH - _RIGHT - _BAR * (len(arms) + 1)
    bottom = HEIGHT - _BOTTOM
    end = max((arm.curve.at[-1] for arm in arms), default=0.0) or 1.0
    top_rate = ceiling(arms)

    def x(value: float) -> float:
        return round(_LEFT + (right - _LEFT) * value / end, 2)

    def y(rate: float) -> float:
        return round(bottom - (bottom - _TOP) * min(rate, top_rate) / top_rate, 2)

    lines = tuple(
        Line(
            arm=arm.arm,
            label=rated(arm),
            colour=i % len(COLOURS),
            dashes=" ".join(map(str, dashes(i))),
            path=_path([(x(at), None if rate is None else y(rate)) for at, rate in steps(arm)]),
            x=right + _BAR * (i + 1),
            y=y(arm.rate or 0.0),
            low=y(arm.interval[0]),
            high=y(arm.interval[1]),
        )
        for i, arm in enumerate(arms)
    )
    return Chart(
        left=_LEFT,
        right=right,
        top=_TOP,
        bottom=bottom,
        x_ticks=tuple(Tick(x(at), f"{at:,.15g}") for at in ticks(end)),
        y_ticks=tuple(Tick(y(at), f"{at:.0%}") for at in ticks(top_rate)),
        lines=lines,
        axis=AXIS[comparison.unit],
        limit=x(comparison.limit) if comparison.limit else None,
    )


def steps(arm: ArmResult) -> list[tuple[float, float | None]]:
    """The curve's budgets and rates, without those that repeat the one before, and always with the last."""
    points = list(zip(arm.curve.at, arm.curve.rate, strict=True))
    inner = [point for before, point in pairwise(points[:-1]) if point[1] != before[1]]
    return [points[0], *inner, points[-1]] if len(points) > 1 else points


def ceiling(arms: Sequence[ArmResult]) -> float:
    """The top of the rate's axis: the highest end of an interval, up to the next tenth."""
    reached = [arm.interval[1] for arm in arms] + [r for arm in arms for r in arm.curve.rate if r is not None]
    return min(1.0, max(0.1, math.ceil(max(reached, default=1.0) * 10 - 1e-9) / 10))


def dashes(index: int) -> tuple[int, ...]:
    return DASHES[(2 * (index // len(COLOURS)) + index) % len(DASHES)]


def ticks(end: float) -> list[float]:
    """From 0 to at most `end` > 0, in steps of 1, 2 or 5 times a power of ten, seven at most."""
    power = 10.0 ** math.floor(math.log10(end / 6))
    step = next(power * m for m in (1, 2, 5, 10, 20) if end / (power * m) <= 6 + 1e-9)
    return [round(i * step, 12) for i in range(int(end / step + 1e-9) + 1)]


def _path(points: Sequence[tuple[float, float | None]]) -> str:
    """Steps that hold each height up to the next point; broken where nothing is known."""
    parts: list[str] = []
    held: float | None = None
    for x, y in points:
        if held is not None:
            parts.append(f"H{x:g}")
        if y is not None and y != held:
            parts.append(f"V{y:g}" if held is not None else f"M{x:g} {y:g}")
        held = y
    return "".join(parts)
