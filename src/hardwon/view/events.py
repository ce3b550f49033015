"""The journal as the view reads it: by key, by rowid and over its index; never the whole of it."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from threading import RLock
from typing import Any

from hardwon.errors import UsageError
from hardwon.runs.journal import FILE, SCHEMA, Key
from hardwon.view.writer import is_written, stamp

_FAR = 20_000
"""With more new events than this, finished rows are found over the index, not by walking the events."""

_ROW = "CASE kind WHEN 'error' THEN json_extract(payload, '$.row') ELSE payload END"
_FINISHED = f"kind, task_id, arm, seed, at, json_set({_ROW}, '$.submission', json('null'))"


@dataclass(frozen=True, slots=True)
class Event:
    """One event of a task: its place in the journal, kind, 0-based index, seconds into the task, and payload."""

    seq: int
    kind: str
    index: int
    elapsed: float
    payload: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Finished:
    """A row that a task finished with, or that an error ended it with (then `error`), and when.

    `row` is its JSON without what was submitted: SQLite leaves it out before it comes here.
    """

    key: Key
    error: bool
    at: float
    row: str


class Events:
    """An open journal of a run folder, read only, safe to use from several threads.

    Raises UsageError, in one line, where there is none, it is damaged, of another version or gone.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / FILE
        self._lock = RLock()
        if not self._path.is_file():
            raise UsageError(f"{self._path}: no journal there (any more)")
        self._inode = self._path.stat().st_ino
        self._stamp = stamp(folder)
        self._live = is_written(folder)
        self._db = self._open()
        with self._errors():
            first = self._db.execute("SELECT at FROM events ORDER BY seq LIMIT 1").fetchone()
        self.identity = (self._inode, first[0] if first else 0.0)
        """Another one for a journal that was begun afresh, even where the system gives it the old one's place."""

    @property
    def current(self) -> bool:
        """Whether this still shows what lies in the folder."""
        try:
            same = self._path.stat().st_ino == self._inode
        except OSError:
            return False
        return same and (self._live or stamp(self._path.parent) == self._stamp)

    def newest(self, key: Key | None = None) -> int:
        """The place of the last event, of all or of a key; 0 for none. Grows with each event."""
        sql = "SELECT max(seq) FROM events"
        values: tuple[object, ...] = ()
        if key is not None:
            sql += " WHERE task_id = ? AND arm = ? AND seed = ?"
            values = (key.task_id, key.arm, key.seed)
        with self._errors():
            return int(self._db.execute(sql, values).fetchone()[0] or 0)

    def finished(self, after: int, until: int) -> Iterator[Finished]:
        """The rows and errors among the events after one place, up to another, in order."""
        kinds = "kind IN ('row', 'error')"
        found = f"seq > ? AND seq <= ? AND {kinds}"
        if until - after > _FAR or after == 0:
            found = f"seq IN (SELECT seq FROM events WHERE {kinds} AND +seq > ? AND +seq <= ?)"  # + : by the index
        with self._errors():
            for kind, task, arm, seed, at, row in self._db.execute(
                f"SELECT {_FINISHED} FROM events WHERE {found} ORDER BY seq", (after, until)
            ):
                yield Finished(Key(task, arm, seed), kind == "error", at, str(row or "{}"))

    def of(self, key: Key) -> list[Event]:
        """All that happened on one task in one arm, in order."""
        sql = "SELECT seq, kind, idx, elapsed, payload FROM events WHERE task_id = ? AND arm = ? AND seed = ?"
        with self._errors():
            found = self._db.execute(sql + " ORDER BY seq", (key.task_id, key.arm, key.seed)).fetchall()
        return [Event(seq, kind, index, elapsed, _object(payload)) for seq, kind, index, elapsed, payload in found]

    def sides(self, task_id: str) -> list[Key]:
        """The arms and seeds in which a task has been begun."""
        sql = "SELECT DISTINCT arm, seed FROM events WHERE task_id = ? ORDER BY arm, seed"
        with self._errors():
            return [Key(task_id, arm, seed) for arm, seed in self._db.execute(sql, (task_id,))]

    def recent(self, events: int = 400) -> list[tuple[Key, str, float]]:
        """Whose the last events are, the latest first: key, kind of its last event, and when that was."""
        sql = "SELECT task_id, arm, seed, kind, at FROM events WHERE seq > ? ORDER BY seq DESC"
        last: dict[Key, tuple[str, float]] = {}
        with self._errors():
            for task, arm, seed, kind, at in self._db.execute(sql, (self.newest() - events,)):
                last.setdefault(Key(task, arm, seed), (kind, at))
        return [(key, kind, at) for key, (kind, at) in last.items()]

    def close(self) -> None:
        with self._lock:
            self._db.close()

    def _open(self) -> sqlite3.Connection:
        """Opens the journal without writing anything beside it, so that a read-only folder or a share will do.

        What a running process writes is followed over the memory that it shares. A journal at rest is opened as one
        that does not change, with what a killed run left in its write-ahead log read into memory; when it changes after
        all it is no longer `current`.
        """
        wal = self._path.with_name(f"{FILE}-wal")
        try:
            if self._live:
                with suppress(sqlite3.OperationalError):
                    return self._checked("mode=ro")
                self._live = False
            if wal.exists() and wal.stat().st_size:
                return self._checked("mode=ro&vfs=unix-none", "PRAGMA locking_mode=EXCLUSIVE")
            return self._checked("mode=ro&immutable=1")
        except (sqlite3.DatabaseError, OSError) as error:
            raise UsageError(
                f"{self._path}: not a readable journal ({error}); if it is whole, view a copy of its folder"
            ) from error

    def _checked(self, how: str, first: str = "") -> sqlite3.Connection:
        address = f"{self._path.resolve().as_uri()}?{how}"
        db = sqlite3.connect(address, uri=True, isolation_level=None, check_same_thread=False, timeout=2)
        try:
            if first:
                db.execute(first)
            version = db.execute("PRAGMA user_version").fetchone()[0]
            if version != SCHEMA:
                raise UsageError(
                    f"{self._path}: written by another version (journal schema {version}, this one reads {SCHEMA})"
                )
            db.execute("SELECT seq, payload FROM events LIMIT 1").fetchone()
        except BaseException:
            db.close()
            raise
        return db

    @contextmanager
    def _errors(self) -> Iterator[None]:
        with self._lock:
            try:
                yield
            except (sqlite3.Error, ValueError, TypeError, RecursionError) as error:
                raise UsageError(f"{self._path}: does not read ({error}); it is damaged, or not a journal") from error


def _object(text: str) -> dict[str, Any]:
    """A payload. Raises ValueError where it is none."""
    found = json.loads(text)
    if not isinstance(found, dict):
        raise ValueError("an event is no object")
    return found
