"""Where a workspace's commands run: behind bubblewrap, as bare processes, or in a container."""

from __future__ import annotations

import asyncio
import shlex
import shutil
import subprocess
import threading
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Protocol

from hardwon.errors import SandboxError, UsageError
from hardwon.sandbox.cgroup import open_slot
from hardwon.sandbox.choose import bubblewrap_trouble
from hardwon.sandbox.protocol import CommandResult, Limits
from hardwon.sandbox.shell import Place, prepare, run_shell

LIMITS = Limits(memory_mib=4096, processes=256, file_mib=256, output_bytes=256 << 10)
HEAD_BYTES = 32 << 10
_ELSEWHERE = "/mnt/task"
_SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/etc", "/proc", "/dev", "/sys", "/wall")


class Rooms(Protocol):
    """Runs one command at a time in a tree."""

    async def run(self, command: str, seconds: float) -> CommandResult: ...

    def close(self) -> None: ...


def open_rooms(
    backend: str,
    home: Path,
    root: Path,
    *,
    network: bool,
    environment: Mapping[str, str],
    mounts: tuple[str, ...],
    tools: tuple[str, ...],
    image: str | None,
    room_mib: int,
) -> Rooms:
    """The rooms of the tree in `home`, which stands for the repository `root`. Raises UsageError, SandboxError."""
    if backend not in ("bubblewrap", "process", "podman", "docker"):
        raise UsageError(f"no workspace backend {backend!r}: bubblewrap, process, podman or docker")
    tree, temporary = home / "tree", home / "tmp"
    temporary.mkdir()
    room = Room((tree, temporary), room_mib)
    if backend in ("podman", "docker"):
        from hardwon.sandbox.workspaces.container import Container

        if image is None:
            raise UsageError(f"the {backend} backend needs a container image; give one")
        folder = str(root) if _can_stand_for(root) else _ELSEWHERE
        shown = _shown(root, mounts, folder)
        return Container(backend, image, home, folder, room, network=network, environment=environment, mounts=shown)
    prepare(home)
    if backend == "process":
        seen = tuple(str(root / mount) for mount in mounts)
        writable = (str(tree), str(temporary))
        place = Place(
            home, str(tree), str(temporary), writable=writable, readable=seen, environment=environment, path=tools
        )
        for mount in mounts:
            if not Path(mount).is_absolute():
                (tree / mount).symlink_to(root / mount)
        return Shells(place, room, network=network, bubblewrap=False)
    if trouble := bubblewrap_trouble():
        raise SandboxError(
            f"bubblewrap does not work here: {trouble}; or choose the process backend, without its walls"
        )
    folder = str(root) if _can_stand_for(root) else _ELSEWHERE
    args = ["--bind", str(temporary), "/tmp", "--bind", str(tree), folder]
    last = [part for there, inside in _shown(root, mounts, folder) for part in ("--ro-bind", there, inside)]
    place = Place(home, folder, "/tmp", tuple(args), tuple(last), environment=environment, path=tools)
    return Shells(place, room, network=network, bubblewrap=True)


class Shells:
    """Rooms behind bubblewrap, or bare ones."""

    def __init__(self, place: Place, room: Room, *, network: bool, bubblewrap: bool) -> None:
        self._place = place
        self._room = room
        self._network = network
        self._bubblewrap = bubblewrap
        self._bash = shutil.which("bash") is not None
        self._slot = open_slot()
        self._stop = threading.Event()
        self._idle = threading.Lock()

    async def run(self, command: str, seconds: float) -> CommandResult:
        return await in_thread(lambda: self._run(command, seconds), self._stop)

    def _run(self, command: str, seconds: float) -> CommandResult:
        with self._idle:
            self._stop.clear()
            limits = replace(LIMITS, total_seconds=seconds)
            if self._slot is not None:
                self._slot.limit(limits)
            return run_shell(
                f"exec bash -c {shlex.quote(command)}" if self._bash else command,
                self._place,
                limits,
                self._slot,
                self._stop,
                network=self._network,
                bubblewrap=self._bubblewrap,
                head_bytes=HEAD_BYTES,
                overstepped=self._room.overstepped,
            )

    def close(self) -> None:
        self._stop.set()
        with self._idle:
            if self._slot is not None:
                self._slot.close()
                self._slot = None


async def in_thread(work: Callable[[], CommandResult], stop: threading.Event) -> CommandResult:
    """Runs blocking work; when cancelled, sets `stop` and waits for it to end."""
    running = asyncio.ensure_future(asyncio.to_thread(work))
    try:
        return await asyncio.shield(running)
    except asyncio.CancelledError:
        stop.set()
        await asyncio.wait([running])
        raise


class Room:
    """How much may be written into some folders on top of what is in them now."""

    def __init__(self, folders: tuple[Path, ...], mib: int) -> None:
        self._folders = folders
        self._most = mib << 20
        self._held: int | None = None
        self._free = shutil.disk_usage(folders[0]).free

    def overstepped(self) -> str | None:
        """What to say if too much was written. Looks closely only when the disk has lost that much since last time."""
        free = shutil.disk_usage(self._folders[0]).free
        if self._free - free < self._most // 2:
            return None
        self._free = free
        held = sum(map(_size, self._folders))
        if held <= self._most:
            return None
        return f"ended: more than {self._most >> 20} MiB were written; remove what is not needed"


def _size(folder: Path) -> int:
    """Bytes on disk, by a command, which counts also what lies deeper than a path is long."""
    counted = subprocess.run(["du", "-sk", "--", str(folder)], capture_output=True, text=True, check=False).stdout
    return int(counted.split()[0]) << 10 if counted else 0


def _can_stand_for(root: Path) -> bool:
    """Whether the tree can be shown where the repository is, so that what was installed from it finds the tree."""
    path = str(root)
    return (
        path != "/"
        and not root.is_file()
        and path != "/tmp"
        and not any(f"{path}/".startswith(f"{system}/") or f"{system}/".startswith(f"{path}/") for system in _SYSTEM)
    )


def _shown(root: Path, mounts: tuple[str, ...], folder: str) -> list[tuple[str, str]]:
    return [(str(root / mount), str(Path(folder) / mount)) for mount in mounts]
