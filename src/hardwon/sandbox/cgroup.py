"""Caps on memory and processes by control groups (v1 or v2), where this process may make one."""

from __future__ import annotations

import contextlib
import itertools
import os
import time
from dataclasses import dataclass, field
from pathlib import Path

from hardwon.sandbox.protocol import Limits

_ROOT = Path("/sys/fs/cgroup")
_PREFIX = "hardwon-"
SERVER_MIB = 20
"""What the fork server takes of the group that it shares with its child."""

_number = itertools.count()


@dataclass
class Slot:
    """The control group of a fork server and its child; a process that writes 0 to the `joins` enters it."""

    kind: str
    memory: Path
    pids: Path
    joins: tuple[int, ...] = ()
    _set: tuple[int, int] = field(default=(0, 0))

    def limit(self, limits: Limits) -> None:
        """Writes the caps, if they differ from those in force."""
        wanted = (limits.memory_mib, limits.processes)
        if wanted == self._set:
            return
        memory = "memory.limit_in_bytes" if self.kind == "v1" else "memory.max"
        (self.memory / memory).write_text(str((limits.memory_mib + SERVER_MIB) << 20))
        (self.pids / "pids.max").write_text(str(limits.processes + 1))
        self._set = wanted

    def memory_kills(self) -> int:
        """How often the kernel killed a process here for want of memory."""
        name = "memory.oom_control" if self.kind == "v1" else "memory.events"
        with contextlib.suppress(OSError, ValueError):
            for line in (self.memory / name).read_text().splitlines():
                if line.startswith("oom_kill "):
                    return int(line.split()[1])
        return 0

    def members(self) -> list[int]:
        try:
            return [int(pid) for pid in (self.pids / "cgroup.procs").read_text().split()]
        except OSError:
            return []

    def close(self) -> None:
        for fd in self.joins:
            os.close(fd)
        self.joins = ()
        for folder in {self.memory, self.pids}:
            for _ in range(50):  # killed processes that are still ending keep it for some milliseconds
                try:
                    folder.rmdir()
                    break
                except FileNotFoundError:
                    break
                except OSError:  # what stays after that is swept by the next start
                    time.sleep(0.004)


def _own(controller: str) -> Path | None:
    """The folder of this process's own group for a v1 controller, or ("") of the v2 hierarchy."""
    try:
        lines = Path("/proc/self/cgroup").read_text().splitlines()
    except OSError:
        return None
    for line in lines:
        _, controllers, path = line.split(":", 2)
        if controller in controllers.split(",") if controller else controllers == "":
            top = _ROOT / controller if controller else _ROOT
            return next((p for p in (top / path.lstrip("/"), top) if p.is_dir()), None)
    return None


def _parents() -> tuple[str, Path, Path] | None:
    memory, pids = _own("memory"), _own("pids")
    if memory and pids:
        return "v1", memory, pids
    unified = _own("")
    if unified is None or not (unified / "cgroup.controllers").is_file():
        return None
    switch = unified / "cgroup.subtree_control"
    if not {"memory", "pids"} <= set(switch.read_text().split()):
        switch.write_text("+memory +pids")
    return "v2", unified, unified


def open_slot() -> Slot | None:
    """A new group with both caps, or None where none can be made."""
    try:
        found = _parents()
        if found is None:
            return None
        kind, memory, pids = found
        for parent in {memory, pids}:
            _sweep(parent)
        name = f"{_PREFIX}{os.getpid()}-{next(_number)}"
        slot = Slot(kind, memory / name, pids / name)
        folders = [slot.memory] if slot.memory == slot.pids else [slot.memory, slot.pids]
        for folder in folders:
            folder.mkdir()
        slot.joins = tuple(os.open(f / "cgroup.procs", os.O_WRONLY | os.O_CLOEXEC) for f in folders)
        slot.limit(Limits())
    except OSError:
        return None
    return slot


def _sweep(parent: Path) -> None:
    """Removes groups left by processes that are gone."""
    for folder in parent.glob(f"{_PREFIX}*-*"):
        owner = folder.name.removeprefix(_PREFIX).partition("-")[0]
        if owner.isdigit() and not Path("/proc", owner).exists():
            with contextlib.suppress(OSError):
                folder.rmdir()
