"""The meaning of a snapshot's texts: their embeddings, held in memory, or on the bank's server behind an index.

A store with an index of its own gets large snapshots sealed: their embeddings go into a set that never changes again,
so that what the index finds depends on nothing that is admitted later. Texts beside the set are compared exactly.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol

from hardwon.errors import UsageError
from hardwon.memory.bank.embedding import Embedder, checked
from hardwon.memory.bank.store import Bank, Sealed
from hardwon.memory.bank.vectors import Vectors

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

IN_MEMORY = 4096
"""Up to so many embeddings are held in memory, whatever the store can do."""
_BATCH = 256
_NEAREST = 64
"""So many are asked of the index at first."""
_ENOUGH = 32
"""With fewer than these among the allowed ones, it is asked for more."""
_FEW = 2048
"""Where so few are allowed, all of them are compared."""
_REMEMBERED = 4096

Texts = Callable[[Sequence[int]], list[str]]
"""The texts of rows of a snapshot."""


class Meaning(Protocol):
    """The embeddings of a snapshot's rows."""

    def nearest(self, query: NDArray[np.float32], among: NDArray[np.bool_]) -> NDArray[np.intp]:
        """The rows worth comparing with the query, of those in `among`."""
        ...

    def likeness(self, query: NDArray[np.float32], rows: NDArray[np.intp]) -> NDArray[np.float32]:
        """The cosine of the query with these rows."""
        ...

    def row(self, place: int) -> NDArray[np.float32]: ...


def meaning_of(bank: Bank, embedder: Embedder, snapshot: int, digests: Sequence[bytes], texts: Texts) -> Meaning:
    """The embeddings of a snapshot, row by row; those that the bank lacks are made now, and kept.

    Raises BankError, ModelError.
    """
    import numpy as np

    if len(digests) <= IN_MEMORY or not bank.indexes(embedder.size):
        return Vectors(_embedded(bank, embedder, digests, range(len(digests)), texts))
    sealed = bank.sealed(embedder.name, embedder.size, snapshot)
    places = _places(sealed, digests)
    loose = np.flatnonzero(places < 0)
    if sealed is None or len(loose) > max(IN_MEMORY, (len(digests) - len(loose)) // 2):
        _embed_missing(bank, embedder, digests, texts)
        sealed = bank.seal(embedder.name, embedder.size, snapshot, {digest.hex() for digest in digests})
        places = _places(sealed, digests)
        loose = np.flatnonzero(places < 0)
    return _Served(sealed, places, loose, Vectors(_embedded(bank, embedder, digests, loose.tolist(), texts)))


class _Served:
    """A sealed set on the server, and what is loose beside it in memory. `places` are the rows' in the set, or -1."""

    def __init__(self, sealed: Sealed, places: NDArray[np.int64], loose: NDArray[np.intp], beside: Vectors) -> None:
        import numpy as np

        self._sealed = sealed
        self._places = places
        self._loose = loose
        self._beside = beside
        self._by_place = np.argsort(places, kind="stable")
        self._sorted = places[self._by_place]
        self._known: dict[int, NDArray[np.float32]] = {}

    def nearest(self, query: NDArray[np.float32], among: NDArray[np.bool_]) -> NDArray[np.intp]:
        import numpy as np

        beside = self._loose[self._beside.nearest(query, among[self._loose])]
        return np.union1d(beside, self._on_server(query, among))

    def likeness(self, query: NDArray[np.float32], rows: NDArray[np.intp]) -> NDArray[np.float32]:
        import numpy as np

        wanted = {int(place) for place in self._places[rows] if place >= 0} - self._known.keys()
        if wanted:
            self._remember(self._sealed.vectors(sorted(wanted)))
        vectors = [self._vector(int(row)) for row in rows]
        return np.stack(vectors) @ query if vectors else np.zeros(0, np.float32)

    def row(self, place: int) -> NDArray[np.float32]:
        return self._vector(place)

    def _on_server(self, query: NDArray[np.float32], among: NDArray[np.bool_]) -> NDArray[np.intp]:

        allowed = self._places[among & (self._places >= 0)]
        if len(allowed) <= _FEW:
            found = self._sealed.nearest_of(query.tolist(), allowed.tolist(), _NEAREST) if len(allowed) else []
            return self._rows(self._remember(found), among)
        most = _NEAREST
        while True:
            found = self._sealed.nearest(query.tolist(), most)
            rows = self._rows(self._remember(found), among)
            if len(rows) >= _ENOUGH or len(found) < most:
                return rows
            most *= 8

    def _rows(self, places: NDArray[np.int64], among: NDArray[np.bool_]) -> NDArray[np.intp]:
        """The rows at these places, several where they have the same text."""
        import numpy as np

        first, last = (np.searchsorted(self._sorted, places, side) for side in ("left", "right"))
        spans = [self._by_place[a:b] for a, b in zip(first, last, strict=True)]
        rows = np.concatenate(spans) if spans else np.zeros(0, np.intp)
        return np.asarray(rows[among[rows]], np.intp)

    def _remember(self, found: Sequence[tuple[int, bytes]]) -> NDArray[np.int64]:
        import numpy as np

        if len(self._known) > _REMEMBERED:
            self._known.clear()
        self._known.update((place, np.frombuffer(kept, "<f2").astype(np.float32)) for place, kept in found)
        return np.array([place for place, _ in found], np.int64)

    def _vector(self, row: int) -> NDArray[np.float32]:
        import numpy as np

        place = int(self._places[row])
        if place < 0:
            return self._beside.row(int(np.searchsorted(self._loose, row)))
        if place not in self._known:
            self._remember(self._sealed.vectors([place]))
        return self._known[place]


def _places(sealed: Sealed | None, digests: Sequence[bytes]) -> NDArray[np.int64]:
    import numpy as np

    held = {} if sealed is None else dict(sealed.digests())
    return np.array([held.get(digest, -1) for digest in digests], np.int64)


def _embedded(
    bank: Bank, embedder: Embedder, digests: Sequence[bytes], rows: Sequence[int], texts: Texts
) -> NDArray[np.float16]:
    """The embeddings of these rows."""
    import numpy as np

    made = np.zeros((len(rows), embedder.size), np.float16)
    places: dict[bytes, list[int]] = {}
    for place, row in enumerate(rows):
        places.setdefault(digests[row], []).append(place)
    wanted = None if len(rows) == len(digests) else [digest.hex() for digest in places]
    for text, kept in bank.vectors(embedder.name, wanted):
        if len(kept) != 2 * embedder.size:  # the embedder has changed under its name
            continue
        for place in places.pop(bytes.fromhex(text), ()):
            made[place] = np.frombuffer(kept, "<f2")
    left = list(places.values())
    for start in range(0, len(left), _BATCH):
        part = left[start : start + _BATCH]
        new = _embed(bank, embedder, digests, [rows[where[0]] for where in part], texts)
        for where, vector in zip(part, new, strict=True):
            made[where] = vector
    return made


def _embed_missing(bank: Bank, embedder: Embedder, digests: Sequence[bytes], texts: Texts) -> None:
    missing = {digest: row for row, digest in enumerate(digests)}
    for text, kept in bank.vectors(embedder.name):
        if len(kept) == 2 * embedder.size:
            missing.pop(bytes.fromhex(text), None)
    rows = list(missing.values())
    for start in range(0, len(rows), _BATCH):
        _embed(bank, embedder, digests, rows[start : start + _BATCH], texts)


def _embed(
    bank: Bank, embedder: Embedder, digests: Sequence[bytes], rows: Sequence[int], texts: Texts
) -> NDArray[np.float16]:
    """New embeddings of these rows. Of a bank that is only read they are made again next time."""
    made = checked(embedder, texts(rows)).astype("<f2")
    try:
        kept = {digests[row].hex(): vector.tobytes() for row, vector in zip(rows, made, strict=True)}
        bank.keep_vectors(embedder.name, kept)
    except UsageError:
        pass
    return made
