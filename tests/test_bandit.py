"""The bandit: it takes what pays for each token, learns from what was seen, and is the same for the same chance."""

import random
from collections import Counter

import pytest

from hardwon.bandit import Means, choose, tallied
from hardwon.trial import Tally

EVEN = {"sample": Means(0.2, 100), "reflect": Means(0.2, 100)}


def taken(means: dict[str, Means], seen: dict[str, Tally], state: str = "first", draws: int = 400) -> Counter[str]:
    chance = random.Random(0)
    return Counter(choose(means, state, seen, chance).action for _ in range(draws))


def test_means_that_are_believed_alike_are_taken_alike() -> None:
    counts = taken(EVEN, {})
    assert abs(counts["sample"] - counts["reflect"]) < 80


def test_what_has_won_more_often_is_taken_nearly_always() -> None:
    seen = {"sample": Tally(200, 10, 20_000), "reflect": Tally(200, 80, 20_000)}
    assert taken(EVEN, seen)["reflect"] > 380


def test_what_wins_alike_for_fewer_tokens_is_taken() -> None:
    seen = {"sample": Tally(200, 60, 20_000), "reflect": Tally(200, 60, 80_000)}
    assert taken(EVEN, seen)["sample"] > 380


def test_a_state_can_overrule_what_holds_over_all_states() -> None:
    everywhere = {"sample": Tally(200, 60, 20_000), "reflect": Tally(200, 20, 20_000)}
    _, here = tallied("reflect", "stuck")
    _, there = tallied("sample", "stuck")
    seen = everywhere | {here: Tally(60, 50, 6_000), there: Tally(60, 1, 6_000)}
    assert taken(EVEN, seen, "stuck")["reflect"] > 380
    assert taken(EVEN, seen, "elsewhere")["sample"] > 300


def test_the_same_chance_gives_the_same_choice_and_the_reason_names_every_means() -> None:
    choices = [choose(EVEN, "first", {}, random.Random(7)) for _ in range(2)]
    assert choices[0] == choices[1]
    assert all(name in choices[0].reason for name in (*EVEN, "state first"))


def test_there_must_be_something_to_choose_from() -> None:
    with pytest.raises(ValueError, match="nothing to choose"):
        choose({}, "first", {}, random.Random(0))
