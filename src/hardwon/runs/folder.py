"""The run folder: whose it is, what it was made with, and that only one process writes in it."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import json
import math
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
    never mixed (law 7). Of the prompts only those count that this sitting can use; what earlier ones recorded of others
    is kept. `fresh` discards the run that is there. Raises UsageError for a clash, a folder in use by
    another process, or one that can not be made; nothing is written then.
    """
    try:
        if out.exists() and not out.is_dir():
            raise UsageError(f"--out {out}: is a file; give a folder")
    except OSError as error:
        raise UsageError(f"--out {out}: {error.strerror}; give a folder that can be written") from error
    if out.is_dir() and not (out / FILE).exists() and not (out / CONFIG).exists():
        strangers = [p.name for p in out.iterdir() if p.name != _LOCK]
        if strangers:
            raise UsageError(f"--out {out}: holds other files ({strangers[0]}, …); give an empty or new folder")
    config = _going_on(out, config, fresh)
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
            write_text(out / CONFIG, json.dumps(config, indent=2, allow_nan=False) + "\n")
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
    except (OSError, ValueError, RecursionError) as error:
        raise UsageError(f"{out / CONFIG}: does not read ({error}); give another run folder") from error
    if not isinstance(config, dict) or not isinstance(config.get("settings"), dict):
        raise UsageError(f"{out / CONFIG}: is not a configuration; give another run folder")
    if (fault := _fault(config["settings"], config.get("about", {}))) is not None:
        raise UsageError(f"{out / CONFIG}: {fault}: damaged, or of another version; give another run folder")
    return config


def json_line(value: object) -> str:
    """One line of JSON; readable where it can be, escaped where the text is no valid Unicode."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    return (text if text.isprintable() else json.dumps(value)) + "\n"


def write_text(path: Path, text: str) -> None:
    """Writes a file so that a reader sees the old text or the new, never half of one.

    Raises UsageError where the place is wrong, JournalError where it can not be written now.
    """
    if path.is_dir():
        raise UsageError(f"{path}: is a folder; give a file name")
    if not path.parent.is_dir():
        raise UsageError(f"{path}: its folder does not exist; make it first")
    draft = path.with_name(f".hardwon-{os.getpid()}")
    try:
        draft.write_text(text, encoding="utf-8")
        draft.replace(path)
    except OSError as error:
        if error.errno == errno.ENAMETOOLONG:
            raise UsageError(f"{path}: the name is too long; give a shorter one") from error
        raise JournalError(f"{path}: {error.strerror}; mend that and run the same command again") from error
    finally:
        with contextlib.suppress(OSError):
            draft.unlink(missing_ok=True)


def _fault(settings: Mapping[str, Any], about: object) -> str | None:
    """What is wrong with the parts of a configuration that are read of other people's folders; None for nothing."""
    if not isinstance(about, dict):
        return "about is no object"
    arms, budget = settings.get("arms", {}), settings.get("budget", {})
    if not isinstance(arms, dict) or not all(isinstance(arm, dict) for arm in arms.values()):
        return "settings.arms is no object of objects"
    if not isinstance(budget, dict) or not all(limit is None or _is_number(limit) for limit in budget.values()):
        return "settings.budget is no object of numbers"
    if len(arms) > 1 and "budget" not in settings:
        return "settings.budget is missing"
    if not isinstance(settings.get("sampling", {}), dict):
        return "settings.sampling is no object"
    seeds = settings.get("seeds", [])
    if not isinstance(seeds, list) or not all(type(seed) is int for seed in seeds):
        return "settings.seeds is no list of whole numbers"
    for name in ("baseline", "data"):
        if not isinstance(about.get(name), str | None):
            return f"about.{name} is no text"
    return None


def _is_number(value: object) -> bool:
    return type(value) is int or (type(value) is float and math.isfinite(value))


def _going_on(out: Path, config: Mapping[str, Any], fresh: bool) -> Mapping[str, Any]:
    """The configuration to write, which knows the prompts of earlier sittings too. Raises UsageError for a clash."""
    if fresh or not (out / CONFIG).exists():
        return config
    before, now = read_config(out)["settings"], config["settings"]
    known, used = _prompts(before), _prompts(now)
    old, new = _flat({**before, "prompts": {}}), _flat({**now, "prompts": {}})
    for name in known.keys() & used.keys():  # what no earlier sitting could use has not changed
        old[f"prompts.{name}"], new[f"prompts.{name}"] = known[name], used[name]
    changed = [name for name in {**old, **new} if old.get(name) != new.get(name)]
    if changed:
        said = ", ".join(f"{name} was {_short(old.get(name))}, is {_short(new.get(name))}" for name in changed[:3])
        raise UsageError(
            f"--out {out}: holds a run with other settings ({said}); a changed setting is a new run: "
            "give another --out, or --fresh to discard the old one"
        )
    return {**config, "settings": {**now, "prompts": {**known, **used}}} if known else config


def _prompts(settings: Mapping[str, Any]) -> Mapping[str, str]:
    found = settings.get("prompts")
    return found if isinstance(found, Mapping) else {}


def _flat(settings: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Nested settings under dotted names, so that the one that differs can be named; lists stand for tuples."""
    flat: dict[str, Any] = {}
    for name, value in settings.items():
        if isinstance(value, Mapping) and value:
            flat |= _flat(value, f"{prefix}{name}.")
        else:
            flat[prefix + name] = list(value) if isinstance(value, tuple) else value
    return flat


def _short(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else text[:57] + "..."
