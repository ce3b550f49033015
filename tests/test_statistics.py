"""Intervals and exact tests, held against their definitions, full enumeration, scipy and statsmodels."""

from __future__ import annotations

from itertools import combinations, product
from math import comb
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest
from statsmodels.regression.linear_model import OLS
from statsmodels.stats.contingency_tables import mcnemar as mcnemar_table
from statsmodels.stats.multitest import multipletests

from hardwon.statistics import (
    clustered_rate_interval,
    clustered_se,
    holm,
    mcnemar,
    pass_at_k,
    sign_flip,
    wilson,
)

PROBABILITIES = st.lists(st.floats(0, 1), min_size=1, max_size=12)


@given(st.integers(1, 400).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))), st.floats(0.5, 0.999))
def test_both_ends_solve_the_score_equation(counts: tuple[int, int], confidence: float) -> None:
    successes, trials = counts
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    low, high = wilson(successes, trials, confidence)
    assert 0 <= low <= successes / trials <= high <= 1
    for end in (low, high):
        if 0 < end < 1:
            assert (successes / trials - end) ** 2 == pytest.approx(z * z * end * (1 - end) / trials, abs=1e-9)


def test_a_published_value() -> None:
    low, high = wilson(93, 164)
    assert (round(low, 3), round(high, 3)) == (0.491, 0.641)


def test_nothing_tried_says_nothing() -> None:
    assert wilson(0, 0) == (0.0, 1.0)
    assert clustered_rate_interval([], []) == (0.0, 1.0)
    with pytest.raises(ValueError, match="3 successes"):
        wilson(3, 2)
    with pytest.raises(ValueError, match=r"confidence of 1\.0"):
        wilson(0, 0, 1.0)


@given(st.integers(0, 60), st.integers(0, 60))
def test_mcnemar_agrees_with_scipy_and_statsmodels(only_a: int, only_b: int) -> None:
    p = mcnemar(only_a, only_b)
    assert p == pytest.approx(mcnemar_table([[5, only_a], [only_b, 7]], exact=True).pvalue if only_a + only_b else 1.0)
    if only_a + only_b:
        assert p == pytest.approx(binomtest(only_a, only_a + only_b).pvalue)


@given(st.lists(st.integers(-3, 3), max_size=9))
def test_sign_flip_equals_full_enumeration(differences: list[int]) -> None:
    seen = abs(sum(differences))
    patterns = list(product((-1, 1), repeat=len(differences)))
    extreme = sum(abs(sum(s * d for s, d in zip(signs, differences, strict=True))) >= seen for signs in patterns)
    assert sign_flip(differences) == pytest.approx(extreme / len(patterns))


@given(st.lists(st.integers(-1, 1), max_size=80))
def test_sign_flip_with_one_seed_is_mcnemar(differences: list[int]) -> None:
    assert sign_flip(differences) == pytest.approx(mcnemar(differences.count(1), differences.count(-1)))


def test_sign_flip_is_quick_and_finite_for_a_whole_benchmark() -> None:
    assert 0 < sign_flip([3] * 300 + [-3] * 200) < 0.001


GROUPED = st.lists(st.tuples(st.integers(0, 8), st.floats(-5, 5)), min_size=2, max_size=40)


@settings(deadline=None)
@given(GROUPED)
def test_clustered_errors_agree_with_statsmodels(pairs: list[tuple[int, float]]) -> None:
    clusters, values = [c for c, _ in pairs], [v for _, v in pairs]
    ours = clustered_se(values, clusters)
    if len(set(clusters)) < 2:
        assert ours is None
        return
    fit = OLS(np.array(values), np.ones(len(values))).fit(cov_type="cluster", cov_kwds={"groups": np.array(clusters)})
    assert ours == pytest.approx(float(fit.bse[0]), rel=1e-6, abs=1e-9)


@given(st.lists(st.booleans(), min_size=1, max_size=200))
def test_one_seed_has_the_plain_wilson_interval(solved: list[bool]) -> None:
    assert clustered_rate_interval(solved, range(len(solved))) == pytest.approx(wilson(sum(solved), len(solved)))


@given(st.lists(st.booleans(), min_size=2, max_size=60), st.integers(2, 5))
def test_seeds_that_only_repeat_each_other_add_nothing(solved: list[bool], seeds: int) -> None:
    once = clustered_rate_interval(solved, range(len(solved)))
    repeated = clustered_rate_interval(solved * seeds, [task for _ in range(seeds) for task in range(len(solved))])
    assert repeated == pytest.approx(once, abs=1e-9)


@settings(max_examples=15, deadline=None)  # each call of theirs collects garbage
@given(PROBABILITIES)
def test_holm_agrees_with_statsmodels(p_values: list[float]) -> None:
    assert holm(p_values) == pytest.approx(list(multipletests(p_values, method="holm")[1]))


@given(PROBABILITIES)
def test_holm_only_raises_p_and_keeps_the_order(p_values: list[float]) -> None:
    adjusted = holm(p_values)
    assert all(p <= a <= 1 for p, a in zip(p_values, adjusted, strict=True))
    by_p = sorted(zip(p_values, adjusted, strict=True))
    assert [a for _, a in by_p] == sorted(adjusted)
    assert holm([0.03]) == [0.03]
    assert holm([]) == []


@given(st.integers(1, 8).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n), st.integers(1, n))))
def test_pass_at_k_equals_enumeration(sizes: tuple[int, int, int]) -> None:
    n, c, k = sizes
    drawn = list(combinations([True] * c + [False] * (n - c), k))
    assert pass_at_k(n, c, k) == pytest.approx(sum(any(d) for d in drawn) / comb(n, k))


@pytest.mark.parametrize("sizes", [(3, 4, 1), (3, -1, 1), (3, 1, 0), (3, 1, 4), (0, 0, 1)])
def test_pass_at_k_refuses_what_it_can_not_estimate(sizes: tuple[int, int, int]) -> None:
    with pytest.raises(ValueError, match="want 0 <= c <= n"):
        pass_at_k(*sizes)
