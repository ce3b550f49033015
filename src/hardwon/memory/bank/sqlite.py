"""The bank as one SQLite file: many readers, one writer at a time, safe with several processes (WAL)."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from hardwon.errors import UsageError
from hardwon.memory.bank.sql import SqlBank
from hardwon.memory.bank.store import BankError

_PATIENCE = 60.0
"""Seconds that a writer waits for the one before it."""


class SqliteBank(SqlBank):
    """The bank in a file, which is made where it is missing.

    Raises UsageError for a file that is no bank, is damaged or of another version; BankError when it can not be used
    now. A file that can not be written is read; writing to it is refused.
    """

    def __init__(self, path: Path, *, read_only: bool = False) -> None:
        self.name = str(path)
        self._types = {"real": "REAL", "blob": "BLOB"}
        if path.is_dir():
            raise UsageError(f"{path}: is a folder; give the bank's file")
        if read_only and not path.is_file():
            raise UsageError(f"{path}: no bank there; give its file")
        self._read_only = read_only or (path.exists() and not all(os.access(p, os.W_OK) for p in (path, path.parent)))
        try:
            if self._read_only:
                self._db = _reading(path)
            else:
                path.parent.mkdir(parents=True, exist_ok=True)
                self._db = sqlite3.connect(path, timeout=_PATIENCE, isolation_level=None, check_same_thread=False)
        except (OSError, sqlite3.Error) as error:
            raise UsageError(f"{path}: can not be opened ({error}); give another file") from error
        try:
            with self._errors():
                if not self._read_only:
                    self._db.execute("PRAGMA journal_mode=WAL")
                self._db.execute("PRAGMA synchronous=NORMAL")
                self._open()
        except BaseException:
            self._db.close()
            raise

    def check(self) -> str | None:
        """What is wrong with the file's structure; None where nothing is."""
        found = "; ".join(row[0] for row in self._all("PRAGMA integrity_check"))
        return None if found == "ok" else found

    def close(self) -> None:
        self._db.close()

    def _all(self, sql: str, values: Sequence[Any] = ()) -> list[Any]:
        with self._errors():
            return self._db.execute(sql, values).fetchall()

    def _each(self, sql: str, values: Sequence[Any] = ()) -> Iterator[Any]:
        with self._errors():
            yield from self._db.execute(sql, values)

    def _many(self, sql: str, rows: Iterable[Sequence[Any]]) -> None:
        with self._errors():
            self._db.executemany(sql, rows)

    @contextmanager
    def _writing(self) -> Iterator[None]:
        if self._read_only:
            raise UsageError(f"{self.name}: is read-only; give a bank that can be written")
        with self._errors():
            self._db.execute("BEGIN IMMEDIATE")
        try:
            yield
            with self._errors():
                self._db.execute("COMMIT")
        except BaseException:
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")
            raise

    def _has_tables(self) -> bool:
        names = {row[0] for row in self._all("SELECT name FROM sqlite_master WHERE type = 'table'")}
        if names and not {"bank", "revisions"} <= names:
            raise UsageError(f"{self.name}: is a database, but no bank; give another file")
        return bool(names)

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.OperationalError, sqlite3.IntegrityError) as error:
            said = str(error)
            if "readonly" in said:
                raise UsageError(f"{self.name}: is read-only; give a bank that can be written") from error
            mend = "free some space" if "full" in said or "disk I/O" in said else "see that the file can be used"
            raise BankError(f"{self.name}: {said}; nothing admitted is lost: {mend} and try again") from error
        except sqlite3.DatabaseError as error:
            raise UsageError(f"{self.name}: not a readable bank ({error}); give another file or a backup") from error


def _reading(path: Path) -> sqlite3.Connection:
    """The file read only; where the folder lets SQLite share no memory with writers, as one that does not change."""
    address = f"{path.resolve().as_uri()}?mode=ro"
    db = sqlite3.connect(address, uri=True, isolation_level=None)
    try:
        db.execute("SELECT 1 FROM sqlite_master").fetchone()
        return db
    except sqlite3.OperationalError:
        db.close()
    except sqlite3.DatabaseError:
        return db  # is no database, which is said when it is read
    wal = path.with_name(f"{path.name}-wal")
    if wal.is_file() and wal.stat().st_size:  # left by a writer that was killed
        db = sqlite3.connect(f"{address}&vfs=unix-none", uri=True, isolation_level=None)
        db.execute("PRAGMA locking_mode=EXCLUSIVE")
        return db
    return sqlite3.connect(f"{address}&immutable=1", uri=True, isolation_level=None)
