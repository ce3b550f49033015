"""The journal of a run: one SQLite file, append-only, one writer; the source of resume, replay, results and reports.

Every effect is one row of `events`, committed before it is used, so that a process killed at any point has lost at
most the call that was under way. `synchronous=NORMAL` in WAL mode survives the death of the process; the loss of the
machine's power may cost the last moments, never the file.
"""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

from hardwon.errors import JournalError, UsageError
from hardwon.models.protocol import Role
from hardwon.record import Payload

SCHEMA = 1
FILE = "journal.sqlite"

_CREATE = """
CREATE TABLE IF NOT EXISTS events (
    seq INTEGER PRIMARY KEY,
    task_id TEXT NOT NULL,
    arm TEXT NOT NULL,
    seed INTEGER NOT NULL,
    kind TEXT NOT NULL,
    idx INTEGER NOT NULL,
    at REAL NOT NULL,
    elapsed REAL NOT NULL,
    payload TEXT NOT NULL,
    UNIQUE (task_id, arm, seed, kind, idx)
) STRICT
"""
_GRADED = ("grade", "row", "error")
_ROLES: tuple[str, ...] = get_args(Role)
_COLUMNS = "task_id, arm, seed, kind, idx, at, elapsed, payload"
_INSERT = f"INSERT INTO events ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"


@dataclass(frozen=True, slots=True)
class Key:
    """What one piece of work is known by: the task's id, the arm's name and the seed (law 7)."""

    task_id: str
    arm: str
    seed: int


class Journal:
    """The open journal of a run folder. To read one that is at rest sees it as it stands: open it anew after a run.

    Raises UsageError for a file of another version or a damaged one (also when a damaged event is read), JournalError
    when it can not be written.
    """

    def __init__(self, path: Path, *, read_only: bool = False) -> None:
        self.path = path
        if read_only and not path.is_file():
            raise UsageError(f"{path}: no journal there; give a run folder")
        try:
            address = f"{path.resolve().as_uri()}?{_reading(path)}" if read_only else str(path)
            self._db = sqlite3.connect(address, uri=read_only, isolation_level=None, check_same_thread=False)
            version = self._db.execute("PRAGMA user_version").fetchone()[0]
            new = not read_only and version == 0 and not self._tables()
            if new:
                self._db.execute("PRAGMA journal_mode=WAL")
                self._db.execute(_CREATE)
                self._db.execute(f"PRAGMA user_version={SCHEMA}")
            elif version != SCHEMA:
                raise UsageError(
                    f"{path}: written by another version (journal schema {version}, this one reads {SCHEMA}); "
                    "start with --fresh or another --out"
                )
            self._db.execute("PRAGMA synchronous=NORMAL")
            self._db.execute(f"SELECT seq, {_COLUMNS} FROM events LIMIT 1")
        except sqlite3.DatabaseError as error:
            if _about_space(error):
                raise JournalError(f"{path}: {error}; free some space and run the same command again") from error
            raise UsageError(
                f"{path}: not a readable journal ({error}); start with --fresh or another --out"
            ) from error

    def append(self, key: Key, kind: str, index: int, payload: Payload, elapsed: float = 0.0) -> None:
        """Commits one event. Raises JournalError when it can not be kept."""
        text = json.dumps(payload, ensure_ascii=True, separators=(",", ":"))
        row = (key.task_id, key.arm, key.seed, kind, index, time.time(), elapsed, text)
        with self._errors():
            self._db.execute(_INSERT, row)

    def record(self, key: Key) -> JournalRecord:
        """The record of one piece of work, with what earlier sittings left of it."""
        with self._errors():
            rows = self._db.execute(
                "SELECT kind, idx, elapsed, payload FROM events WHERE task_id = ? AND arm = ? AND seed = ?",
                (key.task_id, key.arm, key.seed),
            ).fetchall()
        saved = {(kind, index): self._read(payload) for kind, index, _, payload in rows}
        return JournalRecord(self, key, saved, max((row[2] for row in rows), default=0.0))

    def payloads(self, kind: str, key: Key | None = None) -> Iterator[tuple[Key, int, Any]]:
        """The events of a kind, in the order they were written: whose, index and payload; one at a time."""
        sql = "SELECT task_id, arm, seed, idx, payload FROM events WHERE kind = ?"
        values: tuple[object, ...] = (kind,)
        if key is not None:
            sql += " AND task_id = ? AND arm = ? AND seed = ?"
            values += (key.task_id, key.arm, key.seed)
        with self._errors():
            for task_id, arm, seed, index, payload in self._db.execute(sql + " ORDER BY seq", values):
                yield Key(task_id, arm, seed), index, self._read(payload)

    def calls(self, task_id: str, seed: int) -> Iterator[tuple[str, int, Payload]]:
        """The model calls of all arms on a task and seed, in the order they were made: role, number and payload."""
        marks = ",".join("?" * len(_ROLES))
        sql = f"SELECT kind, idx, payload FROM events WHERE task_id = ? AND seed = ? AND kind IN ({marks}) ORDER BY seq"
        with self._errors():
            for role, index, payload in self._db.execute(sql, (task_id, seed, *_ROLES)):
                call = self._read(payload)
                if not isinstance(call.get("digest"), str) or not isinstance(call.get("completion"), dict):
                    raise UsageError(f"{self.path}: task {task_id}: a model call of another version; give another run")
                yield role, index, call

    def keys(self, kind: str) -> list[Key]:
        """Whose events of a kind there are, each once."""
        with self._errors():
            rows = self._db.execute("SELECT DISTINCT task_id, arm, seed FROM events WHERE kind = ?", (kind,))
            return [Key(*row) for row in rows]

    def close(self) -> None:
        """All that was written stands in the main file then, also while somebody reads."""
        with suppress(sqlite3.Error):  # it stands in the log beside it all the same
            self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        self._db.close()

    def _read(self, text: str) -> Payload:
        """A payload. Raises UsageError where it is not what `append` wrote."""
        try:
            payload = json.loads(text)
            if not isinstance(payload, dict):
                raise ValueError("it is no object")
        except (ValueError, TypeError, RecursionError) as error:
            raise UsageError(
                f"{self.path}: an event does not read ({error}), so it is damaged; start with --fresh or another --out"
            ) from error
        return payload

    def _tables(self) -> list[Any]:
        return self._db.execute("SELECT name FROM sqlite_master").fetchall()

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            mend = "free some space" if _about_space(error) else "see that the folder can be written"
            raise JournalError(
                f"{self.path}: {error}; nothing finished is lost: {mend} and run the same command again"
            ) from error


class JournalRecord:
    """The durable `Record` of one piece of work."""

    def __init__(
        self, journal: Journal, key: Key, saved: dict[tuple[str, int], Payload], earlier_seconds: float
    ) -> None:
        self.earlier_seconds = earlier_seconds
        self._journal = journal
        self._key = key
        self._saved = saved

    def get(self, kind: str, index: int) -> Payload | None:
        return self._saved.get((kind, index))

    def put(self, kind: str, index: int, payload: Payload, elapsed: float) -> None:
        self._journal.append(self._key, kind, index, payload, elapsed)

    def for_session(self) -> SessionRecord:
        """What a session may read and write of it: nothing that the grader said (law 1)."""
        saved = {place: payload for place, payload in self._saved.items() if place[0] not in _GRADED}
        return SessionRecord(saved, self.earlier_seconds, lambda *event: self.put(*event))

    def count(self, kind: str) -> int:
        """How many events of a kind earlier sittings left."""
        return sum(1 for known, _ in self._saved if known == kind)


class SessionRecord:
    """The record as a session holds it: its own earlier effects, and a way to add to them."""

    def __init__(
        self,
        saved: dict[tuple[str, int], Payload],
        earlier_seconds: float,
        put: Callable[[str, int, Payload, float], None],
    ) -> None:
        self.earlier_seconds = earlier_seconds
        self.put = put
        self._saved = saved

    def get(self, kind: str, index: int) -> Payload | None:
        return self._saved.get((kind, index))


def _reading(path: Path) -> str:
    """How to open a journal to read it: one at rest in a way that leaves nothing beside it."""
    log = path.with_name(f"{path.name}-wal")
    return "mode=ro" if log.exists() and log.stat().st_size else "mode=ro&immutable=1"


def _about_space(error: sqlite3.Error) -> bool:
    return "full" in str(error) or "disk I/O" in str(error)
