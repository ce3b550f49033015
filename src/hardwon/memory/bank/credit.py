"""Credit: what an item did to success and to cost, from the tasks that it was shown to and those it was withheld from.

A recalled item is withheld by chance, so the two groups of tasks differ in nothing else, and the difference of their
rates is its effect (a randomised experiment for each item). Its interval is Newcombe's hybrid score (1998, method 10).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from statistics import fmean, variance
from typing import Any, Literal

from hardwon.memory.bank.store import Outcome
from hardwon.rates import Rate
from hardwon.statistics import clustered_rate_interval, normal_quantile

Word = Literal["helps", "harms", "no effect shown"]


@dataclass(frozen=True, slots=True)
class Effect:
    """The effect of one item: `lift` is the difference in the share of tasks won, `tokens` in their mean tokens.

    None where one of the groups is too small to say. `word` holds with 95 % for all items of a bank together, the
    intervals with 95 % for this item alone.
    """

    item_id: str
    shown: Rate
    withheld: Rate
    lift: float | None
    interval: tuple[float, float]
    tokens: float | None
    tokens_interval: tuple[float, float] | None
    word: Word

    def as_json(self) -> dict[str, Any]:
        return {
            "item": self.item_id,
            "shown": self.shown.as_json(),
            "withheld": self.withheld.as_json(),
            "lift": self.lift,
            "interval": list(self.interval),
            "tokens": self.tokens,
            "tokens_interval": self.tokens_interval and list(self.tokens_interval),
            "verdict": self.word,
        }


def effects(
    outcomes: Iterable[Outcome], merged: Mapping[str, str] | None = None, confidence: float = 0.95
) -> dict[str, Effect]:
    """The effect of each item that was ever recalled.

    `merged` maps items to those that they were merged into. Raises ValueError unless 0 < confidence < 1.
    """
    groups: defaultdict[str, tuple[list[Outcome], list[Outcome]]] = defaultdict(lambda: ([], []))
    for outcome in outcomes:
        groups[(merged or {}).get(outcome.item_id, outcome.item_id)][0 if outcome.shown else 1].append(outcome)
    judged = sum(1 for shown, held in groups.values() if shown and held)
    strict = 1 - (1 - confidence) / max(judged, 1)
    return {item: _effect(item, *groups[item], confidence, strict) for item in sorted(groups)}


def difference(shown: Sequence[Outcome], held: Sequence[Outcome], confidence: float = 0.95) -> tuple[float, float]:
    """The interval of the difference of two independent rates; (-1, 1) where one of them counts nothing.

    Outcomes of one task (of several arms, seeds or runs) hang together: each rate has its clustered interval.
    """
    if not shown or not held:
        return -1.0, 1.0
    (one, low, high), (other, other_low, other_high) = _interval(shown, confidence), _interval(held, confidence)
    return (
        one - other - sqrt((one - low) ** 2 + (other_high - other) ** 2),
        one - other + sqrt((high - one) ** 2 + (other - other_low) ** 2),
    )


def _interval(outcomes: Sequence[Outcome], confidence: float) -> tuple[float, float, float]:
    won = [outcome.won for outcome in outcomes]
    tasks = [outcome.task for outcome in outcomes]
    return (sum(won) / len(won), *clustered_rate_interval(won, tasks, confidence))


def _effect(item: str, shown: Sequence[Outcome], held: Sequence[Outcome], confidence: float, strict: float) -> Effect:
    won, without = _rate(shown), _rate(held)
    low, high = difference(shown, held, strict)
    word: Word = "helps" if low > 0 else "harms" if high < 0 else "no effect shown"
    lift = None if won.share is None or without.share is None else won.share - without.share
    tokens, spread = _tokens(shown, held, confidence)
    return Effect(item, won, without, lift, difference(shown, held, confidence), tokens, spread, word)


def _rate(outcomes: Sequence[Outcome]) -> Rate:
    return Rate(sum(outcome.won for outcome in outcomes), len(outcomes))


def _tokens(
    shown: Sequence[Outcome], held: Sequence[Outcome], confidence: float
) -> tuple[float | None, tuple[float, float] | None]:
    """The difference in mean tokens, with Welch's standard error and the normal quantile; None below two on a side."""
    if len(shown) < 2 or len(held) < 2:
        return None, None
    ours, theirs = [o.tokens for o in shown], [o.tokens for o in held]
    gap = fmean(ours) - fmean(theirs)
    reach = normal_quantile(confidence) * sqrt(variance(ours) / len(ours) + variance(theirs) / len(theirs))
    return gap, (gap - reach, gap + reach)
