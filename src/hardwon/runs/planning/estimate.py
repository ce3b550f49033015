"""The plan: what each arm and all of them will take, as a range, and what the comparison will be able to show."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from hardwon.runs.planning.assumed import Assumed, least, most
from hardwon.runs.planning.checks import AskedTests
from hardwon.runs.planning.pilot import Pilot
from hardwon.runs.planning.reach import Reach, reach
from hardwon.runs.planning.rehearsal import Rehearsed, Spent, rehearse
from hardwon.runs.runner import Arm
from hardwon.task import Task

_MOST_TASKS = 200
"""So many tasks, evenly spread, are rehearsed of a larger suite."""

_CHANCES, _MOST_DRAWS = 100, 20
"""The expected case is the mean of enough draws for so many tasks."""


@dataclass(frozen=True, slots=True)
class Range:
    """What something takes: `expected` by the assumed chances and lengths, `low` and `high` its bounds.

    Each number is bounded by itself: `high` has the calls of short replies beside the tokens of long ones. The bounds
    hold for every share of trials that pass, for replies from 1 token to as many as a call may have, and for prompts
    whose tokens are as long as assumed.
    """

    low: Spent
    expected: Spent
    high: Spent


@dataclass(frozen=True, slots=True)
class ArmPlan:
    """What one arm is charged for all tasks and seeds, as if it were alone."""

    name: str
    takes: Range


@dataclass(frozen=True, slots=True)
class Plan:
    """`paid` is less than the sum of `arms`: identical calls of a comparison are made once.

    `difference` and `power` are those that `reach` speaks of, shares in 0..1; `assumed` says what all rests on.
    """

    tasks: int
    seeds: int
    budget: str
    arms: tuple[ArmPlan, ...]
    paid: Range
    assumed: tuple[str, ...]
    difference: float
    power: float
    reach: tuple[Reach, ...]

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def make_plan(
    tasks: Sequence[Task],
    arms: Sequence[Arm],
    assumed: Assumed,
    pilot: Pilot | None,
    *,
    difference: float = 0.05,
    power: float = 0.8,
) -> Plan:
    """Plans a comparison of `arms` (each with every seed) on `tasks`. Raises UsageError.

    One seed is rehearsed: the others take as much.
    """
    seeds = len({arm.seed for arm in arms})
    first = [arm for arm in arms if arm.seed == arms[0].seed]
    step = max(1, len(tasks) / _MOST_TASKS)
    chosen = [tasks[int(n * step)] for n in range(min(len(tasks), _MOST_TASKS))]
    draws = min(_MOST_DRAWS, -(-_CHANCES // len(chosen)))
    found = asyncio.run(_cases(chosen, first, assumed, draws))
    factor = seeds * len(tasks) / len(chosen)
    names = [arm.name for arm in first]
    said = assumed.said
    if len(chosen) < len(tasks):
        said = (*said, f"{len(chosen)} tasks, evenly spread, stand for all {len(tasks)}")
    return Plan(
        tasks=len(tasks),
        seeds=seeds,
        budget=str(arms[0].budget),
        arms=tuple(ArmPlan(name, _range(found, lambda r, name=name: r.arms[name], factor)) for name in names),  # type: ignore[misc]
        paid=_range(found, lambda r: r.paid, factor),
        assumed=said,
        difference=difference,
        power=power,
        reach=reach(pilot, names, len(tasks), seeds, difference=difference, power=power),
    )


@dataclass(frozen=True, slots=True)
class _Cases:
    """Rehearsals under the assumptions as they are, one for each draw, and under the extreme ones."""

    expected: tuple[Rehearsed, ...]
    extreme: tuple[Rehearsed, ...]


async def _cases(tasks: Sequence[Task], arms: Sequence[Arm], assumed: Assumed, draws: int) -> _Cases:
    asked = AskedTests()
    return _Cases(
        tuple([await rehearse(tasks, arms, assumed, draw, asked) for draw in range(draws)]),
        tuple([await rehearse(tasks, arms, each, 0, asked) for each in (*least(assumed), *most(assumed))]),
    )


def _range(found: _Cases, part: Callable[[Rehearsed], Spent], factor: float) -> Range:
    """The mean of the draws, and the least and the most of each number under any assumptions."""
    mean = Spent.total(map(part, found.expected)).times(factor / len(found.expected)).rounded()
    low = high = mean
    for rehearsed in found.extreme:
        spent = part(rehearsed).times(factor).rounded()
        low, high = low.bound(min, spent), high.bound(max, spent)
    return Range(low, mean, high)
