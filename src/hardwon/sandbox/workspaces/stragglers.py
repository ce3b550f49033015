"""Ends what a killed run left running in a workspace.

A bubblewrap dies with its parent, except where it is killed between its two halves: then the inner one waits for the
outer for ever. Bare processes have nothing that ends them at all.
"""

from __future__ import annotations

import contextlib
import os
import signal
from pathlib import Path

_PROCESSES = Path("/proc")


def end_stragglers(home: Path) -> list[int]:
    """Kills the processes of a home whose owner is gone, and says which: what works in its folder, or is walled for it.

    Without a `/proc` there is nothing to look into, and nothing is done.
    """
    killed = []
    for process in _PROCESSES.glob("[0-9]*"):
        with contextlib.suppress(OSError):  # gone meanwhile, or another user's
            if _works_in(process, home) or _is_walled_for(process, home):
                os.kill(int(process.name), signal.SIGKILL)
                killed.append(int(process.name))
    return killed


def _works_in(process: Path, home: Path) -> bool:
    return (process / "cwd").readlink().is_relative_to(home)


def _is_walled_for(process: Path, home: Path) -> bool:
    command = (process / "cmdline").read_bytes().split(b"\0")
    named = (argument == bytes(home) or argument.startswith(bytes(home) + b"/") for argument in command)
    return command[0].rpartition(b"/")[2] == b"bwrap" and any(named)
