"""How many tasks and seeds a difference needs before a comparison can show it; used to plan a run after a pilot."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import ceil
from statistics import NormalDist

from hardwon.runs.comparison.pairing import differences, paired
from hardwon.runs.row import Row


@dataclass(frozen=True, slots=True)
class PairedVariance:
    """The variance of the difference between two arms (solved by a minus solved by b, per pair of task and seed).

    `between` is that of the tasks' true differences, `within` what chance adds in a single pair. With one seed the two
    can not be told apart: all of it then counts as `between` and `within` is None.
    """

    between: float
    within: float | None

    def of_a_task(self, seeds: int) -> float:
        """The variance of a task's mean difference over so many seeds. Raises ValueError for fewer than 1."""
        if seeds < 1:
            raise ValueError(f"{seeds} seeds; want at least 1")
        return self.between + (self.within or 0.0) / seeds


def tasks_needed(difference: float, variance: float, *, power: float = 0.8, alpha: float = 0.05) -> int:
    """How many tasks a paired comparison needs to show a difference with this power, two-sided at level alpha.

    `difference` is one of solve rates (0.05 is five points); `variance` that of a task's difference, as
    `PairedVariance.of_a_task` gives it. By the normal approximation, (z_(1 - alpha / 2) + z_power)² times the variance
    over the difference squared; at least 2. Raises ValueError for a difference of 0, a negative variance, or a power or
    alpha that is not between 0 and 1.
    """
    if difference == 0 or variance < 0:
        raise ValueError(
            f"a difference of {difference} with variance {variance}; want one that is not 0, and at least 0"
        )
    if not (0 < power < 1 and 0 < alpha < 1):
        raise ValueError(f"power {power} and alpha {alpha}; want both between 0 and 1")
    normal = NormalDist()
    reach = max(0.0, normal.inv_cdf(1 - alpha / 2) + normal.inv_cdf(power))
    return max(2, ceil(reach**2 * variance / difference**2 - 1e-9))


def pilot_variance(rows: Iterable[Row], arm: str, baseline: str) -> PairedVariance | None:
    """Both components, estimated from a pilot's rows; None when fewer than two tasks are graded in both arms."""
    return paired_variance(list(differences(paired(rows, arm, baseline).pairs).values()))


def paired_variance(per_task: Sequence[Sequence[float]]) -> PairedVariance | None:
    """Both components from each task's differences, one a seed, by one-way analysis of variance (Searle 1971).

    None for fewer than two tasks. The between part is held at 0 where the estimate falls below.
    """
    tasks = [list(task) for task in per_task if task]
    groups, total = len(tasks), sum(len(task) for task in tasks)
    if groups < 2:
        return None
    grand = sum(sum(task) for task in tasks) / total
    means = [sum(task) / len(task) for task in tasks]
    across = sum(len(t) * (mean - grand) ** 2 for t, mean in zip(tasks, means, strict=True)) / (groups - 1)
    if total == groups:
        return PairedVariance(across, None)
    inside = sum((d - mean) ** 2 for t, mean in zip(tasks, means, strict=True) for d in t) / (total - groups)
    size = (total - sum(len(t) ** 2 for t in tasks) / total) / (groups - 1)
    return PairedVariance(max(0.0, (across - inside) / size), inside)
