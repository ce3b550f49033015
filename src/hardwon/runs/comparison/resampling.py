"""Bootstrap intervals over tasks: a task's pairs are drawn together, however many seeds it has (Efron 1979).

Percentile intervals. In simulations of paired outcomes (20 to 164 tasks, 1 and 3 seeds, 2 to 40 % of pairs differing)
their coverage at 95 % lay between 91 and 100 %, that of BCa between 89 and 100 %: on few differences that are mostly 0
the correction costs more than it mends. numpy indexing takes a third of the time of `scipy.stats.bootstrap`, or less.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hardwon.errors import UsageError
from hardwon.statistics import normal_quantile

try:
    import numpy as np
    from numpy.typing import NDArray
except ImportError:
    raise UsageError('comparing arms: needs an extra; run: pip install "hardwon[lab]"') from None

Floats = NDArray[np.float64]
_CELLS = 2_000_000
"""Resampled values held at a time; bounds the memory."""


def bootstrap_difference(
    per_task_a: Sequence[float],
    per_task_b: Sequence[float],
    pairs: Sequence[int] | None = None,
    *,
    resamples: int = 10_000,
    seed: int = 0,
    confidence: float = 0.95,
) -> tuple[float, float]:
    """The interval of the difference of two solve rates in -1..1 (a minus b), paired, resampling tasks.

    Each entry is how many of a task's pairs the arm solved, of `pairs` (1 each where left out). Where all tasks differ
    alike, resampling shows no spread at all: the interval then allows for the share of unlike tasks that so many alike
    ones do not rule out, z² / (n + z²) for n tasks (for no difference at all this is Tango's score interval, 1998).
    Raises ValueError for no tasks, or sequences that differ in length.
    """
    weights = [1] * len(per_task_a) if pairs is None else pairs
    differences = [a - b for a, b, _ in zip(per_task_a, per_task_b, weights, strict=True)]
    if not differences:
        raise ValueError("no tasks to resample")
    shares = {d / n for d, n in zip(differences, weights, strict=True)}
    if len(shares) == 1:
        (alike,) = shares
        z = normal_quantile(confidence)
        unlike = z * z / (len(differences) + z * z)
        return alike - unlike * (1 + alike), alike + unlike * (1 - alike)
    replicates = _ratios(differences, weights, resamples, seed)
    low, high = np.quantile(replicates, _ends(confidence))
    return float(low), float(high)


def bootstrap_ratio(
    spent: Sequence[float],
    solved: Sequence[float],
    *,
    resamples: int = 10_000,
    seed: int = 0,
    confidence: float = 0.95,
) -> tuple[float | None, float | None]:
    """The interval of what a solved task costs: the sum of `spent` over the sum of `solved`, one entry for each task.

    A resample that solves nothing costs infinitely much for each solved task; an end of the interval that falls among
    those is None. Raises ValueError for no tasks, or sequences that differ in length.
    """
    if len(spent) != len(solved) or not spent:
        raise ValueError(f"{len(spent)} costs for {len(solved)} tasks; want one for each of at least one")
    replicates = _ratios(spent, solved, resamples, seed)
    low, high = np.quantile(replicates, _ends(confidence), method="inverted_cdf")
    return _finite(low), _finite(high)


def _ratios(numerators: Sequence[float], denominators: Sequence[float], resamples: int, seed: int) -> Floats:
    """Of each resample of tasks, the sum of the numerators over that of the denominators; infinite over 0."""
    above, below = np.asarray(numerators, np.float64), np.asarray(denominators, np.float64)
    random = np.random.default_rng(seed)
    at_once = max(1, _CELLS // len(above))
    parts = []
    for start in range(0, resamples, at_once):
        drawn = random.integers(0, len(above), (min(at_once, resamples - start), len(above)), dtype=np.int32)
        sums, counts = above[drawn].sum(axis=1), below[drawn].sum(axis=1)
        parts.append(np.divide(sums, counts, out=np.full(len(sums), np.inf), where=counts > 0))
    return np.concatenate(parts)


def _ends(confidence: float) -> list[float]:
    return [(1 - confidence) / 2, (1 + confidence) / 2]


def _finite(value: Any) -> float | None:
    return float(value) if np.isfinite(value) else None
