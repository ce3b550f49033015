"""Nearest neighbours among the embeddings of a bank: exact for small ones, by sign bits and then exactly for large."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_EXACT = 8192
"""Up to so many vectors every one is compared."""
_RESCORED = 1000
"""Of more, those whose signs agree with the query's in the most dimensions are compared."""


class Vectors:
    """Unit vectors, many of them kept in float16; a row of zeros stands for an item without an embedding."""

    def __init__(self, rows: NDArray[np.float16]) -> None:
        import numpy as np

        self._rows: NDArray[np.floating[Any]] = rows if len(rows) > _EXACT else rows.astype(np.float32)
        self._signs: NDArray[np.uint64] | None = None
        if len(rows) > _EXACT:
            packed = np.concatenate([np.packbits(part > 0, axis=1) for part in np.array_split(rows, 16)])
            padded = np.pad(packed, ((0, 0), (0, -packed.shape[1] % 8)))
            self._signs = np.ascontiguousarray(padded).view(np.uint64)

    def __len__(self) -> int:
        return len(self._rows)

    def nearest(self, query: NDArray[np.float32], among: NDArray[np.bool_]) -> NDArray[np.intp]:
        """The rows worth comparing with the query, of those in `among`."""
        import numpy as np

        if self._signs is None:
            return np.flatnonzero(among)
        packed = np.packbits(query > 0)
        mine = np.pad(packed, (0, -len(packed) % 8)).view(np.uint64)
        differing = np.bitwise_count(self._signs ^ mine).sum(axis=1, dtype=np.uint16)
        differing[~among] = np.iinfo(np.uint16).max
        if len(differing) > _RESCORED:
            limit = np.partition(differing, _RESCORED)[_RESCORED]
            nearer = np.flatnonzero((differing < limit) & among)
            as_near = np.flatnonzero((differing == limit) & among)[: _RESCORED - len(nearer)]
            return np.union1d(nearer, as_near)
        return np.flatnonzero(among)

    def likeness(self, query: NDArray[np.float32], rows: NDArray[np.intp]) -> NDArray[np.float32]:
        """The cosine of the query with these rows."""
        import numpy as np

        return np.asarray(self._rows[rows].astype(np.float32, copy=False) @ query, dtype=np.float32)

    def row(self, place: int) -> NDArray[np.float32]:
        import numpy as np

        return np.asarray(self._rows[place].astype(np.float32, copy=False))
