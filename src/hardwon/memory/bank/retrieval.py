"""Retrieval: which items of a frozen snapshot a task is handed, and why.

A hybrid of words (BM25) and meaning (embeddings), with a floor below which nothing is recalled, a budget of tokens, and
variety among what is chosen (maximal marginal relevance, Carbonell & Goldstein 1998).
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any

from hardwon.errors import UsageError
from hardwon.memory.bank.embedding import Embedder, checked
from hardwon.memory.bank.item import RECALLED, Item
from hardwon.memory.bank.meaning import meaning_of
from hardwon.memory.bank.store import Bank, Revision
from hardwon.memory.bank.words import Words, words

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_MEANING = 0.75
"""The weight of meaning where there is an embedder; words have the rest."""
_BY_WORDS = 64
"""So many texts are looked at for their words alone."""
_POOL = 16
"""From the best so many the final ones are chosen."""
_TOKEN = 4
"""Characters."""
_SAME = 0.8
"""Texts that share so many of their words say the same."""
_TWIN = 0.95
"""What is as like as this to an item that is chosen says the same."""
_KNOWN = 4096
"""So many items that were read are kept: a revision never changes."""
_HOME = 0.1
"""By so much relevance an item of the task's own repository comes before others."""
_FIELDS = ("kind", "suite", "repository", "task", "problem")


@dataclass(frozen=True, slots=True)
class Query:
    """What is asked for: the task's text, and what is known of the task; an empty field is no limit.

    Items of another kind of problem or another repository are left out, and those of the suites in `suites` if it names
    any; so are those that came from the same task, by its id or by its text (`problem`). Of those that are relevant
    enough, the items of the repository `home` come before others that are about as relevant.
    """

    text: str
    kind: str = ""
    repository: str = ""
    suites: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    task: str = ""
    problem: str = ""
    home: str = ""


@dataclass(frozen=True, slots=True)
class Limits:
    """At most `most` items of at least the relevance `floor` (0..1), together at most about `tokens` tokens.

    `variety` in 0..1 is how much likeness to what is chosen already counts against an item.
    """

    most: int = 3
    floor: float = 0.25
    tokens: int = 500
    variety: float = 0.3

    def __post_init__(self) -> None:
        if not (self.most >= 1 and 0 <= self.floor <= 1 and self.tokens >= 1 and 0 <= self.variety <= 1):
            raise UsageError(f"{self}: want at least 1 item and token, floor and variety between 0 and 1")


@dataclass(frozen=True, slots=True)
class Found:
    """An item that was chosen, and why: its relevance, its parts (`meaning` is None without an embedder), its words."""

    item: Item
    seq: int
    score: float
    meaning: float | None
    by_words: float
    words: tuple[str, ...]


class Index:
    """The recallable items of a snapshot, ready to be searched; it never changes.

    Only what ranking needs is held in memory; the items that are chosen are read from the bank. Texts without an
    embedding by this embedder are embedded now, and kept. `beside` are items that are not in the bank yet (their `seq`
    is below 0). Raises UsageError where numpy is missing, ModelError.
    """

    def __init__(
        self, bank: Bank, snapshot: int, embedder: Embedder | None = None, beside: Sequence[Item] = ()
    ) -> None:
        try:
            import numpy as np
        except ImportError as error:
            raise UsageError(f"the bank needs numpy ({error}): pip install hardwon[bank]") from error
        self.snapshot = snapshot
        self._bank = bank
        self._embedder = embedder
        self._known: dict[int, Revision] = {}
        self._seqs = array("q")
        self._codes: dict[str, dict[str, int]] = {name: {"": 0} for name in _FIELDS}
        self._columns = {name: array("i") for name in _FIELDS}
        self._tagged: dict[str, array[int]] = {}
        self._digests: list[bytes] = []
        self._beside = [Revision(-1 - n, item.id, item, 0.0, "") for n, item in enumerate(beside)]
        self._words = Words(self._read(chain(bank.scan(snapshot), self._beside)))
        self._meaning = None
        if embedder is not None and len(self):
            self._meaning = meaning_of(bank, embedder, snapshot, self._digests, self._texts)
        self._arrays: dict[str, NDArray[np.int32]] = {
            name: np.frombuffer(column, np.int32) if column else np.zeros(0, np.int32)
            for name, column in self._columns.items()
        }
        self._digests.clear()

    def __len__(self) -> int:
        return len(self._seqs)

    def embedded(self, text: str) -> NDArray[np.float32] | None:
        """The meaning of a task's text, for `search`; None where there is none. For any thread. Raises ModelError."""
        if self._embedder is None or self._meaning is None:
            return None
        vectors = checked(self._embedder, [text], query=True)
        return vectors.reshape(-1)

    def search(self, query: Query, limits: Limits, asked: NDArray[np.float32] | None = None) -> list[Found]:
        """The items for a task, the most relevant first; none is a normal answer.

        `asked` is what `embedded` gave for the text, if it was asked before. Raises BankError, ModelError.
        """
        import numpy as np

        allowed = self._allowed(query)
        if not allowed.any():
            return []
        words_asked = self._words.rarest_first(query.text)
        by_words = self._words.relevance(words_asked)
        by_words[~allowed] = 0
        rows = _highest(by_words, _BY_WORDS)
        meaning = None
        if asked is None:
            asked = self.embedded(query.text)
        if asked is not None and self._meaning is not None:
            rows = np.union1d(rows, self._meaning.nearest(asked, allowed))
            meaning = self._meaning.likeness(asked, rows)
            scores = _MEANING * meaning + (1 - _MEANING) * by_words[rows]
        else:
            scores = by_words[rows]
        ranked = scores + _HOME * self._at(query.home)[rows] if query.home else scores
        order = np.lexsort((rows, -ranked))
        order = order[(scores[order] >= limits.floor) & (scores[order] > 0)][:_POOL]
        items = [r.item for r in self._revisions([self._seqs[row] for row in rows[order]]) if r.item is not None]
        chosen = self._varied(items, rows[order], ranked[order], limits)
        return [
            Found(
                items[n],
                self._seqs[rows[order[n]]],
                round(float(scores[order[n]]), 4),
                None if meaning is None else round(float(meaning[order[n]]), 4),
                round(float(by_words[rows[order[n]]]), 4),
                shared(words_asked, items[n].text),
            )
            for n in chosen
        ]

    def _varied(
        self, items: Sequence[Item], rows: NDArray[np.intp], scores: NDArray[np.float32], limits: Limits
    ) -> list[int]:
        """Which of the pool are chosen, in the pool's order."""
        import numpy as np

        said = [frozenset(words(item.said)) for item in items]
        likest = np.zeros(len(items), np.float32)
        left = np.ones(len(items), np.bool_)
        chosen: list[int] = []
        room = limits.tokens
        while left.any() and len(chosen) < limits.most:
            best = int(np.argmax(np.where(left, scores - limits.variety * likest, -np.inf)))
            left[best] = False
            size = len(items[best].said) // _TOKEN + 1
            if size <= room and likest[best] < _TWIN:
                chosen.append(best)
                room -= size
                if len(chosen) < limits.most:
                    likest = np.maximum(likest, self._alike(said, rows, best))
        return sorted(chosen)

    def _alike(self, said: Sequence[frozenset[str]], rows: NDArray[np.intp], to: int) -> NDArray[np.float32]:
        """How much each of the pool is like one of them, by meaning or by what it says; twins come to 1."""
        import numpy as np

        by_words = np.array([_share(mine, said[to]) for mine in said], np.float32)
        by_words[by_words >= _SAME] = 1
        if self._meaning is None:
            return by_words
        return np.maximum(by_words, self._meaning.likeness(self._meaning.row(int(rows[to])), rows))

    def _at(self, repository: str) -> NDArray[np.bool_]:
        """Which items are of a repository."""
        import numpy as np

        return np.equal(self._arrays["repository"], self._codes["repository"].get(repository, -1))

    def _allowed(self, query: Query) -> NDArray[np.bool_]:
        import numpy as np

        allowed = np.ones(len(self), np.bool_)
        for name, value in (("kind", query.kind), ("repository", query.repository)):
            if value:
                allowed &= (self._arrays[name] == 0) | (self._arrays[name] == self._codes[name].get(value, -1))
        if query.suites:
            codes = [self._codes["suite"].get(suite, -1) for suite in query.suites]
            allowed &= np.isin(self._arrays["suite"], [0, *codes])
        for name, value in (("task", query.task), ("problem", query.problem)):
            if value in self._codes[name] and value:
                allowed &= self._arrays[name] != self._codes[name][value]
        for tag in query.tags:
            having = np.zeros(len(self), np.bool_)
            having[np.asarray(self._tagged.get(tag, ()), np.intp)] = True
            allowed &= having
        return allowed

    def _read(self, revisions: Iterable[Revision]) -> Iterator[str]:
        """Takes in each item's fields and gives its text to whoever indexes the words."""
        for revision in revisions:
            item = revision.item
            if item is None or item.state not in RECALLED:
                continue
            place = len(self._seqs)
            self._seqs.append(revision.seq)
            scope, origin = item.scope, item.provenance
            for name, value in zip(
                _FIELDS, (scope.kind, scope.suite, scope.repository, origin.task, origin.problem), strict=True
            ):
                codes = self._codes[name]
                self._columns[name].append(codes.setdefault(value, len(codes)))
            for tag in scope.tags:
                self._tagged.setdefault(tag, array("q")).append(place)
            self._digests.append(bytes.fromhex(item.digest))
            yield item.text

    def _texts(self, rows: Sequence[int]) -> list[str]:
        return [r.item.text for r in self._revisions([self._seqs[row] for row in rows]) if r.item is not None]

    def _revisions(self, seqs: Sequence[int]) -> list[Revision]:
        if len(self._known) > _KNOWN:
            self._known.clear()
        missing = [seq for seq in seqs if seq > 0 and seq not in self._known]
        self._known.update((revision.seq, revision) for revision in self._bank.revisions(missing))
        return [self._known[seq] if seq > 0 else self._beside[-1 - seq] for seq in seqs]


def shared(asked: Sequence[str], text: str) -> tuple[str, ...]:
    """The first eight of the words asked for that a text has."""
    mine = set(words(text))
    return tuple(word for word in asked if word in mine)[:8]


def overlap(one: str, other: str) -> float:
    """The share of words that two texts have in common (Jaccard)."""
    return _share(frozenset(words(one)), frozenset(words(other)))


def _share(mine: frozenset[str], theirs: frozenset[str]) -> float:
    return len(mine & theirs) / len(mine | theirs) if mine or theirs else 1.0


def _highest(values: NDArray[np.float32], most: int) -> NDArray[Any]:
    """The positions of the highest values above 0, at most `most`."""
    import numpy as np

    rows = np.flatnonzero(values)
    if len(rows) > most:
        limit = np.partition(values[rows], -most)[-most]
        rows = rows[values[rows] >= limit][: 2 * most]
    return rows
