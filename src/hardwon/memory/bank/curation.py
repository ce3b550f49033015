"""Keeping a bank in order: finding, merging, and reviewing its items by what was measured of them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from hardwon.errors import UsageError
from hardwon.memory.bank.credit import Effect, effects
from hardwon.memory.bank.item import RECALLED, Item, State
from hardwon.memory.bank.retrieval import overlap
from hardwon.memory.bank.store import Bank
from hardwon.memory.bank.words import words

IDLE = 200
"""Episodes in which an item was not once relevant, after which it is retired."""
_SAME = 0.8
"""Two items whose words overlap by this share (Jaccard) say the same."""
_NEAR = 0.45
"""From this share on they speak of the same thing."""
_NEGATIONS = re.compile(r"\b(?:not|never|avoid|don't|without|instead of|no)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Finding:
    """What a review found of an item: a `change` of state to make (None: only said), and why."""

    item: Item
    kind: Literal["harm", "help", "idle", "duplicate", "contradiction"]
    reason: str
    change: State | None = None
    other: Item | None = None


def current(bank: Bank) -> list[Item]:
    """The items of now, whatever their state, by id."""
    return [revision.item for revision in bank.scan() if revision.item is not None]


def find(bank: Bank, text: str) -> Item:
    """The one item whose id begins with `text`. Raises UsageError."""
    found = [item for item in current(bank) if item.id.startswith(text)]
    exact = [item for item in found if item.id == text]
    if len(exact or found) != 1:
        said = f"{len(found)} items begin so" if found else "no such item"
        raise UsageError(f"{text}: {said}; see hardwon bank list")
    return (exact or found)[0]


def merge(items: Sequence[Item]) -> list[Item]:
    """The first of the items with the others taken into it, and the others superseded. Raises UsageError for one."""
    first, *others = dict.fromkeys(items)
    if not others:
        raise UsageError("merge: want at least two different items")
    gone = tuple(
        dict.fromkeys((*first.supersedes, *(o.id for o in others), *(s for o in others for s in o.supersedes)))
    )
    state: State = "active" if first.state == "provisional" else first.state
    return [replace(first, supersedes=gone, state=state), *(replace(other, state="superseded") for other in others)]


def merged_into(items: Sequence[Item]) -> dict[str, str]:
    """Of each item that was merged, the item that has its credit now."""
    return {old: item.id for item in items if item.state != "superseded" for old in item.supersedes}


def measured(bank: Bank) -> dict[str, Effect]:
    """The effect of each item of the bank."""
    return effects(bank.outcomes(), merged_into(current(bank)))


def review(bank: Bank, idle: int = IDLE) -> list[Finding]:
    """What is to be done with the bank: harm is quarantined, help made active, what is never relevant retired.

    Pinned items are left as they are. Contradictions are only said: which one is right is the user's to decide.
    """
    items = [item for item in current(bank) if item.state in RECALLED]
    known = measured(bank)
    unused = bank.idle()
    found = [
        finding
        for item in items
        if item.state != "pinned" and (finding := _judged(item, known.get(item.id), unused.get(item.id, 0), idle))
    ]
    return [*found, *_pairs(items)]


def apply(bank: Bank, findings: Sequence[Finding]) -> int:
    """Makes the changes of state, and merges near-duplicates, in one transaction; how many items it changed."""
    now = {item.id: item for item in current(bank)}
    changed: dict[str, Item] = {}
    for found in findings:
        item = changed.get(found.item.id, now[found.item.id])
        if found.change is not None:
            changed[item.id] = replace(item, state=found.change)
        elif found.kind == "duplicate" and found.other is not None:
            other = changed.get(found.other.id, now[found.other.id])
            both_pinned = item.state == other.state == "pinned"
            if item.state in RECALLED and other.state in RECALLED and not both_pinned:
                pinned_first = sorted((item, other), key=lambda one: one.state != "pinned")
                changed |= {one.id: one for one in merge(pinned_first)}
    if changed:
        bank.write(changed.values(), "reviewed")
    return len(changed)


def _judged(item: Item, effect: Effect | None, unused: int, idle: int) -> Finding | None:
    if effect is not None and effect.lift is not None and effect.word != "no effect shown":
        low, high = effect.interval
        said = f"changes success by {100 * effect.lift:+.0f} points ({100 * low:+.0f} to {100 * high:+.0f})"
        if effect.word == "harms":
            return Finding(item, "harm", said, "quarantined")
        return Finding(item, "help", said, "active") if item.state == "provisional" else None
    if unused >= idle:
        return Finding(item, "idle", f"was not relevant to any of the last {unused} tasks", "superseded")
    return None


def _pairs(items: Sequence[Item]) -> Iterator[Finding]:
    """Near-duplicates, each of them once, and contradictions, among items that share a rare word."""
    known: set[str] = set()
    for one, other in _candidates(items):
        if one.id in known or other.id in known:
            continue
        share = overlap(one.said, other.said)
        if share >= _NEAR and bool(_NEGATIONS.search(one.content)) != bool(_NEGATIONS.search(other.content)):
            yield Finding(one, "contradiction", f"may contradict {other.id} ({other.title})", None, other)
        elif share >= _SAME:
            known.add(other.id)
            yield Finding(one, "duplicate", f"says the same as {other.id} ({other.title})", None, other)


def _candidates(items: Sequence[Item]) -> Iterator[tuple[Item, Item]]:
    """Pairs whose titles and contents have one of their eight rarest words in common."""
    often: dict[str, int] = {}
    sets: list[set[str]] = [set(words(item.said)) for item in items]
    for mine in sets:
        for word in mine:
            often[word] = often.get(word, 0) + 1
    by_word: dict[str, list[int]] = {}
    for place, mine in enumerate(sets):
        for word in sorted((w for w in mine if often[w] > 1), key=lambda w: (often[w], w))[:8]:
            by_word.setdefault(word, []).append(place)
    pairs = {(a, b) for places in by_word.values() for n, b in enumerate(places) for a in places[max(0, n - 50) : n]}
    return ((items[a], items[b]) for a, b in sorted(pairs))
