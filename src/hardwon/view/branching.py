"""Runs branches as processes of their own, which go on when the view ends."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path
from threading import Thread

from hardwon.errors import UsageError
from hardwon.runs.folder import CONFIG
from hardwon.runs.journal import Key
from hardwon.view.branch import Change, branch

_LOG = "what-if.log"
_SET = "set."
_TAIL = 4000
_START_S = 60.0
"""A branch has begun when its configuration is written; a model that is loaded first takes its time."""


def change_from(form: Mapping[str, str]) -> Change:
    """What a form asks for; its settings are the fields whose names begin with `set.`. Raises UsageError."""
    trial, lesson = form.get("trial", ""), form.get("lesson", "").replace("\r\n", "\n").strip()
    if not (trial.isascii() and trial.isdigit() and len(trial) < 6):
        raise UsageError("The form names no trial.")
    settings = {name[len(_SET) :]: value.strip() for name, value in form.items() if name.startswith(_SET)}
    before = form.get("before", "").replace("\r\n", "\n").strip()
    model, budget = (form[name].strip() if name in form else None for name in ("model", "budget"))
    return Change(int(trial), lesson if lesson and lesson != before else None, settings, model, budget)


def start(folder: Path, key: Key, change: Change, bank: str | None = None) -> tuple[Path, Key]:
    """Makes a branch and starts it; its folder, and what its task is known by. `bank` as in `branch`.

    Raises UsageError with what the run said when it does not begin.
    """
    out, command, made = branch(folder, key, change, bank)
    environment = os.environ if bank is None else {**os.environ, "HARDWON_BANK": bank}
    with (out / _LOG).open("wb") as log:
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True, env=environment
        )
    Thread(target=process.wait, daemon=True).start()  # takes leave of it when it ends
    deadline = time.monotonic() + _START_S
    while not (out / CONFIG).exists():
        if process.poll() is not None and not (out / CONFIG).exists():
            reason = said(out) or f"exit {process.returncode}"
            shutil.rmtree(out, ignore_errors=True)
            raise UsageError(f"The branch did not begin: {reason}")
        if time.monotonic() > deadline:
            raise UsageError(f"The branch in {out} has not begun after {_START_S:.0f} seconds; look there later.")
        time.sleep(0.05)
    return out, made


def said(out: Path) -> str:
    """The last line that the run of a branch said; empty where it said nothing."""
    try:
        with (out / _LOG).open("rb") as log:
            log.seek(max(0, log.seek(0, os.SEEK_END) - _TAIL))
            lines = log.read().decode("utf-8", "replace").strip().splitlines()
    except OSError:
        return ""
    return lines[-1] if lines else ""
