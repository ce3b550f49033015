"""The tables of a comparison, arms as rows, as plain cells that every face lays out in its own way."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from hardwon.runs.comparison import cells
from hardwon.runs.comparison.result import ArmResult, Comparison


@dataclass(frozen=True, slots=True)
class Table:
    """`header` names the columns; the first cell of each row is the arm."""

    caption: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def title(config: Mapping[str, Any], comparison: Comparison) -> str:
    """Suite, model, budget and seeds in one line."""
    settings = config.get("settings", {})
    budget = ", ".join(f"{name}={value:_.15g}" for name, value in comparison.budget.items())
    seeds = settings.get("seeds", [settings.get("seed", "?")])
    return (
        f"{settings.get('suite', '?')} · {settings.get('model', '?')} · {budget or 'no budget'} for each task"
        f" · {'seed' if len(seeds) == 1 else 'seeds'} {', '.join(map(str, seeds))}"
    )


def tables(comparison: Comparison) -> list[Table]:
    """What was solved, what it took, what a solved task cost, pass@k over seeds if any, and the paired differences."""
    arms = comparison.arms
    labelled = [a.arm for a in arms if a.oracle]
    named = "all arms" if len(labelled) == len(arms) else ", ".join(labelled)
    oracle = f"; oracle feedback: {named}" if labelled else ""
    interval = f"{100 * comparison.confidence:g} % interval"
    found = [
        Table(
            "Solved, of the pairs of task and seed that are graded",
            ("arm", "solved", "rate", interval, "feedback"),
            tuple(
                (a.arm, f"{a.solved}/{a.graded}", cells.percent(a.rate), cells.percents(a.interval), cells.evidence(a))
                for a in arms
            ),
        ),
        Table(
            f"Spent on a task; area is the mean solve rate at all budgets{oracle}",
            ("arm", "calls", "tokens", "cost", "unspent", "area"),
            tuple(_spent(a) for a in arms),
        ),
        Table(
            f"For each solved task{oracle}",
            ("arm", "tokens", interval, "calls", "cost"),
            tuple(_per_solved(a) for a in arms),
        ),
    ]
    ks = sorted({k for a in arms for k in a.pass_at})
    if ks:
        rows = tuple((a.arm, *(cells.percent(a.pass_at.get(k)) for k in ks)) for a in arms)
        found.append(Table(f"Solved by at least one of k seeds{oracle}", ("arm", *(f"pass@{k}" for k in ks)), rows))
    if comparison.differences:
        found.append(_differences(comparison, interval, oracle))
    return found


def _spent(arm: ArmResult) -> tuple[str, ...]:
    cost = "?" if arm.usd is None else cells.amount(arm.usd.mean, "usd")
    mean = (cells.amount(arm.calls.mean, "calls"), cells.amount(arm.tokens.mean))
    return (arm.arm, *mean, cost, cells.percent(arm.unspent), cells.percent(arm.curve.area))


def _per_solved(arm: ArmResult) -> tuple[str, ...]:
    cost = "?" if arm.usd is None else cells.amount(arm.usd.per_solved, "usd")
    tokens, calls = arm.tokens, cells.amount(arm.calls.per_solved, "calls")
    return (arm.arm, cells.amount(tokens.per_solved), cells.amounts(tokens.interval), calls, cost)


def _differences(comparison: Comparison, interval: str, oracle: str) -> Table:
    several = len(comparison.differences) > 1
    return Table(
        f"Beside {comparison.baseline}, in points of solve rate{'; p after Holm' if several else ''}{oracle}",
        ("arm", "points", interval, "p", "won", "lost", f"× {cells.NAMES[comparison.unit]}"),
        tuple(
            (
                d.arm,
                cells.points(d.difference),
                cells.percents(d.interval),
                cells.probability(d.p_adjusted),
                str(d.won),
                str(d.lost),
                cells.times(d.times),
            )
            for d in comparison.differences
        ),
    )
