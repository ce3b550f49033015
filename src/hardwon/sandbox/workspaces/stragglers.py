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

    Who looks into the folder from a terminal is no straggler (commands have none), and neither is who asks from there.
    Without a `/proc` there is nothing to look into, and nothing is done.
    """
    killed = []
    ours = _ours()
    for process in _PROCESSES.glob("[0-9]*"):
        with contextlib.suppress(OSError):  # gone meanwhile, or another user's
            if int(process.name) in ours:
                continue
            if (_works_in(process, home) and not _terminal(process)) or _is_walled_for(process, home):
                os.kill(int(process.name), signal.SIGKILL)
                killed.append(int(process.name))
    return killed


def _ours() -> set[int]:
    """This process, and those that it was started by."""
    ours, pid = set(), os.getpid()
    with contextlib.suppress(OSError):
        while pid > 0:
            ours.add(pid)
            pid = int(_facts(_PROCESSES / str(pid))[1])
    return ours


def _terminal(process: Path) -> int:
    """The number of the terminal that it can be stopped from; 0 for none."""
    return int(_facts(process)[4])


def _facts(process: Path) -> list[bytes]:
    """Its state, parent, group, session, terminal and so on, as proc(5) has them after the name."""
    return (process / "stat").read_bytes().rpartition(b")")[2].split()


def _works_in(process: Path, home: Path) -> bool:
    return (process / "cwd").readlink().is_relative_to(home)


def _is_walled_for(process: Path, home: Path) -> bool:
    command = (process / "cmdline").read_bytes().split(b"\0")
    named = (argument == bytes(home) or argument.startswith(bytes(home) + b"/") for argument in command)
    return command[0].rpartition(b"/")[2] == b"bwrap" and any(named)
