"""Finds run folders below the places that the user named."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from threading import Lock

from hardwon.errors import UsageError
from hardwon.runs.folder import CONFIG
from hardwon.runs.journal import FILE
from hardwon.view.reader import Reader, readable

_DEPTH = 3
_SCAN_S = 2.0
_MOST = 500
"""So many folders are looked for, so deep: someone may name their home folder."""


def is_run(folder: Path) -> bool:
    return (folder / FILE).is_file() or ((folder / CONFIG).is_file() and (folder / "lock").exists())


def run_folders(places: Iterable[Path]) -> list[Path]:
    """The run folders among and below `places`, the newest first."""
    found: dict[Path, float] = {}
    for place in places:
        for folder in _below(place, _DEPTH):
            try:
                found[folder.resolve()] = (folder / CONFIG).stat().st_mtime
            except OSError:
                found[folder.resolve()] = 0.0
            if len(found) >= _MOST:
                break
    return sorted(found, key=lambda folder: -found[folder])


def _below(place: Path, depth: int) -> Iterator[Path]:
    if is_run(place):
        yield place
        return
    if not depth:
        return
    try:
        entries = sorted(os.scandir(place), key=lambda entry: entry.name)
    except OSError:
        return
    for entry in entries:
        if not entry.name.startswith(".") and entry.is_dir(follow_symlinks=False):
            yield from _below(Path(entry.path), depth - 1)


class Shelf:
    """The run folders that the view shows. A folder that was found once keeps its place when it is moved away."""

    def __init__(self, places: Iterable[Path]) -> None:
        self._places = tuple(places)
        self._readers: dict[str, Reader] = {}
        self._scanned = 0.0
        self._lock = Lock()

    def readers(self) -> list[Reader]:
        """All runs, the newest first; looks for new folders every other second."""
        with self._lock:
            if self._readers and time.monotonic() < self._scanned + _SCAN_S:
                return list(self._readers.values())
            known = {reader.path: reader for reader in self._readers.values()}
            found = [known.get(path) or Reader(path) for path in run_folders(self._places)]
            gone = [reader for path, reader in known.items() if path not in {r.path for r in found}]
            self._readers = {reader.id: reader for reader in [*found, *gone]}
            self._scanned = time.monotonic()
            return list(self._readers.values())

    def check(self) -> None:
        """Raises UsageError, the first run's, where there are runs and none of them can be read."""
        first: UsageError | None = None
        for reader in self.readers():
            try:
                with readable(reader.path):
                    reader.look()
            except UsageError as error:
                first = first or error
            else:
                return
        if first is not None:
            raise first

    def add(self, path: Path) -> Reader:
        """Takes in a run that lies elsewhere."""
        reader = Reader(path)
        with self._lock:
            return self._readers.setdefault(reader.id, reader)

    def get(self, run: str) -> Reader | None:
        """The run of an id, or None."""
        if run not in self._readers:
            self.readers()
        return self._readers.get(run)

    def close(self) -> None:
        for reader in self._readers.values():
            reader.close()
