"""Runs a shell command in a private copy of a folder."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import secrets
import selectors
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path, PurePosixPath
from typing import Any

from hardwon.errors import SandboxError, UsageError
from hardwon.sandbox.cgroup import Slot, open_slot
from hardwon.sandbox.inside import confine
from hardwon.sandbox.launch import INSIDE, bind, interpreter, interpreter_files, walls
from hardwon.sandbox.protocol import CommandResult, Limits

MOST_BYTES, MOST_FILES = 512 << 20, 50_000
"""What a folder may hold to be copied in."""

ROOM_MIB = 256
"""What a command may write on top of its folder."""

_FOLDER, _SOURCE, _WALL = "/mnt/task", "/mnt/source", "/wall"
_ETC = (
    "ld.so.cache", "ld.so.conf", "ld.so.conf.d", "alternatives", "localtime", "nsswitch.conf", "mime.types", "magic",
    "services", "protocols", "ssl/openssl.cnf",
)  # fmt: skip
_NETWORK_ETC = ("resolv.conf", "hosts", "ssl/certs", "ca-certificates", "ca-certificates.conf")


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
        argv, fds, mark = _argv(command, home, size, limits, network, bubblewrap, slot)
        return _watch(argv, fds, mark, limits, stop, slot)
    finally:
        if slot is not None:
            slot.close()
        shutil.rmtree(home, ignore_errors=True)


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


def _argv(
    command: str,
    home: Path,
    size: int,
    limits: Limits,
    network: bool,
    bubblewrap: bool,
    slot: Slot | None,
) -> tuple[list[str], tuple[int, ...], str]:
    """The command line, the descriptors it needs, and the mark by which a failure to start is known."""
    executables = Path(sys.executable).parent
    folder = _FOLDER if bubblewrap else str(home / "work")
    temporary = "/tmp" if bubblewrap else str(home)
    shims = f"{_WALL}/bin" if bubblewrap else str(home / "bin")
    environment = {
        "PATH": f"{executables}:{Path(interpreter()).parent}:/usr/local/bin:/usr/bin:/bin:{shims}",
        "HOME": temporary,
        "TMPDIR": temporary,
        "LANG": "C.UTF-8",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONUNBUFFERED": "1",
    }
    shim = home / "bin" / "python"  # where the interpreter's folder holds only a `python3`
    shim.parent.mkdir()
    shim.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    shim.chmod(0o755)
    joins = slot.joins if slot is not None else ()
    mark = f"sandbox-{secrets.token_hex(8)}: "
    config: dict[str, Any] = {
        "command": command,
        "environment": environment,
        "folder": folder,
        "source": _SOURCE if bubblewrap else None,
        "limits": asdict(limits),
        "processes": None if os.geteuid() == 0 or not bubblewrap else limits.processes + 4,
        "cgroups": list(joins),
        "seccomp": confine.seccomp_supported(),
        "sockets": network or bubblewrap,  # a network namespace of its own is the better wall
        "landlock": None,
        "mark": mark,
    }
    prefixes = tuple(dict.fromkeys(p for p in (sys.base_prefix, sys.prefix) if not p.startswith("/usr")))
    seen = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", *prefixes)
    etc = tuple(f"/etc/{name}" for name in (*_ETC, *(_NETWORK_ETC if network else ())))
    if not bubblewrap and confine.landlock_abi() and not network:
        config["landlock"] = [[*seen, *etc, "/dev", str(INSIDE), *interpreter_files()], [str(home), "/dev/null"]]
    source = _WALL if bubblewrap else str(INSIDE.parent)
    start = f"import sys; sys.path.insert(0, {source!r}); from inside.command import main; main(sys.argv[1])"
    python = [interpreter(), "-I", "-S", "-X", "utf8", "-c", start, json.dumps(config)]
    if not bubblewrap:
        return python, joins, mark
    passwd = home / "passwd"
    passwd.write_text("user:x:1000:1000::/tmp:/bin/sh\n")
    # the empty folders come first, so that an interpreter that lies under /tmp is not covered by one
    argv = [*walls(network=network), "--size", str(ROOM_MIB << 20), "--tmpfs", "/tmp"]
    argv += ["--size", str(2 * size + (ROOM_MIB << 20)), "--tmpfs", _FOLDER]
    argv += bind(seen) + bind(etc) + ["--ro-bind", str(passwd), "/etc/passwd", "--proc", "/proc"]
    argv += ["--ro-bind", str(INSIDE), f"{_WALL}/inside", "--ro-bind", str(home / "work"), _SOURCE]
    argv += ["--ro-bind", str(home / "bin"), shims]
    argv += ["--remount-ro", "/", "--", *python]
    return argv, joins, mark


def _watch(
    argv: list[str], fds: tuple[int, ...], mark: str, limits: Limits, stop: threading.Event, slot: Slot | None
) -> CommandResult:
    """Runs it to its end or its time limit, keeping the tail of what it says."""
    start = time.monotonic()
    try:
        process = subprocess.Popen(
            argv,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env={},
            cwd="/",
            pass_fds=fds,
            start_new_session=True,
        )
    except OSError as error:
        raise SandboxError(f"the command could not be started: {error}") from error
    assert process.stdout is not None
    said, dropped = bytearray(), False
    deadline = start + limits.total_seconds
    timed_out = False
    with process.stdout as pipe, selectors.DefaultSelector() as selector:
        selector.register(pipe, selectors.EVENT_READ)
        while True:
            left = deadline - time.monotonic()
            if left <= 0 or stop.is_set():
                timed_out = True
                break
            if not selector.select(min(left, 0.1)):
                if process.poll() is not None:
                    break  # something it left behind still holds the pipe
                continue
            piece = os.read(pipe.fileno(), 1 << 16)
            if not piece:
                break
            said += piece
            if len(said) > limits.output_bytes:
                del said[: -limits.output_bytes]
                dropped = True
        if not timed_out:
            try:
                process.wait(max(0.0, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                timed_out = True
        _end(process, slot)
    output = said.decode("utf-8", "replace")
    if dropped:
        output = "[the beginning was cut]\n" + output
    status = process.returncode
    if status == 125 and mark in output:
        raise SandboxError(f"the command could not be started: {output.partition(mark)[2].strip()[:500]}")
    if status != 0 and output.startswith("bwrap: "):
        raise SandboxError(f"the command could not be started: {output.strip()[:500]}")
    return CommandResult(None if timed_out else status, output, time.monotonic() - start, timed_out)


def _end(process: subprocess.Popen[bytes], slot: Slot | None) -> None:
    """Ends the whole tree: under bubblewrap its namespace dies with it, else its session and its control group."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    if slot is not None:
        for _ in range(100):
            members = slot.members()
            if not members:
                return
            for pid in members:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
