"""The bootstrap's intervals hold the truth as often as they say, by simulation; what a plan asks for is enough."""

from __future__ import annotations

import time
import tracemalloc

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.stats import bootstrap, norm
from statsmodels.stats.power import TTestPower
from tests.runs.compared import arm_rows

from hardwon.runs.comparison import PairedVariance, paired_variance, pilot_variance, tasks_needed
from hardwon.runs.comparison.resampling import bootstrap_difference, bootstrap_ratio
from hardwon.statistics import clustered_rate_interval, clustered_se, wilson

TRUTHS = [(60, 1, 0.15, 0.15), (60, 1, 0.30, 0.10), (164, 1, 0.08, 0.02), (164, 3, 0.10, 0.04)]
"""Tasks, seeds, and the chances that only a, and only b, solves a pair; tasks differ where there are several seeds."""


@pytest.mark.parametrize(("tasks", "seeds", "won", "lost"), TRUTHS)
def test_nine_in_ten_and_more_paired_intervals_hold_the_truth(tasks: int, seeds: int, won: float, lost: float) -> None:
    random = np.random.default_rng(7)
    held = 0
    for _ in range(300):
        wins = random.beta(won * 4, (1 - won) * 4, tasks) if seeds > 1 else np.full(tasks, won)
        losses = (1 - wins) * lost / (1 - won)
        drawn = random.random((seeds, tasks))
        a, b = drawn < wins, (drawn >= wins) & (drawn < wins + losses)
        low, high = bootstrap_difference(
            list(a.sum(0).astype(float)), list(b.sum(0).astype(float)), [seeds] * tasks, resamples=600, seed=1
        )
        held += low - 1e-12 <= won - lost <= high + 1e-12
    assert 0.91 <= held / 300 <= 0.99


def test_on_few_differences_percentile_intervals_hold_the_truth_more_often_than_bca() -> None:
    random = np.random.default_rng(11)
    percentile = corrected = 0
    for _ in range(200):
        drawn = random.random(50)
        differences = (drawn < 0.05) * 1.0 - (drawn > 0.95)
        if len(set(differences)) == 1:
            continue
        low, high = bootstrap_difference(list(differences), [0] * 50, resamples=400)
        percentile += low <= 0 <= high
        theirs = bootstrap((differences,), np.mean, n_resamples=400, method="BCa", rng=1).confidence_interval
        corrected += theirs.low <= 0 <= theirs.high
    assert percentile > corrected


@pytest.mark.parametrize("rate", [0.1, 0.5, 0.9])
def test_clustered_rate_intervals_hold_the_truth_where_plain_ones_do_not(rate: float) -> None:
    random = np.random.default_rng(3)
    held = plain = error_held = 0
    clusters = [task for task in range(100) for _ in range(4)]
    for _ in range(400):
        chances = random.beta(rate, 1 - rate, 100)  # tasks are mostly easy or hard: seeds say much the same
        solved = [bool(s) for s in (random.random((100, 4)) < chances[:, None]).ravel()]
        low, high = clustered_rate_interval(solved, clusters)
        held += low <= rate <= high
        low, high = wilson(sum(solved), len(solved))
        plain += low <= rate <= high
        error = clustered_se([float(s) for s in solved], clusters)
        assert error is not None
        error_held += abs(sum(solved) / 400 - rate) <= 1.96 * error
    assert 0.92 <= held / 400 <= 0.98
    assert 0.90 <= error_held / 400 <= 0.98
    assert plain / 400 < 0.85


@settings(deadline=None)
@given(st.integers(1, 200), st.integers(1, 3))
def test_no_difference_in_a_few_tasks_is_not_taken_for_none_at_all(tasks: int, seeds: int) -> None:
    z2 = norm.ppf(0.975) ** 2
    low, high = bootstrap_difference([seeds] * tasks, [seeds] * tasks, [seeds] * tasks, resamples=10)
    assert (low, high) == pytest.approx((-z2 / (tasks + z2), z2 / (tasks + z2)))
    low, high = bootstrap_difference([seeds] * tasks, [0] * tasks, [seeds] * tasks, resamples=10)
    assert (low, high) == pytest.approx((2 * wilson(tasks, tasks)[0] - 1, 1))


def test_tasks_count_by_their_pairs() -> None:
    low, high = bootstrap_difference([3, 0, 1], [0, 0, 1], [3, 3, 1], resamples=4000)
    assert low <= 3 / 7 <= high
    assert high == pytest.approx(1)


def test_a_whole_benchmark_takes_well_under_a_second_and_little_memory() -> None:
    random = np.random.default_rng(0)
    a, b = (list(random.integers(0, 2, 164).astype(float)) for _ in range(2))
    started = time.perf_counter()
    bootstrap_difference(a, b)
    assert time.perf_counter() - started < 0.8
    tracemalloc.start()
    bootstrap_difference(a * 20, b * 20, resamples=2000)
    assert tracemalloc.get_traced_memory()[1] < 80e6
    tracemalloc.stop()


def test_the_same_seed_draws_the_same_interval() -> None:
    a, b = [1.0, 0, 1, 1, 0, 1], [0.0, 0, 1, 0, 1, 0]
    assert bootstrap_difference(a, b, seed=4) == bootstrap_difference(a, b, seed=4)


def test_the_cost_of_a_solved_task_has_no_upper_bound_where_samples_solve_nothing() -> None:
    low, high = bootstrap_ratio([10, 10, 10, 10], [1, 0, 0, 0])
    assert (low, high) == (pytest.approx(40 / 3), None)
    assert bootstrap_ratio([10, 10], [0, 0]) == (None, None)
    low, high = bootstrap_ratio([10, 20, 30] * 30, [1, 1, 0] * 30)
    assert low is not None
    assert high is not None
    assert low < 30 < high


def test_the_cost_interval_holds_the_truth() -> None:
    random = np.random.default_rng(5)
    held = 0
    for _ in range(300):
        spent, solved = random.exponential(100, 80), random.random(80) < 0.5
        low, high = bootstrap_ratio(list(spent), list(solved.astype(float)), resamples=500)
        held += low is not None and high is not None and low <= 200 <= high
    assert 0.90 <= held / 300 <= 0.98


def test_bad_input_is_refused() -> None:
    with pytest.raises(ValueError, match="no tasks"):
        bootstrap_difference([], [])
    with pytest.raises(ValueError, match="0 costs"):
        bootstrap_ratio([], [])
    with pytest.raises(ValueError, match="zip"):
        bootstrap_difference([1], [1, 0])
    with pytest.raises(ValueError, match="difference of 0"):
        tasks_needed(0, 0.1)
    with pytest.raises(ValueError, match="power 1"):
        tasks_needed(0.1, 0.1, power=1)
    with pytest.raises(ValueError, match="0 seeds"):
        PairedVariance(0.1, 0.1).of_a_task(0)


@settings(deadline=None)
@given(st.floats(0.02, 0.3), st.floats(0.05, 1), st.floats(0.5, 0.95))
def test_the_number_of_tasks_agrees_with_statsmodels(difference: float, variance: float, power: float) -> None:
    needed = tasks_needed(difference, variance, power=power)
    exact = TTestPower().power(difference / variance**0.5, needed, 0.05, alternative="two-sided")
    assume(needed > 30)  # below, the normal approximation asks for a few tasks too few
    assert exact == pytest.approx(power, abs=0.03)
    assert tasks_needed(-difference, variance, power=power) == needed


def test_as_many_tasks_as_planned_show_the_difference_as_often_as_planned() -> None:
    random = np.random.default_rng(2)
    won, lost, seeds = 0.25, 0.10, 2
    variance = PairedVariance(0.0, won + lost - (won - lost) ** 2)
    tasks = tasks_needed(won - lost, variance.of_a_task(seeds))
    drawn = random.random((2000, tasks, seeds))
    means = ((drawn < won) * 1.0 - ((drawn >= won) & (drawn < won + lost))).mean(2)
    z = means.mean(1) / (means.std(1, ddof=1) / tasks**0.5)
    assert (z > 1.96).mean() == pytest.approx(0.8, abs=0.04)


def test_a_pilot_tells_what_tasks_vary_from_what_seeds_vary() -> None:
    random = np.random.default_rng(1)
    tasks = random.normal(0.1, 0.5, 3000)
    found = paired_variance([list(task + random.normal(0, 0.8, 3)) for task in tasks])
    assert found is not None
    assert found.within is not None
    assert (found.between, found.within) == pytest.approx((0.25, 0.64), rel=0.1)
    assert found.of_a_task(4) == pytest.approx(found.between + found.within / 4)


def test_one_seed_can_not_promise_that_more_would_help() -> None:
    rows = [*arm_rows("a", [True, False, True, True]), *arm_rows("b", [False, False, True, False])]
    found = pilot_variance(rows, "a", "b")
    assert found == PairedVariance(pytest.approx(1 / 3), None)
    assert found.of_a_task(1) == found.of_a_task(9)
    assert pilot_variance(rows[:5], "a", "b") is None
