"""The instances of a batch as its journal tells of them while it grows: where each stands, and what it has taken."""

from __future__ import annotations

import contextlib
import sqlite3
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import get_args

from hardwon.errors import UsageError
from hardwon.models.protocol import Role
from hardwon.runs.journal import SCHEMA, Key
from hardwon.runs.stages import ORDER, Stage, counted

_CALLS: tuple[str, ...] = get_args(Role)
_VALUES = ("solved", "tokens_in", "tokens_out", "cost_usd")
_SQL = f"""
SELECT seq, task_id, arm, seed, kind, idx, at, elapsed,
       {", ".join(f"iif(place IS NULL, NULL, json_extract(payload, place || '.{name}'))" for name in _VALUES)}
FROM (SELECT *, CASE WHEN kind = 'row' THEN '$'
                     WHEN kind = 'error' THEN '$.row'
                     WHEN kind IN ({",".join("?" * len(_CALLS))}) AND NOT EXISTS (
                         SELECT 1 FROM events AS done WHERE done.kind = 'row' AND done.idx = 0
                         AND (done.task_id, done.arm, done.seed) = (events.task_id, events.arm, events.seed))
                     THEN '$.completion.usage' END AS place
      FROM events WHERE seq > ?)
ORDER BY seq
"""


@dataclass(frozen=True, slots=True)
class Instance:
    """An instance in work: the stage it has reached, and which model call (`step`) of which trial was the last.

    `tokens` (in and out) and `cost_usd` (None where a price is unknown) are what it has taken so far, `seconds` how
    long it has been worked on, earlier sittings included.
    """

    key: Key
    stage: Stage
    trial: int
    step: int
    tokens: int
    cost_usd: float | None
    seconds: float


@dataclass(frozen=True, slots=True)
class Standing:
    """A batch at one moment: those in work, the longest first, and how those that are done ended.

    `waiting` are not begun, or were begun by an earlier sitting and are still to be gone on with. `stages` counts the
    last stage of every instance. Without instances whose stages are kept, `total` is 0.
    """

    total: int
    working: tuple[Instance, ...]
    solved: int
    unsolved: int
    ungraded: int
    errors: int
    tokens: int
    cost_usd: float | None
    stages: Mapping[Stage, int]

    @property
    def finished(self) -> int:
        return self.solved + self.unsolved + self.ungraded + self.errors

    @property
    def waiting(self) -> int:
        return self.total - self.finished - len(self.working)


@dataclass(slots=True)
class _Seen:
    """What the journal has told of one instance."""

    stage: int = -1
    trial: int = 0
    step: int = 0
    between: bool = True
    tokens: int = 0
    cost: float | None = 0.0
    elapsed: float = 0.0
    at: float = 0.0
    ended: str | None = None

    def take(self, kind: str, index: int, at: float, elapsed: float, values: tuple[object, ...]) -> None:
        if kind == "stage":
            self.stage = max(self.stage, min(index, len(ORDER) - 1))
            if index == 0:  # queued, which is no work
                return
        self.at, self.elapsed = at, max(self.elapsed, elapsed)
        if kind in ("row", "error"):
            solved, tokens_in, tokens_out, cost = values
            self.ended = "errors" if kind == "error" else _OUTCOMES.get(solved, "ungraded")
            self.tokens, self.cost = _whole(tokens_in) + _whole(tokens_out), _number(cost)
            return
        self.ended = None  # an error ended it before, and it is worked again
        if kind == "episode":
            self.between = True
        elif kind in _CALLS:
            self._call(kind, values)

    def _call(self, role: str, values: tuple[object, ...]) -> None:
        _, tokens_in, tokens_out, cost = values
        paid = _number(cost)
        self.tokens += _whole(tokens_in) + _whole(tokens_out)
        self.cost = None if self.cost is None or paid is None else self.cost + paid
        if role == "act":
            if self.between:
                self.trial, self.step, self.between = self.trial + 1, 0, False
            self.step += 1


_OUTCOMES: Mapping[object, str] = {1: "solved", 0: "unsolved"}


@dataclass
class Instances:
    """Looks at the journal at `path` again and again; each look reads what it has gained. Safe to use from threads."""

    path: Path
    _seen: dict[Key, _Seen] = field(default_factory=dict)
    _seq: int = 0
    _identity: object = None
    _db: sqlite3.Connection | None = None
    _lock: Lock = field(default_factory=Lock)

    def look(self, since: float, started: Mapping[tuple[str, str], float] | None = None) -> Standing:
        """The batch as it stands now.

        In work is what has had an event after `since`, the beginning of this sitting (seconds since the epoch), and
        whatever `started` names (task and arm) with the time when it was. Raises UsageError where the journal does not
        read.
        """
        with self._lock:
            try:
                self._read()
            except (sqlite3.Error, OSError) as error:
                self.close()
                raise UsageError(f"{self.path}: does not read ({error}); it is damaged, or not a journal") from error
            return self._standing(since, started or {})

    def close(self) -> None:
        if self._db is not None:
            self._db.close()
            self._db = None

    def _read(self) -> None:
        state = self.path.stat()
        if self._db is None or state.st_ino != self._identity:
            self.close()
            self._seen, self._seq, self._identity = {}, 0, state.st_ino
            address = f"{self.path.resolve().as_uri()}?mode=ro"
            self._db = sqlite3.connect(address, uri=True, isolation_level=None, check_same_thread=False)
            if self._db.execute("PRAGMA user_version").fetchone()[0] != SCHEMA:
                raise sqlite3.DatabaseError("it is of another version")
        with contextlib.closing(self._db.execute(_SQL, (*_CALLS, self._seq))) as events:
            for seq, task_id, arm, seed, kind, index, at, elapsed, *values in events:
                seen = self._seen.setdefault(Key(task_id, arm, seed), _Seen())
                seen.take(kind, index, at, elapsed, tuple(values))
                self._seq = seq

    def _standing(self, since: float, started: Mapping[tuple[str, str], float]) -> Standing:
        now = time.time()
        kept = {key: seen for key, seen in self._seen.items() if seen.stage >= 0}
        ended = Counter(
            seen.ended for seen in kept.values() if seen.ended and (seen.ended != "errors" or seen.at >= since)
        )
        working = []
        for key, seen in kept.items():
            begun = started.get((key.task_id, key.arm), since)
            fresh = seen.at >= since or (key.task_id, key.arm) in started
            if fresh and (seen.ended is None or (seen.ended == "errors" and seen.at < begun)):
                seconds = seen.elapsed + now - max(seen.at, begun)
                stage = ORDER[seen.stage]
                working.append(Instance(key, stage, seen.trial, seen.step, seen.tokens, seen.cost, max(0.0, seconds)))
        costs = [seen.cost for seen in kept.values()]
        return Standing(
            total=len(kept),
            working=tuple(sorted(working, key=lambda each: -each.seconds)),
            solved=ended["solved"],
            unsolved=ended["unsolved"],
            ungraded=ended["ungraded"],
            errors=ended["errors"],
            tokens=sum(seen.tokens for seen in kept.values()),
            cost_usd=None if None in costs else sum(cost for cost in costs if cost is not None),
            stages=counted(ORDER[seen.stage] for seen in kept.values()),
        )


def _whole(value: object) -> int:
    return value if type(value) is int else 0


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) else None
