"""From what rows spent and handed in on the way to the solve rate at every budget."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence

from hardwon.runs.comparison.result import Curve, Unit
from hardwon.runs.row import Point, Row

_POINTS = 200
"""A curve is thinned to so many budgets."""

Step = tuple[float, int, int]
"""From this spending on: how many pairs are solved, of how many that are known."""


def curve_unit(budget: Mapping[str, float], rows: Sequence[Row]) -> Unit:
    """What the curves count: the first of tokens, calls and dollars that the budget limits, else tokens.

    Dollars only where every price is known (law 9).
    """
    priced = all(row.cost_usd is not None and all(p.cost_usd is not None for p in row.curve) for row in rows)
    if budget.get("tokens") is not None:
        return "tokens"
    if budget.get("calls") is not None:
        return "calls"
    return "usd" if budget.get("usd") is not None and priced else "tokens"


def spent(row: Row, unit: Unit) -> float:
    """All that a row spent. Its price has to be known where the unit is dollars."""
    if unit == "tokens":
        return row.tokens_in + row.tokens_out
    return row.calls if unit == "calls" else row.cost_usd or 0.0


def curves(arms: Mapping[str, Sequence[Row]], unit: Unit, limit: float | None) -> dict[str, Curve]:
    """One curve for each arm, all over the same budgets: 0, every spending at which any arm's outcome may change,
    and the limit, or the most that any row spent where that is more."""
    steps = {arm: _steps(rows, unit) for arm, rows in arms.items()}
    most = max((spent(row, unit) for rows in arms.values() for row in rows), default=0.0)
    budgets = {0.0, float(max(most, limit or 0.0))} | {at for found in steps.values() for at, _, _ in found}
    grid = sorted(budgets)
    return {arm: _curve(found, _thinned(grid), grid[-1], unit) for arm, found in steps.items()}


def _steps(rows: Sequence[Row], unit: Unit) -> list[Step]:
    graded = [row for row in rows if row.solved is not None]
    changes: dict[float, tuple[int, int]] = {}
    for row in graded:
        solved, known = 0, 1
        for at, outcome in _outcomes(row, unit):
            now_solved, now_known = int(outcome is True), int(outcome is not None)
            by_solved, by_known = changes.get(at, (0, 0))
            changes[at] = (by_solved + now_solved - solved, by_known + now_known - known)
            solved, known = now_solved, now_known
    steps = [(0.0, 0, len(graded))]
    for at in sorted(changes):
        _, solved, known = steps[-1]
        steps.append((at, solved + changes[at][0], known + changes[at][1]))
    return steps


def _outcomes(row: Row, unit: Unit) -> list[tuple[float, bool | None]]:
    """What the row would have come to from each spending on; unsolved below the first."""
    if not row.curve:
        return [(spent(row, unit), row.solved)]
    return [(_at(point, unit), point.solved) for point in row.curve]


def _at(point: Point, unit: Unit) -> float:
    if unit == "tokens":
        return point.tokens
    return point.calls if unit == "calls" else point.cost_usd or 0.0


def _curve(steps: Sequence[Step], grid: Sequence[float], end: float, unit: Unit) -> Curve:
    starts = [at for at, _, _ in steps]
    held = [steps[bisect_right(starts, at) - 1] for at in grid]
    rates = tuple(solved / known if known else None for _, solved, known in held)
    return Curve(unit, tuple(grid), rates, tuple(known for _, _, known in held), _area(steps, end))


def _area(steps: Sequence[Step], end: float) -> float | None:
    """The mean rate from 0 to `end`, over the budgets at which any pair is known."""
    ends = [at for at, _, _ in steps[1:]] + [end]
    parts = [(until - at, solved / known) for (at, solved, known), until in zip(steps, ends, strict=True) if known]
    width = sum(w for w, _ in parts)
    return sum(w * rate for w, rate in parts) / width if width else None


def _thinned(grid: Sequence[float]) -> list[float]:
    if len(grid) <= _POINTS:
        return list(grid)
    last = len(grid) - 1
    return [grid[round(i * last / (_POINTS - 1))] for i in range(_POINTS)]
