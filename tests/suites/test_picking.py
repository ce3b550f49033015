"""Pattern, order and slice: which tasks are worked, and in which order."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hardwon.errors import UsageError
from hardwon.suites.picking import Picking

IDS = [f"a/{n}" for n in range(6)] + [f"b/{n}" for n in range(4)]


def picked(**asked: object) -> list[str]:
    return list(Picking(**asked)(IDS, str))  # type: ignore[arg-type]


def test_pattern_then_order_then_slice() -> None:
    assert picked(pattern="^b/") == ["b/0", "b/1", "b/2", "b/3"]
    assert picked(pattern="^b/", part="1:-1") == ["b/1", "b/2"]
    shuffled = picked(pattern="^a/", shuffle=3)
    assert sorted(shuffled) == IDS[:6]
    assert picked(pattern="^a/", shuffle=3, part=":2") == shuffled[:2]


def test_an_order_is_the_same_for_the_same_seed_and_another_for_another() -> None:
    assert picked(shuffle=1) == picked(shuffle=1) != picked(shuffle=2)


@given(st.lists(st.integers(), unique=True), st.lists(st.integers(), unique=True), st.integers())
def test_further_tasks_leave_the_order_of_the_others_as_it_was(some: list[int], more: list[int], seed: int) -> None:
    pick = Picking(shuffle=seed)
    both = pick(list(dict.fromkeys([*more, *some])), str)
    assert [n for n in both if n in some] == list(pick(some, str))


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"pattern": "("}, "--select (: no regular expression"),
        ({"pattern": "zebra"}, "--select zebra: matches none of the 10 ids, which look like a/0"),
        ({"part": "5"}, "--slice 5: want FIRST:END"),
        ({"part": "20:"}, "--slice 20:: leaves none of 10 tasks"),
    ],
)
def test_what_picks_nothing_or_does_not_read_is_refused(asked: dict[str, str], said: str) -> None:
    with pytest.raises(UsageError) as refused:
        picked(**asked)
    assert said in str(refused.value)
