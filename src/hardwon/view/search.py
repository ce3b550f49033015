"""Search in the bank's pages: first what a task with this text would be handed, and why; then other items."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from hardwon.errors import HardwonError
from hardwon.memory.bank.embedding import Embedder, MiniLM, present
from hardwon.memory.bank.item import RECALLED, Item
from hardwon.memory.bank.retrieval import Index, Limits, Query, shared
from hardwon.memory.bank.store import Bank
from hardwon.memory.bank.words import Words

_HANDED = 16
_ROOM = 1_000_000
_AT_ONCE = 100
"""For a search no more texts than this are embedded; where more are missing, words alone decide."""


@dataclass(frozen=True, slots=True)
class Hit:
    """An item that was found, and by what, in words."""

    item: Item
    why: str


def searched(bank: Bank, items: Sequence[Item], text: str, embedder: Embedder | None) -> list[Hit]:
    """Of `items`, the bank's at its head: what its own retrieval gives for `text`, best first; then, whatever their
    state, those that share words with it; then those that hold it letter by letter, or whose id begins so.

    Raises UsageError where numpy is missing, BankError, ModelError.
    """
    limits = Limits(most=_HANDED, tokens=_ROOM, variety=0.0, floor=0.0 if embedder is None else Limits().floor)
    hits: dict[str, Hit] = {}
    for found in Index(bank, bank.head(), embedder).search(Query(text), limits):
        meaning = "" if found.meaning is None else f", meaning {found.meaning:.2f}"
        by_words = f"words {found.by_words:.2f}" + (f" ({', '.join(found.words)})" if found.words else "")
        hits[found.item.id] = Hit(found.item, f"relevance {found.score:.2f}: {by_words}{meaning}")
    rest = [item for item in items if item.id not in hits]
    index = Words(item.text for item in rest)
    asked = index.rarest_first(text)
    scores = index.relevance(asked)
    for place in sorted(range(len(rest)), key=lambda place: (-scores[place], place)):
        if scores[place] > 0:
            item = rest[place]
            hits[item.id] = Hit(item, f"words {scores[place]:.2f} ({', '.join(shared(asked, item.text))})")
    letters = text.casefold()
    for item in rest:
        if item.id not in hits and (letters in item.text.casefold() or item.id.startswith(text)):
            hits[item.id] = Hit(item, "holds the text")
    return list(hits.values())


def meaning_for(bank: Bank, items: Sequence[Item]) -> Embedder | None:
    """The built-in embedder, where its files are there and the bank keeps the embeddings of nearly all its items."""
    embedder = _built_in()
    if embedder is None:
        return None
    kept = {digest for digest, _ in bank.vectors(embedder.name)}
    missing = sum(item.digest not in kept for item in items if item.state in RECALLED)
    return embedder if missing <= _AT_ONCE else None


@cache
def _built_in() -> Embedder | None:
    if not present():
        return None
    try:
        return MiniLM()
    except HardwonError:  # its files are no good: the page says that words alone were compared
        return None
