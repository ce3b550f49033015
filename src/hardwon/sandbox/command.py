"""Runs a shell command in a private copy of a folder."""

from __future__ import annotations

import asyncio
import os
import shutil
import tempfile
import threading
from collections.abc import Mapping
from pathlib import Path, PurePosixPath

from hardwon.errors import SandboxError, UsageError
from hardwon.sandbox.cgroup import Slot, open_slot
from hardwon.sandbox.protocol import CommandResult, Limits
from hardwon.sandbox.shell import Place, prepare, run_shell
from hardwon.sandbox.workspaces.homes import delete

MOST_BYTES, MOST_FILES = 512 << 20, 50_000
"""What a folder may hold to be copied in."""

ROOM_MIB = 256
"""What a command may write on top of its folder."""

_FOLDER, _SOURCE = "/mnt/task", "/mnt/source"


async def run_command(
    command: str,
    workdir: Path | None,
    files: Mapping[str, str],
    limits: Limits,
    *,
    network: bool,
    bubblewrap: bool,
) -> CommandResult:
    """See `Sandbox.run_command`. A cancelled call ends the command.

    Raises SandboxError for a folder that can not be copied and a command that can not be started, UsageError for a path
    in `files` that leads out of the folder.
    """
    stop = threading.Event()
    work = asyncio.to_thread(_run, command, workdir, files, limits, network, bubblewrap, stop)
    try:
        return await work
    except asyncio.CancelledError:
        stop.set()
        raise


def _run(
    command: str,
    workdir: Path | None,
    files: Mapping[str, str],
    limits: Limits,
    network: bool,
    bubblewrap: bool,
    stop: threading.Event,
) -> CommandResult:
    home = Path(tempfile.mkdtemp(prefix="hardwon-command-")).resolve()
    slot: Slot | None = None
    try:
        copy = home / "work"
        copy.mkdir()
        size = copy_folder(workdir, copy) if workdir is not None else 0
        write_files(copy, files)
        slot = open_slot()
        if slot is not None:
            # the copy of the folder lies in memory and counts
            slot.limit(Limits(memory_mib=limits.memory_mib + (size >> 20) + 1, processes=limits.processes))
        prepare(home)
        place = _place(home, size) if bubblewrap else _bare(home)
        return run_shell(command, place, limits, slot, stop, network=network, bubblewrap=bubblewrap)
    finally:
        if slot is not None:
            slot.close()
        delete(home)


def _place(home: Path, size: int) -> Place:
    """A folder in memory, with room to write, into which `size` bytes are copied."""
    temporary = ("--size", str(ROOM_MIB << 20), "--tmpfs", "/tmp")
    folder = ("--size", str(2 * size + (ROOM_MIB << 20)), "--tmpfs", _FOLDER)
    copied = ("--ro-bind", str(home / "work"), _SOURCE)
    return Place(home, _FOLDER, "/tmp", (*temporary, *folder), copied, _SOURCE)


def _bare(home: Path) -> Place:
    return Place(home, str(home / "work"), str(home), writable=(str(home),))


def copy_folder(source: Path, target: Path) -> int:
    """Copies files, folders and links that stay inside; returns the bytes. Raises SandboxError past the bounds."""
    if not source.is_dir():
        raise SandboxError(f"{source} is not a folder that can be copied into the sandbox")
    root = source.resolve()
    size = count = 0
    for folder, names, found in os.walk(root, followlinks=False):
        here = Path(folder)
        there = target / here.relative_to(root)
        there.mkdir(exist_ok=True)
        for name in (*names, *found):
            entry = here / name
            if entry.is_symlink():
                if entry.resolve().is_relative_to(root) and not entry.readlink().is_absolute():
                    (there / name).symlink_to(entry.readlink())
            elif entry.is_file():
                size += entry.stat().st_size
                if size > MOST_BYTES:
                    raise SandboxError(f"{source} holds more than {MOST_BYTES >> 20} MiB: give a smaller folder")
                try:
                    shutil.copy2(entry, there / name)
                except OSError as error:
                    raise SandboxError(f"{entry} can not be copied into the sandbox: {error}") from error
            count += 1
            if count > MOST_FILES:
                raise SandboxError(f"{source} holds more than {MOST_FILES} files: give a smaller folder")
    return size


def write_files(target: Path, files: Mapping[str, str]) -> None:
    """Writes each text to its relative path. Raises UsageError for a path that leads out of the folder."""
    for name, text in files.items():
        path = PurePosixPath(name)
        if path.is_absolute() or ".." in path.parts or not path.parts:
            raise UsageError(f"the file name {name!r} is not a relative path inside the folder")
        place = target / path
        if not place.parent.resolve().is_relative_to(target):
            raise UsageError(f"the file name {name!r} leads out of the folder")
        place.parent.mkdir(parents=True, exist_ok=True)
        if place.is_symlink():
            place.unlink()
        place.write_text(text, encoding="utf-8")
