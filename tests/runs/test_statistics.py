"""Wilson's interval, held against its definition."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hardwon.runs.statistics import wilson


@given(st.integers(1, 400).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))), st.floats(0.5, 0.999))
def test_both_ends_solve_the_score_equation(counts: tuple[int, int], confidence: float) -> None:
    from statistics import NormalDist

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
    with pytest.raises(ValueError, match="3 successes"):
        wilson(3, 2)
