"""Measures every arm, and each beside the baseline."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from hardwon.errors import UsageError
from hardwon.runs.comparison.curve import curve_unit, curves, spent
from hardwon.runs.comparison.pairing import differences, paired
from hardwon.runs.comparison.resampling import bootstrap_difference, bootstrap_ratio
from hardwon.runs.comparison.result import ArmResult, Comparison, Curve, Difference, Spending, Unit
from hardwon.runs.comparison.verdict import judged, remarks
from hardwon.runs.row import Row
from hardwon.statistics import clustered_rate_interval, clustered_se, holm, mcnemar, pass_at_k, sign_flip


@dataclass(frozen=True, slots=True)
class _Drawing:
    """How intervals are drawn."""

    confidence: float
    resamples: int
    seed: int

    def options(self) -> dict[str, Any]:
        return {"confidence": self.confidence, "resamples": self.resamples, "seed": self.seed}


def compare(
    rows: Sequence[Row],
    baseline: str,
    budget: Mapping[str, float | None],
    *,
    confidence: float = 0.95,
    resamples: int = 10_000,
    seed: int = 0,
) -> Comparison:
    """Compares the arms that `rows` hold, each beside the one named `baseline`.

    `budget` is the limit of one task in one arm, as `settings.budget` has it (None: no such limit). Only pairs of task
    and seed that are graded in both arms enter a difference. Equal rows and settings give equal numbers. Raises
    UsageError when the baseline has no rows.
    """
    arms: dict[str, list[Row]] = {}
    for row in rows:
        arms.setdefault(row.arm, []).append(row)
    if baseline not in arms:
        raise UsageError(
            f"--baseline {baseline}: no such arm in this run; the arms are {', '.join(arms) or 'none yet'}"
        )
    arms = {baseline: arms.pop(baseline), **arms}
    limits = {name: limit for name, limit in budget.items() if limit is not None}
    unit = curve_unit(limits, rows)
    limit = limits.get(unit)
    drawing = _Drawing(confidence, resamples, seed)
    drawn = curves(arms, unit, limit)
    measured = tuple(_arm(arm, found, drawn[arm], limit, limits.get("tokens"), drawing) for arm, found in arms.items())
    compared = _adjusted([_difference(rows, arm, baseline, unit, drawing) for arm in arms if arm != baseline], drawing)
    comparison = Comparison(baseline, limits, unit, limit, confidence, measured, compared, ())
    return replace(comparison, remarks=remarks(comparison))


def _arm(
    arm: str, rows: Sequence[Row], curve: Curve, limit: float | None, tokens: float | None, drawing: _Drawing
) -> ArmResult:
    graded = [row for row in rows if row.solved is not None]
    solved = [bool(row.solved) for row in graded]
    tasks = [row.task_id for row in graded]
    priced = all(row.cost_usd is not None for row in rows)
    over = [int(above) for row in rows if tokens is not None and (above := spent(row, "tokens") - tokens) > 0]
    left = [1 - spent(row, curve.unit) / limit for row in graded] if limit else []
    return ArmResult(
        arm=arm,
        tasks=len({row.task_id for row in rows}),
        seeds=len({row.seed for row in rows}),
        rows=len(rows),
        graded=len(graded),
        errors=sum(row.error is not None for row in rows),
        solved=sum(solved),
        rate=sum(solved) / len(solved) if solved else None,
        se=clustered_se([float(s) for s in solved], tasks),
        interval=clustered_rate_interval(solved, tasks, drawing.confidence),
        calls=_spending(rows, "calls", drawing),
        tokens=_spending(rows, "tokens", drawing),
        usd=_spending(rows, "usd", drawing) if priced else None,
        unspent=max(0.0, sum(left) / len(left)) if left else None,
        curve=curve,
        pass_at=_pass_at(graded),
        feedback=dict(sorted(Counter(row.feedback for row in rows).items())),
        graded_on=dict(sorted(Counter(row.graded_on for row in rows).items())),
        votes=sum(row.votes for row in rows),
        over=len(over),
        most_over=max(over, default=0),
    )


def _spending(rows: Sequence[Row], unit: Unit, drawing: _Drawing) -> Spending:
    costs: dict[str, float] = {}
    wins: dict[str, int] = {}
    graded = [row for row in rows if row.solved is not None]
    for row in graded:
        costs[row.task_id] = costs.get(row.task_id, 0) + spent(row, unit)
        wins[row.task_id] = wins.get(row.task_id, 0) + (row.solved is True)
    cost, solved = sum(costs.values()), sum(wins.values())
    interval = (
        bootstrap_ratio(list(costs.values()), [wins[task] for task in costs], **drawing.options())
        if solved
        else (None, None)
    )
    shared = {"tokens": sum(row.tokens_shared for row in rows), "calls": sum(row.calls_shared for row in rows)}
    return Spending(
        mean=cost / len(graded) if graded else None,
        per_solved=cost / solved if solved else None,
        interval=interval,
        total=sum(spent(row, unit) for row in rows),
        shared=shared.get(unit),
    )


def _pass_at(graded: Sequence[Row]) -> dict[int, float]:
    """The mean of the unbiased pass@k over the tasks whose seeds are all graded; none for a single seed."""
    by_task: dict[str, list[bool]] = {}
    for row in graded:
        by_task.setdefault(row.task_id, []).append(bool(row.solved))
    n = len({row.seed for row in graded})
    whole = [sum(task) for task in by_task.values() if len(task) == n]
    if n < 2 or not whole:
        return {}
    return {k: sum(pass_at_k(n, c, k) for c in whole) / len(whole) for k in range(1, n + 1)}


def _difference(rows: Sequence[Row], arm: str, baseline: str, unit: Unit, drawing: _Drawing) -> Difference:
    matched = paired(rows, arm, baseline)
    by_task = differences(matched.pairs)
    flat = [d for task in by_task.values() for d in task]
    won, lost = flat.count(1), flat.count(-1)
    single = all(len(task) == 1 for task in by_task.values())
    sums = [sum(task) for task in by_task.values()]
    ours, theirs = (sum(spent(pair[side], unit) for pair in matched.pairs) for side in (0, 1))
    return Difference(
        arm=arm,
        baseline=baseline,
        tasks=len(by_task),
        pairs=len(flat),
        left_out=matched.left_out,
        won=won,
        lost=lost,
        difference=(won - lost) / len(flat) if flat else None,
        interval=bootstrap_difference(
            sums, [0] * len(sums), [len(task) for task in by_task.values()], **drawing.options()
        )
        if flat
        else None,
        test="McNemar" if single else "sign flip",
        p=mcnemar(won, lost) if single else sign_flip(sums),
        p_adjusted=1.0,
        unit=unit,
        times=ours / theirs if theirs else None,
        oracle_feedback=any(row.feedback == "oracle" for row in rows if row.arm in (arm, baseline)),
        verdict="no difference shown",
        sentence="",
    )


def _adjusted(found: Sequence[Difference], drawing: _Drawing) -> tuple[Difference, ...]:
    """With p adjusted for their number and, by that, the verdicts."""
    adjusted = holm([difference.p for difference in found])
    return tuple(
        judged(replace(difference, p_adjusted=p), drawing.confidence, several=len(found) > 1)
        for difference, p in zip(found, adjusted, strict=True)
    )
