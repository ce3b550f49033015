"""A model that answers from a run's journal: the same requests get the completions that were paid for."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast, get_args

from hardwon.errors import ModelRefused, UsageError
from hardwon.models.protocol import Completion, Request, Role, Usage
from hardwon.models.tools import ToolCall

Lookup = Callable[[str, str, int], Completion | None]
"""Task id, role and index to the recorded completion, None when there is none."""

_ROLES: tuple[str, ...] = get_args(Role)


class ReplayModel:
    """Answers through `lookup`. Tokens and attempts are as recorded; the cost is 0: nothing is paid again.

    `calls_tools` where the recorded agents called tools, so that they are asked in the same way again.
    """

    price_known = True

    def __init__(self, lookup: Lookup, *, name: str = "replay:", parallel: int = 4, calls_tools: bool = False) -> None:
        self.name = name
        self.parallel = parallel
        self.calls_tools = calls_tools
        self._lookup = lookup

    async def generate(self, request: Request) -> Completion:
        """Raises ModelRefused for a request that was never made in the recorded run."""
        found = self._lookup(request.task_id, request.role, request.index)
        if found is None:
            raise ModelRefused(
                f"{self.name}: no recorded completion for task {request.task_id!r}, role {request.role},"
                f" index {request.index}; replay with the settings of the recorded run, or run it anew"
            )
        return found

    async def close(self) -> None:
        """Lets go of the journal, if the source has one to let go of."""
        if isinstance(self._lookup, _Journal):
            self._lookup.close()

    def __repr__(self) -> str:
        return f"ReplayModel({self.name!r})"


def open_replay(path: Path | str, *, parallel: int = 4) -> ReplayModel:
    """Opens a run folder's `journal.sqlite`, or the SQLite file at `path`, for reading only.

    Where several arms or seeds hold a request, the first by arm, then seed, answers.
    Raises UsageError for a file that is missing, damaged or no journal.
    """
    given = Path(path)
    file = given / "journal.sqlite" if given.is_dir() else given
    if not file.is_file():
        raise UsageError(f"{file}: no such file; give a run's folder or its journal as replay:PATH")
    try:
        journal = _Journal(file)
        calls_tools = journal.has_tools()
    except sqlite3.Error as error:
        raise UsageError(f"{file}: cannot be read as a journal ({error}); give a run's journal.sqlite") from None
    return ReplayModel(journal, name=f"replay:{path}", parallel=parallel, calls_tools=calls_tools)


class _Journal:
    """The model calls of a journal, by task id, role and index; payloads are read when they are asked for."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._db = _connect(file)
        marks = ",".join("?" * len(_ROLES))
        self._rows: dict[tuple[str, str, int], list[int]] = {}
        rows = self._db.execute(
            f"SELECT rowid, task_id, kind, idx FROM events WHERE kind IN ({marks}) ORDER BY arm, seed, rowid",
            _ROLES,
        )
        for rowid, task_id, kind, idx in rows:
            self._rows.setdefault((task_id, kind, idx), []).append(rowid)

    def __call__(self, task_id: str, role: str, index: int) -> Completion | None:
        for rowid in self._rows.get((task_id, role, index), ()):
            try:
                (payload,) = self._db.execute("SELECT payload FROM events WHERE rowid = ?", (rowid,)).fetchone()
                event = json.loads(payload)
                recorded = event.get("completion")
                if recorded is not None:  # an event without one recorded a call that failed
                    return _completion(recorded)
            except (sqlite3.Error, ValueError, TypeError, KeyError, AttributeError) as error:
                place = f"task {task_id!r}, role {role}, index {index}"
                raise UsageError(f"{self._file}: damaged at {place} ({error!r}); run it anew") from error
        return None

    def has_tools(self) -> bool:
        """Whether any call offered tools; in a text inside a payload the key's quotes would be escaped."""
        sql = "SELECT 1 FROM events WHERE kind = 'act' AND instr(payload, ?) LIMIT 1"
        return self._db.execute(sql, ('"tools":[',)).fetchone() is not None

    def close(self) -> None:
        self._db.close()


def _connect(file: Path) -> sqlite3.Connection:
    """A read-only connection; a journal in a folder that cannot be written to is read as it stands."""
    address = file.resolve().as_uri()
    db = sqlite3.connect(f"{address}?mode=ro", uri=True, check_same_thread=False)
    try:
        db.execute("SELECT 1 FROM sqlite_master").fetchone()
    except sqlite3.OperationalError:
        db.close()
        if file.with_name(file.name + "-wal").exists():
            raise
        db = sqlite3.connect(f"{address}?immutable=1", uri=True, check_same_thread=False)
    return db


def _completion(recorded: dict[str, Any]) -> Completion:
    spent = recorded["usage"]
    usage = Usage(
        tokens_in=int(spent["tokens_in"]),
        tokens_out=int(spent["tokens_out"]),
        tokens_cached=int(spent.get("tokens_cached", 0)),
        cost_usd=0.0,
        attempts=int(spent.get("attempts", 1)),
    )
    finish = recorded.get("finish", "stop")
    if not isinstance(recorded["text"], str) or finish not in ("stop", "length", "other"):
        raise ValueError("text or finish is not what a journal holds")
    calls = tuple(ToolCall(*map(str, call)) for call in recorded.get("tool_calls", ()))
    reasoning = cast("str | None", recorded.get("reasoning"))
    return Completion(recorded["text"], usage, str(recorded["model"]), reasoning, finish, calls)
