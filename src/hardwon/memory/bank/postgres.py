"""The bank in a PostgreSQL database, for several machines (`pip install hardwon[postgres]`)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence, Set
from contextlib import contextmanager
from typing import Any

from hardwon.errors import UsageError
from hardwon.memory.bank import pgvector
from hardwon.memory.bank.sql import SqlBank
from hardwon.memory.bank.store import BankError, Sealed

_WRITER = 0x68617264
"""The advisory lock that one writer holds at a time, so that revisions are numbered in the order they are committed."""

_FETCHED = 1000
"""Rows that are fetched at once."""

_PASSWORD = re.compile(r"(?<=://)([^:/@]*):([^@/]*)(?=@)")
_ASKED = re.compile(r"(?<=[?&])(\w*password=)([^&]+)")
"""The two places of a password in an address."""
_MISREAD = re.compile(r"://[^:/@]*:(?:[^@/]*@[^/?]*@|[^@?]*/[^@?]*@)")
"""A password with a sign that ends it, or makes another part of it."""


class PostgresBank(SqlBank):
    """The bank in the schema `hardwon` of a database. Raises UsageError, BankError."""

    def __init__(self, url: str) -> None:
        try:
            import psycopg
        except ImportError as error:
            raise UsageError(f"a bank on PostgreSQL needs psycopg ({error}): pip install hardwon[postgres]") from error
        self.name = _without_password(url)
        self._types = {"real": "DOUBLE PRECISION", "blob": "BYTEA"}
        self._error = psycopg.Error
        self._vector: tuple[str | None, str] | None = None
        try:
            self._db = psycopg.connect(url, autocommit=True, connect_timeout=10)
        except psycopg.Error as error:
            said = _line(error)
            for part in (*_PASSWORD.finditer(url), *_ASKED.finditer(url)):
                said = said.replace(part[2], "…") if part[2] else said
            raise BankError(f"{self.name}: no connection ({said}); see that the server runs") from None
        try:
            self._all("CREATE SCHEMA IF NOT EXISTS hardwon")
            self._all("SET search_path TO hardwon")
            self._open()
        except BaseException:
            self._db.close()
            raise

    def indexes(self, size: int) -> bool:
        return size <= pgvector.LARGEST and self._pgvector()[0] is not None

    def sealed(self, model: str, size: int, snapshot: int) -> Sealed | None:
        if not self.indexes(size):
            return None
        return pgvector.newest(self._db, self._errors, model, size, snapshot)

    def seal(self, model: str, size: int, snapshot: int, digests: Set[str]) -> Sealed:
        if not self.indexes(size):
            return super().seal(model, size, snapshot, digests)
        return pgvector.seal(self._db, self._errors, model, size, snapshot, digests)

    def nearness(self) -> str:
        version, reason = self._pgvector()
        if version is None:
            return f"in memory ({reason})"
        sets = self._all(
            "SELECT DISTINCT ON (model) held, model FROM sealed ORDER BY model, snapshot DESC, number DESC"
        )
        told = ", ".join(f"{held:,} of {model}" for held, model in sets)
        return f"by pgvector {version} ({told}), later ones in memory" if told else f"in memory (pgvector {version})"

    def close(self) -> None:
        self._db.close()

    def _all(self, sql: str, values: Sequence[Any] = ()) -> list[Any]:
        with self._errors():
            cursor = self._db.execute(_marked(sql), values)
            return cursor.fetchall() if cursor.description else []

    def _each(self, sql: str, values: Sequence[Any] = ()) -> Iterator[Any]:
        with self._errors(), self._db.transaction(), self._db.cursor(name="scan") as cursor:
            cursor.itersize = _FETCHED
            cursor.execute(_marked(sql), values)
            yield from cursor

    def _many(self, sql: str, rows: Iterable[Sequence[Any]]) -> None:
        with self._errors(), self._db.cursor() as cursor:
            cursor.executemany(_marked(sql), list(rows))

    @contextmanager
    def _writing(self) -> Iterator[None]:
        with self._errors(), self._db.transaction():
            self._db.execute("SELECT pg_advisory_xact_lock(%s)", (_WRITER,))
            yield

    def _pgvector(self) -> tuple[str | None, str]:
        if self._vector is None:
            self._vector = pgvector.prepare(self._db, self._errors)
        return self._vector

    def _has_tables(self) -> bool:
        return bool(self._all("SELECT 1 FROM pg_tables WHERE schemaname = 'hardwon' AND tablename = 'bank'"))

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except self._error as error:
            raise BankError(f"{self.name}: {_line(error)}; nothing admitted is lost: see to the server") from error


def _without_password(url: str) -> str:
    """The address as it may be shown. Raises UsageError, without the address, for a password that would be misread."""
    if _MISREAD.search(url):
        raise UsageError(
            "--bank postgresql://…: its password has signs that an address holds as codes only: %40 for @, %2F for /"
        )
    return _ASKED.sub(r"\1…", _PASSWORD.sub(r"\1", url))


def _marked(sql: str) -> str:
    return sql.replace("?", "%s")


def _line(error: Exception) -> str:
    return " ".join(str(error).split())
