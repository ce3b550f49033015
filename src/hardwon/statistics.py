"""Intervals and exact tests for what a run measured. Only the standard library is needed here."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from math import comb, prod, sqrt
from statistics import NormalDist


def wilson(successes: int, trials: int, confidence: float = 0.95) -> tuple[float, float]:
    """The Wilson score interval of a rate (Wilson 1927), as two shares in 0..1; (0, 1) for no trials at all.

    Raises ValueError unless 0 <= successes <= trials and 0 < confidence < 1.
    """
    if not 0 <= successes <= trials:
        raise ValueError(f"{successes} successes in {trials} trials")
    if trials == 0:
        normal_quantile(confidence)
        return 0.0, 1.0
    return score_interval(successes / trials, trials, confidence)


def score_interval(rate: float, trials: float, confidence: float = 0.95) -> tuple[float, float]:
    """Wilson's interval of a rate in 0..1 from `trials` > 0, which may be an effective number and so not whole."""
    z = normal_quantile(confidence)
    centre = rate + z * z / (2 * trials)
    spread = z * sqrt(rate * (1 - rate) / trials + z * z / (4 * trials * trials))
    scale = 1 + z * z / trials
    low = 0.0 if rate == 0 else max(0.0, (centre - spread) / scale)
    high = 1.0 if rate == 1 else min(1.0, (centre + spread) / scale)
    return low, high


def normal_quantile(confidence: float) -> float:
    """How many standard errors a two-sided interval reaches. Raises ValueError unless 0 < confidence < 1."""
    if not 0 < confidence < 1:
        raise ValueError(f"a confidence of {confidence} is not between 0 and 1")
    return NormalDist().inv_cdf((1 + confidence) / 2)


def clustered_se(values: Sequence[float], clusters: Sequence[Hashable]) -> float | None:
    """The standard error of the mean of `values` when those of one cluster (here: of one task) hang together.

    The sandwich estimate with the small-sample factor CR1, which for a mean is G / (G - 1) with G clusters (Cameron and
    Miller 2015). None for fewer than two clusters. Raises ValueError when the two sequences differ in length.
    """
    totals: dict[Hashable, float] = {}
    mean = sum(values) / len(values) if values else 0.0
    for value, cluster in zip(values, clusters, strict=True):
        totals[cluster] = totals.get(cluster, 0.0) + value - mean
    count = len(totals)
    if count < 2:
        return None
    return sqrt(count / (count - 1) * sum(total * total for total in totals.values())) / len(values)


def clustered_rate_interval(
    solved: Sequence[bool], clusters: Sequence[Hashable], confidence: float = 0.95
) -> tuple[float, float]:
    """The interval of a solve rate over several seeds of each task: Wilson's, at the effective number of trials.

    That number is rate (1 - rate) / SE² with the clustered standard error (the effective sample size of Korn and
    Graubard 1998), held between the number of clusters and that of values; with one value a cluster this is `wilson`.
    """
    tasks, trials = len(set(clusters)), len(solved)
    if trials == 0:
        return wilson(0, 0, confidence)
    rate = sum(solved) / trials
    error = clustered_se([float(s) for s in solved], clusters)
    effective = rate * (1 - rate) / error**2 if error else tasks
    return score_interval(rate, min(max(effective, tasks), trials), confidence)


def mcnemar(only_a: int, only_b: int) -> float:
    """The exact two-sided p of McNemar's test (1947): `only_a` pairs were solved by a alone, `only_b` by b alone.

    Raises ValueError for a negative number.
    """
    if only_a < 0 or only_b < 0:
        raise ValueError(f"{only_a} and {only_b} pairs; want two numbers of at least 0")
    count, fewer = only_a + only_b, min(only_a, only_b)
    return min(1.0, 2 * sum(comb(count, k) for k in range(fewer + 1)) / (1 << count))


def sign_flip(differences: Sequence[int]) -> float:
    """The exact two-sided p of the paired sign-flip test (Fisher 1935), one difference for each task.

    Where two arms are equal, each task's difference is as likely to have the other sign; p is the share of all sign
    patterns whose sum is at least as far from 0 as the one seen, counted by convolution. For differences of -1, 0 and
    1 it equals `mcnemar`.
    """
    sizes = [abs(d) for d in differences if d]
    total, seen = sum(sizes), abs(sum(differences))
    ways = [1] + [0] * total  # ways[s]: the patterns so far whose positive part sums to s
    for size in sizes:
        for s in range(total, size - 1, -1):
            ways[s] += ways[s - size]
    return sum(n for s, n in enumerate(ways) if abs(2 * s - total) >= seen) / (1 << len(sizes))


def holm(p_values: Sequence[float]) -> list[float]:
    """The p values adjusted for their number by Holm's step-down rule (1979), in the order given."""
    adjusted = [0.0] * len(p_values)
    reached = 0.0
    for rank, index in enumerate(sorted(range(len(p_values)), key=lambda i: p_values[i])):
        reached = max(reached, min(1.0, (len(p_values) - rank) * p_values[index]))
        adjusted[index] = reached
    return adjusted


def pass_at_k(n: int, c: int, k: int) -> float:
    """The unbiased estimate that one of k samples passes, from n independent ones of which c pass (Chen et al. 2021).

    Raises ValueError unless 0 <= c <= n and 1 <= k <= n.
    """
    if not (0 <= c <= n and 1 <= k <= n):
        raise ValueError(f"pass@{k} of {n} samples with {c} passes; want 0 <= c <= n and 1 <= k <= n")
    return 1.0 if n - c < k else 1 - prod(1 - k / i for i in range(n - c + 1, n + 1))
