"""One run folder, looked at again and again: each look takes in what the journal has gained since the last one."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import RLock
from typing import Any, Literal

from jinja2 import TemplateError

from hardwon.errors import UsageError
from hardwon.runs.folder import read_config
from hardwon.runs.journal import FILE, Key
from hardwon.runs.results import read_rows
from hardwon.runs.row import Row
from hardwon.view.events import Events, Finished
from hardwon.view.parsed import parsed
from hardwon.view.rows import Rows
from hardwon.view.text import without_passwords
from hardwon.view.writer import is_written, stamp

State = Literal["running", "finished", "stopped", "empty"]
_BROKEN = (KeyError, IndexError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError, TemplateError)
_MOST = 1 << 53
_PACE = 50
"""The time left is reckoned from so many of the last finished rows."""


@dataclass(frozen=True, slots=True)
class Look:
    """A run at one moment.

    `total` is how many rows it will have, as far as its configuration tells (None: not known); `left_s` how many
    seconds they will take at the present pace (None: not running, or nothing to reckon from). `seq` is the place of
    the last event that was taken in.
    """

    config: dict[str, Any]
    rows: Rows
    seq: int
    state: State
    total: int | None
    left_s: float | None

    @property
    def arms(self) -> list[str]:
        """The arms that the run was made with, in their order, and any that rows name beside."""
        return list(dict.fromkeys([*self.config["settings"].get("arms", {}), *self.rows.arms]))

    @property
    def mark(self) -> str:
        """Another one as soon as there is more to see, or the run begins or ends (`Reader.mark`)."""
        return _mark(self.seq, self.state == "running")

    @property
    def seeds(self) -> list[int]:
        settings = self.config["settings"]
        return list(settings.get("seeds") or [settings.get("seed", 0)])


@contextmanager
def readable(path: Path) -> Iterator[None]:
    """Whatever a damaged run folder, or one of another version, breaks on becomes a UsageError that names it."""
    try:
        yield
    except _BROKEN as error:
        raise UsageError(
            f"{path}: does not read ({type(error).__name__}: {error}); it is damaged, or of another version"
        ) from error


class Reader:
    """Looks at a run folder. `id` is what addresses name it by, the same as long as the folder stays where it is."""

    def __init__(self, path: Path) -> None:
        self.path = path.resolve()
        self.id = hashlib.sha256(str(self.path).encode("utf-8", "surrogateescape")).hexdigest()[:12]
        self._lock = RLock()
        self._events: Events | None = None
        self._rows = Rows(())
        self._config: tuple[float, dict[str, Any]] | None = None
        self._identity: object = None
        self._stamp: object = None
        self._seq = 0
        self._done: dict[Key, Row] = {}
        self._errors: dict[Key, Row] = {}
        self._times: list[float] = []

    @property
    def name(self) -> str:
        return self.path.name

    def look(self) -> Look:
        """The run as it is now. Raises UsageError, in one line, where it can not be read."""
        with self._lock:
            config = self._read_config()
            if not (self.path / FILE).is_file():
                self.close()
                rows = Rows(tuple(read_rows(self.path)))
                return Look(config, rows, 0, "finished", len(rows.all), None)
            now = stamp(self.path)
            if now == self._stamp and not is_written(self.path):
                return self._look(config)
            events = self.events()
            newest = events.newest()
            if newest > self._seq:
                found = list(events.finished(self._seq, newest))
                for one in found:
                    self._take(one)
                if found:
                    self._rows = Rows(tuple((self._errors | self._done).values()))
                self._seq = newest
            self._stamp = now
            return self._look(config)

    def events(self) -> Events:
        """The open journal. Raises UsageError where it is gone or does not read."""
        with self._lock:
            if self._events is not None and not self._events.current:
                self.close()
            if self._events is None:
                self._events = Events(self.path)
                if self._events.identity != self._identity:
                    self._forget()
                    self._identity = self._events.identity
            return self._events

    def mark(self) -> str:
        """The mark that a look would have now, without looking. Raises UsageError where the journal is gone."""
        with self._lock:
            written = is_written(self.path)
            if not written and self._stamp is not None and self._stamp == stamp(self.path):
                return _mark(self._seq, written)
            return _mark(self.events().newest(), written)

    def close(self) -> None:
        """Lets go of the journal; it is opened again when it is asked for."""
        with self._lock:
            if self._events is not None:
                self._events.close()
                self._events = None

    def _forget(self) -> None:
        self._seq = 0
        self._stamp = None
        self._rows = Rows(())
        self._done.clear()
        self._errors.clear()
        self._times.clear()

    def _take(self, found: Finished) -> None:
        try:
            row = parsed(found.row)
        except UsageError as error:
            raise UsageError(f"{self.path / FILE}: task {found.key.task_id}: {error}") from error
        if found.error:
            self._errors[found.key] = row
        else:
            self._done[found.key] = row
            self._times.append(found.at)

    def _look(self, config: dict[str, Any]) -> Look:
        rows = self._rows
        total = _total(config)
        written = is_written(self.path)
        over = total is not None and len(self._done) >= total
        state: State = "running" if written else "finished" if over else "stopped" if self._seq else "empty"
        left = None
        if state == "running" and total is not None and len(self._times) > 1:
            last = self._times[-_PACE:]
            left = (time.time() - last[0]) / (len(last) - 1) * max(0, total - len(self._done))
        return Look(config, rows, self._seq, state, total, left)

    def _read_config(self) -> dict[str, Any]:
        path = self.path / "config.json"
        try:
            changed = path.stat().st_mtime
        except OSError:
            raise UsageError(f"{self.path}: no run folder there (any more)") from None
        if self._config is None or self._config[0] != changed:
            config = read_config(self.path)
            settings = config["settings"]
            config["settings"] = {**settings, "model": without_passwords(str(settings.get("model", "?")))}
            self._config = (changed, config)
        return self._config[1]


def _mark(seq: int, written: bool) -> str:
    return f"{seq}{'+' if written else ''}"


def _total(config: dict[str, Any]) -> int | None:
    tasks = config.get("about", {}).get("tasks")
    settings = config["settings"]
    sides = len(settings.get("arms", {})) * len(settings.get("seeds") or [0])
    return tasks * sides if isinstance(tasks, int) and 0 <= tasks < _MOST and sides else None
