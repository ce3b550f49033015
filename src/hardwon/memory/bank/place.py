"""Banks by the place that names them: a SQLite file, or the URL of a PostgreSQL database."""

from __future__ import annotations

import os
from pathlib import Path

from hardwon.errors import UsageError
from hardwon.memory.bank.store import Bank

_SCHEMES = ("postgresql://", "postgres://")


def open_bank(place: str | None = None, *, make: bool = True) -> Bank:
    """The bank at a path or `postgresql://…`; None is `$HARDWON_BANK`, else `bank.sqlite` in the user's data folder.

    A file that is missing is made if `make`. Raises UsageError, BankError.
    """
    if place is None:
        place = os.environ.get("HARDWON_BANK") or _usual_place()
    if place.startswith(_SCHEMES):
        from hardwon.memory.bank.postgres import PostgresBank

        return PostgresBank(place)
    from hardwon.memory.bank.sqlite import SqliteBank

    path = Path(place)
    if not make and not path.exists():
        raise UsageError(f"{path}: no bank there; add an item, run with --learn next, or give another --bank")
    return SqliteBank(path)


def _usual_place() -> str:
    from platformdirs import user_data_path

    return str(user_data_path("hardwon") / "bank.sqlite")
