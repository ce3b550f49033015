"""Sealed sets of embeddings on PostgreSQL with pgvector: a table of its own for each, under an HNSW index.

An HNSW graph (Malkov & Yashunin 2020) finds otherwise as it grows. So nothing is ever added to a sealed set: what is
embedded later waits beside it, until so much is beside it that a larger set is sealed. The last two are kept, and
those that somebody reads.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Sequence, Set
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

LARGEST = 4000
"""Values of an embedding; pgvector indexes no larger half-precision vectors."""
_EFFORT = 128
"""Candidates that the search keeps (`ef_search`): recall for time."""
_SEALER = 0x68617273
"""The advisory lock of whoever seals."""
_PREPARER = 0x68617270
"""The advisory lock of whoever makes sure of the extension."""
_READER = 0x68617264
"""The advisory locks of those who read a set, by its number."""
_OLDEST = (0, 8)
"""The first version with iterative scans."""
_KEPT = 2
_COPIED = 4096
_TABLE = (
    "CREATE TABLE IF NOT EXISTS sealed (number INTEGER PRIMARY KEY, model TEXT NOT NULL, size INTEGER NOT NULL, "
    "snapshot INTEGER NOT NULL, held INTEGER NOT NULL)"
)

Errors = Callable[[], AbstractContextManager[None]]


@dataclass(frozen=True, slots=True)
class SealedTable:
    """One sealed set; `held` embeddings of `size` values. Vectors come as float16 in little-endian order."""

    db: Any
    errors: Errors
    number: int
    size: int
    held: int

    def digests(self) -> Iterator[tuple[bytes, int]]:
        with self.errors(), self.db.transaction(), self.db.cursor(name="digests", binary=True) as cursor:
            cursor.itersize = 10_000
            cursor.execute(f"SELECT digest, place FROM sealed_{self.number}")
            yield from cursor

    def nearest(self, query: Sequence[float], most: int) -> list[tuple[int, bytes]]:
        return self._found(f"ORDER BY embedding <#> %s::halfvec({self.size}) LIMIT %s", (_text(query), most))

    def nearest_of(self, query: Sequence[float], places: Sequence[int], most: int) -> list[tuple[int, bytes]]:
        # + 0 keeps the index, which is approximate, out of it
        order = f"ORDER BY (embedding <#> %s::halfvec({self.size})) + 0 LIMIT %s"
        return self._found(f"WHERE place = ANY(%s) {order}", (list(places), _text(query), most))

    def vectors(self, places: Sequence[int]) -> list[tuple[int, bytes]]:
        return self._found("WHERE place = ANY(%s)", (list(places),))

    def _found(self, rest: str, values: Sequence[Any]) -> list[tuple[int, bytes]]:
        sql = f"SELECT place, halfvec_send(embedding) FROM sealed_{self.number} {rest}"
        with self.errors():
            rows = self.db.execute(sql, values, binary=True).fetchall()
        return [(place, _swapped(bytes(sent[4:]))) for place, sent in rows]


def prepare(db: Any, errors: Errors) -> tuple[str | None, str]:
    """The version of pgvector that can be used from now on; None with the reason where there is none."""
    import psycopg
    import psycopg.sql

    try:
        with db.transaction():
            db.execute("SELECT pg_advisory_xact_lock(%s)", (_PREPARER,))
            if not _extension(db):
                db.execute("CREATE EXTENSION vector SCHEMA public")
    except psycopg.Error as error:
        return None, f"pgvector is not there: {str(error).splitlines()[0]}"
    with errors(), db.transaction():
        db.execute("SELECT pg_advisory_xact_lock(%s)", (_PREPARER,))
        schema, version = _extension(db)[0]
        path = psycopg.sql.SQL("SET search_path TO hardwon, {}")
        db.execute(path.format(psycopg.sql.Identifier(schema)))
        if tuple(map(int, version.split(".")[:2])) < _OLDEST:
            return None, f"pgvector {version} is too old, 0.8 is needed"
        db.execute(f"SET hnsw.ef_search = {_EFFORT}")
        db.execute("SET hnsw.iterative_scan = 'relaxed_order'")
        db.execute(_TABLE)
    return version, ""


def newest(db: Any, errors: Errors, model: str, size: int, snapshot: int) -> SealedTable | None:
    """The last set that was sealed at a snapshot or before it; it stays as long as this connection does."""
    sql = (
        "SELECT number, held FROM sealed WHERE model = %s AND size = %s AND snapshot <= %s "
        "ORDER BY snapshot DESC, number DESC LIMIT 1"
    )
    with errors():
        row = db.execute(sql, (model, size, snapshot)).fetchone()
        while row is not None:
            db.execute("SELECT pg_advisory_lock_shared(%s, %s)", (_READER, row[0]))
            again = db.execute(sql, (model, size, snapshot)).fetchone()
            if again == row:
                return SealedTable(db, errors, row[0], size, row[1])
            row = again  # that one went, or a later one came, before it was locked
    return None


def seal(db: Any, errors: Errors, model: str, size: int, snapshot: int, digests: Set[str]) -> SealedTable:
    """Seals the embeddings that the bank has of these texts, unless another process has just done so."""
    with errors():
        before = newest(db, errors, model, size, snapshot)
        with db.transaction():
            db.execute("SELECT pg_advisory_xact_lock(%s)", (_SEALER,))
            now = newest(db, errors, model, size, snapshot)
            if now is not None and now != before:
                return now
            number = db.execute("SELECT COALESCE(MAX(number), 0) + 1 FROM sealed").fetchone()[0]
            db.execute(
                f"CREATE TABLE sealed_{number} (place INTEGER PRIMARY KEY, digest BYTEA NOT NULL, "
                f"embedding halfvec({size}) NOT NULL)"
            )
            held = _copy(db, number, model, size, sorted(digests))
            db.execute("SET LOCAL maintenance_work_mem = '512MB'")
            db.execute("SET LOCAL max_parallel_maintenance_workers = 0")
            db.execute(f"CREATE INDEX ON sealed_{number} USING hnsw (embedding halfvec_ip_ops)")
            db.execute("INSERT INTO sealed VALUES (%s, %s, %s, %s, %s)", (number, model, size, snapshot, held))
            _drop_old(db, model)
            db.execute("SELECT pg_advisory_lock_shared(%s, %s)", (_READER, number))
        db.execute(f"ANALYZE sealed_{number}")
    return SealedTable(db, errors, number, size, held)


def _extension(db: Any) -> list[tuple[str, str]]:
    sql = "SELECT nspname, extversion FROM pg_extension JOIN pg_namespace n ON n.oid = extnamespace"
    found: list[tuple[str, str]] = db.execute(f"{sql} WHERE extname = 'vector'").fetchall()
    return found


def _copy(db: Any, number: int, model: str, size: int, digests: Sequence[str]) -> int:
    """Copies embeddings into a set, in PostgreSQL's binary form; how many."""
    place = 0
    for start in range(0, len(digests), _COPIED):
        found = db.execute(
            "SELECT digest, vector FROM vectors WHERE model = %s AND digest = ANY(%s) AND length(vector) = %s "
            "ORDER BY digest",
            (model, list(digests[start : start + _COPIED]), 2 * size),
            binary=True,
        ).fetchall()
        with db.cursor().copy(f"COPY sealed_{number} FROM STDIN (FORMAT BINARY)") as copy:
            copy.write(b"PGCOPY\n\xff\r\n\0" + struct.pack(">ii", 0, 0))
            for digest, vector in found:
                values = struct.pack(">hh", size, 0) + _swapped(bytes(vector))
                head = struct.pack(">hiii", 3, 4, place, 16) + bytes.fromhex(digest)
                copy.write(head + struct.pack(">i", len(values)) + values)
                place += 1
            copy.write(struct.pack(">h", -1))
    return place


def _drop_old(db: Any, model: str) -> None:
    rows = db.execute("SELECT number FROM sealed WHERE model = %s ORDER BY number DESC", (model,)).fetchall()
    for (old,) in rows[_KEPT:]:
        if not db.execute("SELECT pg_try_advisory_xact_lock(%s, %s)", (_READER, old)).fetchone()[0]:
            continue
        db.execute(f"DROP TABLE IF EXISTS sealed_{old}")
        db.execute("DELETE FROM sealed WHERE number = %s", (old,))


def _swapped(values: bytes) -> bytes:
    """Half-precision values in the other order of bytes."""
    swapped = bytearray(values)
    swapped[0::2], swapped[1::2] = values[1::2], values[0::2]
    return bytes(swapped)


def _text(query: Sequence[float]) -> str:
    return "[" + ",".join(f"{value:.6g}" for value in query) + "]"
