"""What a comparison will be able to show: the smallest difference, and the tasks and seeds that a given one needs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from statistics import NormalDist

from hardwon.runs.comparison.power import PairedVariance, pilot_variance, tasks_needed
from hardwon.runs.planning.pilot import Pilot

_SHARES = (0.1, 0.2, 1.0)
"""Assumed shares of tasks that one arm solves and the other does not; the last is the worst case."""

_MOST_SEEDS = 20


@dataclass(frozen=True, slots=True)
class Reach:
    """One paired difference of solve rates at the plan's number of tasks and seeds.

    `arm` is held against the baseline by the pilot; None for an assumption, where `share` of the tasks differ. `shows`
    is the smallest difference (0..1) that the plan shows with the wanted power; `tasks` are as many as the wanted
    difference needs with the planned seeds, `seeds` as many as it needs with the planned tasks (None: no number of
    seeds is known to do). All three are None where the pilot's arms solved the same tasks, which says nothing.
    """

    arm: str | None
    share: float | None
    shows: float | None
    tasks: int | None
    seeds: int | None


def reach(
    pilot: Pilot | None, arms: Sequence[str], tasks: int, seeds: int, *, difference: float, power: float
) -> tuple[Reach, ...]:
    """By a pilot that compared, each arm beside the first; else by assumed shares. `difference` and `power` in 0..1."""
    if pilot is None or not pilot.compared:
        return tuple(
            _reach(None, share, PairedVariance(share, None), tasks, seeds, difference, power) for share in _SHARES
        )
    found = [(arm, pilot_variance(pilot.rows, arm, arms[0])) for arm in arms[1:]]
    return tuple(_reach(arm, None, variance, tasks, seeds, difference, power) for arm, variance in found)


def _difference_shown(tasks: int, variance: float, *, power: float, alpha: float = 0.05) -> float:
    """The smallest difference that so many tasks show: `tasks_needed` the other way round, at most 1."""
    normal = NormalDist()
    return min(1.0, max(0.0, normal.inv_cdf(1 - alpha / 2) + normal.inv_cdf(power)) * sqrt(variance / tasks))


def _reach(
    arm: str | None,
    share: float | None,
    variance: PairedVariance | None,
    tasks: int,
    seeds: int,
    difference: float,
    power: float,
) -> Reach:
    if variance is None or variance.of_a_task(seeds) == 0:
        return Reach(arm, share, None, None, None)
    needed = tasks_needed(difference, variance.of_a_task(seeds), power=power)
    tried = [seeds] if variance.within is None else range(1, _MOST_SEEDS + 1)
    enough = (n for n in tried if tasks_needed(difference, variance.of_a_task(n), power=power) <= tasks)
    shows = _difference_shown(tasks, variance.of_a_task(seeds), power=power)
    return Reach(arm, share, shows, needed, next(enough, None))
