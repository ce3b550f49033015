"""The ledger: the one place where spending is counted, and the limits it keeps."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hardwon.budget import Budget, BudgetExhausted, Ledger
from hardwon.errors import UsageError

COSTS = st.one_of(st.none(), st.floats(0, 10))
CALLS = st.lists(st.tuples(st.integers(0, 500), st.integers(0, 500), COSTS), max_size=30)


@given(CALLS, st.integers(1, 2000))
def test_no_calls_go_over_the_token_budget(calls: list[tuple[int, int, float | None]], limit: int) -> None:
    ledger = Ledger(Budget(tokens=limit))
    for prompt, wanted, cost in calls:
        try:
            allowed = ledger.reserve(prompt, wanted + 1)
        except BudgetExhausted:
            continue
        ledger.charge("act", prompt, allowed, 0, cost)
        ledger.release(prompt, allowed)
    assert ledger.tokens <= limit


@given(CALLS)
def test_one_unknown_price_makes_the_cost_unknown_for_good(calls: list[tuple[int, int, float | None]]) -> None:
    ledger = Ledger()
    for tokens_in, tokens_out, cost in calls:
        ledger.charge("act", tokens_in, tokens_out, 0, cost)
    costs = [cost for _, _, cost in calls]
    assert ledger.cost_usd == (None if None in costs else pytest.approx(sum(c for c in costs if c is not None)))
    assert ledger.calls == len(calls)


def test_calls_in_flight_cannot_go_over_the_budget_together() -> None:
    ledger = Ledger(Budget(calls=2))
    ledger.reserve(1, 1)
    ledger.reserve(1, 1)
    with pytest.raises(BudgetExhausted, match="2 calls"):
        ledger.reserve(1, 1)
    ledger.release(1, 1)
    ledger.reserve(1, 1)


def test_dollars_and_seconds_end_the_spending_before_the_next_call() -> None:
    spent = Ledger(Budget(usd=0.5))
    spent.charge("act", 1, 1, 0, 0.5)
    with pytest.raises(BudgetExhausted, match="dollars"):
        spent.reserve(1, 1)
    late = Ledger(Budget(seconds=10))
    late.spent_earlier(11.0)
    with pytest.raises(BudgetExhausted, match="seconds"):
        late.reserve(1, 1)


def test_a_budget_reads_what_it_prints() -> None:
    budget = Budget(calls=3, tokens=8000, usd=0.25, seconds=90.0)
    assert Budget.parse(str(budget)) == budget
    assert Budget.parse("") == Budget()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("token=5", "unknown limit 'token'"),
        ("tokens=0", "above 0"),
        ("tokens=x", "above 0"),
        ("usd=-1", "above 0"),
        ("calls=inf", "above 0"),
        ("tokens", "above 0"),
        ("calls=1,calls=2", "twice"),
        ("calls=0.5", "above 0"),
    ],
)
def test_a_wrong_budget_is_refused_with_the_part_that_is_wrong(text: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        Budget.parse(text)
