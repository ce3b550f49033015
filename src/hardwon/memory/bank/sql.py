"""The bank in SQL that SQLite and PostgreSQL both speak; the stores add how to connect, to lock and to fail."""

from __future__ import annotations

import json
import time
import uuid
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from contextlib import AbstractContextManager
from typing import Any

from hardwon.errors import UsageError
from hardwon.memory.bank.item import Item
from hardwon.memory.bank.store import Episode, Outcome, Revision, Sealed, Use

SCHEMA = 1

_TABLES = (
    "CREATE TABLE bank (id TEXT NOT NULL, schema INTEGER NOT NULL)",
    "CREATE TABLE revisions (seq INTEGER PRIMARY KEY, item TEXT NOT NULL, until INTEGER, at {real} NOT NULL, "
    "reason TEXT NOT NULL, payload TEXT)",
    "CREATE UNIQUE INDEX revisions_current ON revisions (item) WHERE until IS NULL",
    "CREATE INDEX revisions_item ON revisions (item)",
    "CREATE TABLE episodes (number INTEGER PRIMARY KEY, run TEXT NOT NULL, task TEXT NOT NULL, arm TEXT NOT NULL, "
    "seed INTEGER NOT NULL, won INTEGER, tokens INTEGER NOT NULL, at {real} NOT NULL, UNIQUE (run, task, arm, seed))",
    "CREATE TABLE uses (episode INTEGER NOT NULL, item TEXT NOT NULL, shown INTEGER NOT NULL, place INTEGER NOT NULL, "
    "score {real} NOT NULL, PRIMARY KEY (episode, item))",
    "CREATE TABLE vectors (model TEXT NOT NULL, digest TEXT NOT NULL, vector {blob} NOT NULL, "
    "PRIMARY KEY (model, digest))",
    "CREATE INDEX uses_item ON uses (item)",
)
_INSERT = "INSERT INTO revisions (seq, item, until, at, reason, payload) VALUES (?, ?, NULL, ?, ?, ?)"
_COLUMNS = "seq, item, payload, at, reason"
_AT_ONCE = 500
"""Values that are asked for in one query."""


class SqlBank(ABC):
    """A bank in a database. What it writes goes through `_writing`, one transaction at a time over all processes."""

    id: str
    name: str
    _types: Mapping[str, str]

    @abstractmethod
    def _all(self, sql: str, values: Sequence[Any] = ()) -> list[Any]:
        """The rows of a query, or nothing for another statement."""

    @abstractmethod
    def _each(self, sql: str, values: Sequence[Any] = ()) -> Iterator[Any]:
        """The rows of a query, one at a time."""

    @abstractmethod
    def _many(self, sql: str, rows: Iterable[Sequence[Any]]) -> None:
        """The same statement for many rows."""

    @abstractmethod
    def _writing(self) -> AbstractContextManager[None]:
        """A transaction that no other writer is in; nothing of it stays if it fails."""

    @abstractmethod
    def _has_tables(self) -> bool: ...

    def head(self) -> int:
        return int(self._all("SELECT COALESCE(MAX(seq), 0) FROM revisions")[0][0])

    def scan(self, at: int | None = None) -> Iterator[Revision]:
        where = "until IS NULL" if at is None else "seq <= ? AND (until IS NULL OR until > ?)"
        values = () if at is None else (at, at)
        sql = f"SELECT {_COLUMNS} FROM revisions WHERE {where} AND payload IS NOT NULL ORDER BY item"
        return map(_revision, self._each(sql, values))

    def revisions(self, seqs: Sequence[int]) -> list[Revision]:
        if not seqs:
            return []
        marks = ",".join("?" * len(seqs))
        rows = self._all(f"SELECT {_COLUMNS} FROM revisions WHERE seq IN ({marks})", tuple(seqs))
        found = {row[0]: _revision(row) for row in rows}
        return [found[seq] for seq in seqs]

    def history(self, item_id: str) -> list[Revision]:
        rows = self._all(f"SELECT {_COLUMNS} FROM revisions WHERE item = ? ORDER BY seq", (item_id,))
        return [_revision(row) for row in rows]

    def write(self, items: Iterable[Item], reason: str) -> int:
        payloads = [(item.id, _payload(item)) for item in items]
        with self._writing():
            return self._append(payloads, reason)

    def rollback(self, at: int) -> int:
        with self._writing():
            head = self.head()
            if not 0 <= at <= head:
                raise UsageError(f"{self.name}: has no snapshot {at}; its snapshots are 0 to {head}")
            then = dict(self._state("seq <= ? AND (until IS NULL OR until > ?)", (at, at)))
            now = dict(self._state("until IS NULL"))
            changed = [(key, then.get(key)) for key in sorted({*then, *now}) if then.get(key) != now.get(key)]
            return self._append(changed, f"rolled back to {at}")

    def admit(self, episode: Episode, items: Sequence[Item], uses: Sequence[Use]) -> bool:
        payloads = [(item.id, _payload(item)) for item in items]
        key = (episode.run, episode.task, episode.arm, episode.seed)
        with self._writing():
            if self._all("SELECT 1 FROM episodes WHERE run = ? AND task = ? AND arm = ? AND seed = ?", key):
                return False
            number = int(self._all("SELECT COALESCE(MAX(number), 0) + 1 FROM episodes")[0][0])
            won = None if episode.won is None else int(episode.won)
            self._all(
                "INSERT INTO episodes (number, run, task, arm, seed, won, tokens, at) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                (number, *key, won, episode.tokens, time.time()),
            )
            self._many(
                "INSERT INTO uses (episode, item, shown, place, score) VALUES (?, ?, ?, ?, ?)",
                [(number, use.item_id, int(use.shown), use.rank, use.score) for use in uses],
            )
            self._append(payloads, f"induced from {episode.task}")
        return True

    def outcomes(self) -> list[Outcome]:
        rows = self._all(
            "SELECT item, task, shown, won, tokens FROM uses JOIN episodes ON episode = number "
            "WHERE won IS NOT NULL ORDER BY number, place"
        )
        return [Outcome(item, task, bool(shown), bool(won), tokens) for item, task, shown, won, tokens in rows]

    def counts(self) -> tuple[int, int]:
        return (
            int(self._all("SELECT COUNT(*) FROM episodes")[0][0]),
            int(self._all("SELECT COUNT(*) FROM uses")[0][0]),
        )

    def need_writable(self) -> None:
        with self._writing():
            pass

    def idle(self) -> dict[str, int]:
        rows = self._all(
            "SELECT item, (SELECT COUNT(*) FROM episodes WHERE episodes.at > revisions.at AND number > "
            "(SELECT COALESCE(MAX(episode), 0) FROM uses WHERE uses.item = revisions.item)) "
            "FROM revisions WHERE until IS NULL AND payload IS NOT NULL"
        )
        return {item: int(count) for item, count in rows}

    def vectors(self, model: str, digests: Sequence[str] | None = None) -> Iterator[tuple[str, bytes]]:
        sql = "SELECT digest, vector FROM vectors WHERE model = ?"
        if digests is None:
            yield from ((digest, bytes(vector)) for digest, vector in self._each(sql, (model,)))
            return
        for start in range(0, len(digests), _AT_ONCE):
            part = digests[start : start + _AT_ONCE]
            marks = ",".join("?" * len(part))
            for digest, vector in self._all(f"{sql} AND digest IN ({marks})", (model, *part)):
                yield digest, bytes(vector)

    def keep_vectors(self, model: str, vectors: Mapping[str, bytes]) -> None:
        if vectors:
            with self._writing():
                self._many(
                    "INSERT INTO vectors (model, digest, vector) VALUES (?, ?, ?) ON CONFLICT (model, digest) "
                    "DO UPDATE SET vector = excluded.vector WHERE length(vectors.vector) <> length(excluded.vector)",
                    [(model, digest, vector) for digest, vector in vectors.items()],
                )

    def indexes(self, size: int) -> bool:
        return False

    def sealed(self, model: str, size: int, snapshot: int) -> Sealed | None:
        return None

    def seal(self, model: str, size: int, snapshot: int, digests: Set[str]) -> Sealed:
        raise NotImplementedError(f"{self.name}: has no index of its own")

    def nearness(self) -> str:
        return "in memory"

    def _open(self) -> None:
        """Makes the tables where there are none. Raises UsageError for those of another version."""
        if not self._has_tables():
            with self._writing():
                if not self._has_tables():
                    for statement in _TABLES:
                        self._all(statement.format(**self._types))
                    self._all("INSERT INTO bank (id, schema) VALUES (?, ?)", (uuid.uuid4().hex[:12], SCHEMA))
        self.id, schema = self._all("SELECT id, schema FROM bank")[0]
        if schema != SCHEMA:
            raise UsageError(
                f"{self.name}: written by another version (bank schema {schema}, this one reads {SCHEMA}); export it "
                "with that version and import it here"
            )

    def _append(self, payloads: Sequence[tuple[str, str | None]], reason: str) -> int:
        first, now = self.head() + 1, time.time()
        last = dict(payloads)  # of an item that is given twice the last version counts
        rows = [(first + n, key, now, reason, payload) for n, (key, payload) in enumerate(last.items())]
        self._many("UPDATE revisions SET until = ? WHERE item = ? AND until IS NULL", [row[:2] for row in rows])
        self._many(_INSERT, rows)
        return first + len(rows) - 1

    def _state(self, where: str, values: Sequence[Any] = ()) -> list[tuple[str, str | None]]:
        return [
            (key, payload)
            for key, payload in self._all(f"SELECT item, payload FROM revisions WHERE {where}", values)
            if payload is not None
        ]


def _payload(item: Item) -> str:
    return json.dumps(item.as_json(), ensure_ascii=True, separators=(",", ":"))


def _revision(row: Sequence[Any]) -> Revision:
    seq, item_id, payload, at, reason = row
    return Revision(seq, item_id, None if payload is None else Item.from_json(json.loads(payload)), at, reason)
