"""Runs branches as processes of their own, which go on when the view ends."""

from __future__ import annotations

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
_START_S = 60.0
"""A branch has begun when its configuration is written; a model that is loaded first takes its time."""


def change_from(form: Mapping[str, str]) -> Change:
    """What a form asks for. Raises UsageError that says what is wrong with it."""
    trial, lesson = form.get("trial", ""), form.get("lesson", "").replace("\r\n", "\n").strip()
    if not (trial.isascii() and trial.isdigit() and len(trial) < 6):
        raise UsageError("The form names no trial.")
    settings: dict[str, str] = {}
    for pair in form.get("settings", "").split():
        name, equals, value = pair.partition("=")
        if not equals or not name.isidentifier():
            raise UsageError(f"{pair}: want settings as KEY=VALUE with spaces between them, such as show=last")
        settings[name] = value
    before = form.get("before", "").replace("\r\n", "\n").strip()
    changed = lesson if lesson and lesson != before else None
    if changed is None and not settings:
        raise UsageError("Nothing is changed: write another lesson, or a setting such as show=last.")
    return Change(int(trial), changed, settings)


def start(folder: Path, key: Key, change: Change) -> tuple[Path, Key]:
    """Makes a branch and starts it; its folder, and what its task is known by.

    Raises UsageError with what the run said when it does not begin.
    """
    out, command, made = branch(folder, key, change)
    with (out / _LOG).open("wb") as log:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)
    Thread(target=process.wait, daemon=True).start()  # takes leave of it when it ends
    deadline = time.monotonic() + _START_S
    while not (out / CONFIG).exists():
        if process.poll() is not None and not (out / CONFIG).exists():
            said = (out / _LOG).read_text(encoding="utf-8", errors="replace").strip().splitlines()
            shutil.rmtree(out, ignore_errors=True)
            raise UsageError(f"The branch did not begin: {said[-1] if said else f'exit {process.returncode}'}")
        if time.monotonic() > deadline:
            raise UsageError(f"The branch in {out} has not begun after {_START_S:.0f} seconds; look there later.")
        time.sleep(0.05)
    return out, made
