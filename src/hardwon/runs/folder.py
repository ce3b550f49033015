"""The run folder: whose it is, what it was made with, and that only one process writes in it."""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from hardwon.errors import JournalError, UsageError
from hardwon.runs.journal import FILE, Journal

CONFIG = "config.json"
RESULTS = "results.jsonl"
_LOCK = "lock"


@contextmanager
def open_folder(out: Path, config: Mapping[str, Any], *, fresh: bool = False) -> Iterator[Journal]:
    """Opens a run folder for writing and yields its journal.

    `config["settings"]` is what the run is known by: a folder made with other settings is refused, so that two runs are
    never mixed (law 7). `fresh` discards the run that is there. Raises UsageError for a clash, a folder in use by
    another process, or one that can not be made; nothing is written then.
    """
    if out.exists() and not out.is_dir():
        raise UsageError(f"--out {out}: is a file; give a folder")
    if out.is_dir() and not (out / FILE).exists() and not (out / CONFIG).exists():
        strangers = [p.name for p in out.iterdir() if p.name != _LOCK]
        if strangers:
            raise UsageError(f"--out {out}: holds other files ({strangers[0]}, …); give an empty or new folder")
    _check_settings(out, config, fresh)
    try:
        out.mkdir(parents=True, exist_ok=True)
        lock = (out / _LOCK).open("a+")
    except OSError as error:
        raise UsageError(f"--out {out}: {error.strerror}; give a folder that can be written") from error
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise UsageError(
                f"--out {out}: another process is running in this folder; wait for it or give another"
            ) from None
        if fresh:
            for name in (FILE, f"{FILE}-wal", f"{FILE}-shm", RESULTS, CONFIG):
                (out / name).unlink(missing_ok=True)
        journal = Journal(out / FILE)
        try:
            write_text(out / CONFIG, json.dumps(config, indent=2, ensure_ascii=False) + "\n")
            yield journal
        finally:
            journal.close()


def read_config(out: Path) -> dict[str, Any]:
    """The configuration of the run in a folder. Raises UsageError when there is none that reads."""
    try:
        config = json.loads((out / CONFIG).read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise UsageError(
            f"{out}: no run folder (it has no {CONFIG}); give the folder that `hardwon run` made"
        ) from None
    except (OSError, ValueError) as error:
        raise UsageError(f"{out / CONFIG}: does not read ({error}); give another run folder") from error
    if not isinstance(config, dict):
        raise UsageError(f"{out / CONFIG}: is not a configuration; give another run folder")
    return config


def write_text(path: Path, text: str) -> None:
    """Writes a file so that a reader sees the old text or the new, never half of one. Raises JournalError."""
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        draft.write_text(text, encoding="utf-8")
        draft.replace(path)
    except OSError as error:
        draft.unlink(missing_ok=True)
        raise JournalError(f"{path}: {error.strerror}; free some space and run the same command again") from error


def _check_settings(out: Path, config: Mapping[str, Any], fresh: bool) -> None:
    if fresh or not (out / CONFIG).exists():
        return
    old, new = read_config(out).get("settings", {}), config["settings"]
    changed = [name for name in {**old, **new} if old.get(name) != new.get(name)]
    if changed:
        said = ", ".join(f"{name} was {_short(old.get(name))}, is {_short(new.get(name))}" for name in changed[:3])
        raise UsageError(
            f"--out {out}: holds a run with other settings ({said}); a changed setting is a new run: "
            "give another --out, or --fresh to discard the old one"
        )


def _short(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else text[:57] + "..."
