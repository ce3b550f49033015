"""Starts a shell command behind the wall, in a place that the caller has prepared, and watches it to its end."""

from __future__ import annotations

import contextlib
import marshal
import os
import secrets
import selectors
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from hardwon.errors import SandboxError
from hardwon.sandbox.answers import covers
from hardwon.sandbox.cgroup import Slot
from hardwon.sandbox.inside import confine
from hardwon.sandbox.launch import INSIDE, bind, interpreter, interpreter_files, walls
from hardwon.sandbox.protocol import CommandResult, Limits

_WALL = "/wall"
_TICK = 0.1
_ETC = (
    "ld.so.cache", "ld.so.conf", "ld.so.conf.d", "alternatives", "localtime", "nsswitch.conf", "mime.types", "magic",
    "services", "protocols", "ssl/openssl.cnf",
)  # fmt: skip
_NETWORK_ETC = ("resolv.conf", "hosts", "ssl/certs", "ca-certificates", "ca-certificates.conf")


@dataclass(frozen=True, slots=True)
class Place:
    """Where a shell starts and what it sees.

    `home` is a private folder of the host, never shown. `folder` is where the shell starts and `temporary` its HOME and
    TMPDIR, both as seen inside; under bubblewrap `mounts` makes them, and `mounts_last` covers what lies in them.
    `source` is copied to `folder` first (None: it is there already). Without bubblewrap `writable` is all that may be
    written, and `readable` what may be read beside the system. `environment` adds to the few variables that are set,
    `path` stands before the usual PATH.
    """

    home: Path
    folder: str
    temporary: str
    mounts: tuple[str, ...] = ()
    mounts_last: tuple[str, ...] = ()
    source: str | None = None
    writable: tuple[str, ...] = ()
    readable: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    path: tuple[str, ...] = ()


def run_shell(
    command: str,
    place: Place,
    limits: Limits,
    slot: Slot | None,
    stop: threading.Event,
    *,
    network: bool,
    bubblewrap: bool,
    head_bytes: int = 0,
    overstepped: Callable[[], str | None] = lambda: None,
) -> CommandResult:
    """Runs `command` to its end or its time limit; blocking, `stop` ends it early.

    Of long output the tail is kept, and the first `head_bytes`. `overstepped` is asked ten times a second; a text from
    it ends the command and stands at the end of its output. Raises SandboxError when it can not be started.
    """
    mark = f"sandbox-{secrets.token_hex(8)}: "
    joins = slot.joins if slot is not None else ()
    told, tells = os.pipe()
    orders = os.memfd_create("orders")
    try:
        argv, config = _start(
            command, place, limits, joins, mark, tells, orders, network=network, bubblewrap=bubblewrap
        )
        _write(orders, marshal.dumps(config))
        watch = Watch(limits, head_bytes, stop, overstepped)
        try:
            process = subprocess.Popen(
                argv,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                env={},
                cwd="/",
                pass_fds=(*joins, orders, tells) if bubblewrap else (*joins, orders),
                start_new_session=True,
            )
        except OSError as error:
            raise SandboxError(f"the command could not be started: {error}") from error
        finally:
            os.close(tells)
        ended_early = watch.follow(process, slot)
        status, output = process.returncode, watch.output()
        if status == 125 and mark in output:
            raise SandboxError(f"the command could not be started: {output.partition(mark)[2].strip()[:500]}")
        if bubblewrap and not ended_early and b"exit-code" not in os.read(told, 4096):
            # bubblewrap tells the exit code of what it started, and only if it did start it
            raise SandboxError(f"the command could not be started: {output.strip()[:500]}")
        return CommandResult(None if ended_early else status, output, watch.seconds, watch.timed_out)
    finally:
        os.close(told)
        os.close(orders)


def prepare(home: Path) -> None:
    """Writes into a private folder what every shell there is shown: a `python`, and a name for its user."""
    shim = home / "bin" / "python"  # where the interpreter's folder holds only a `python3`
    shim.parent.mkdir()
    shim.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    shim.chmod(0o755)
    (home / "passwd").write_text("user:x:1000:1000::/tmp:/bin/sh\n")


def _write(descriptor: int, data: bytes) -> None:
    """Fills a file that is then read from its start."""
    with open(descriptor, "wb", closefd=False) as file:
        file.write(data)
    os.lseek(descriptor, 0, os.SEEK_SET)


def _start(
    command: str,
    place: Place,
    limits: Limits,
    joins: tuple[int, ...],
    mark: str,
    tells: int,
    orders: int,
    *,
    network: bool,
    bubblewrap: bool,
) -> tuple[list[str], dict[str, Any]]:
    """The command line, and what it is to read from the descriptor `orders`."""
    shims = f"{_WALL}/bin" if bubblewrap else str(place.home / "bin")
    path = (*place.path, str(Path(sys.executable).parent), str(Path(interpreter()).parent))
    environment = {
        "PATH": ":".join((*path, "/usr/local/bin", "/usr/bin", "/bin", shims)),
        "HOME": place.temporary,
        "TMPDIR": place.temporary,
        "LANG": "C.UTF-8",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONUNBUFFERED": "1",
    }
    config: dict[str, Any] = {
        "command": command,
        "environment": {**environment, **place.environment},
        "folder": place.folder,
        "source": place.source,
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
        readable = [*seen, *etc, "/dev", str(INSIDE), *interpreter_files(), shims, *place.readable]
        config["landlock"] = [readable, [*place.writable, "/dev/null"]]
    source = _WALL if bubblewrap else str(INSIDE.parent)
    start = f"import sys; sys.path.insert(0, {source!r}); from inside.command import main; main(sys.argv[1])"
    python = [interpreter(), "-I", "-S", "-X", "utf8", "-c", start, str(orders)]
    if not bubblewrap:
        return python, config
    # the empty folders come first, so that an interpreter that lies under /tmp is not covered by one
    argv = [
        *walls(network=network),
        "--json-status-fd",
        str(tells),
        *place.mounts,
        *bind(seen),
        *covers(seen),
        *bind(etc),
    ]
    argv += [*place.mounts_last, "--ro-bind", str(place.home / "passwd"), "/etc/passwd", "--proc", "/proc"]
    argv += ["--ro-bind", str(INSIDE), f"{_WALL}/inside", "--ro-bind", str(place.home / "bin"), shims]
    return [*argv, "--remount-ro", "/", "--", *python], config


class Watch:
    """Reads what a command says until it ends, runs out of time or oversteps, and then ends its whole tree.

    `head_bytes` and `overstepped` are as for `run_shell`; `timed_out` and `seconds` say how it went.
    """

    def __init__(
        self, limits: Limits, head_bytes: int, stop: threading.Event, overstepped: Callable[[], str | None]
    ) -> None:
        self.timed_out = False
        self.seconds = 0.0
        self._limits = limits
        self._head_bytes = head_bytes
        self._stop = stop
        self._overstepped = overstepped
        self._head, self._tail, self._dropped = bytearray(), bytearray(), 0
        self._fault: str | None = None

    def follow(self, process: subprocess.Popen[bytes], slot: Slot | None) -> bool:
        """Blocks until the end of a process whose output is a pipe; True if it was ended from outside."""
        start = time.monotonic()
        assert process.stdout is not None
        with process.stdout as pipe, selectors.DefaultSelector() as selector:
            selector.register(pipe, selectors.EVENT_READ)
            self._read(process, pipe.fileno(), selector, start + self._limits.total_seconds)
            end_tree(process, slot)
        self.seconds = time.monotonic() - start
        return self.timed_out or self._fault is not None

    def _read(
        self, process: subprocess.Popen[bytes], fd: int, selector: selectors.BaseSelector, deadline: float
    ) -> None:
        asked = time.monotonic()
        while True:
            now = time.monotonic()
            if now >= deadline or self._stop.is_set():
                self.timed_out = True
                return
            if now >= asked + _TICK:
                asked = now
                self._fault = self._overstepped()
                if self._fault is not None:
                    return
            if not selector.select(min(deadline - now, _TICK)):
                if process.poll() is not None and not selector.select(0):
                    return  # something it left behind still holds the pipe, and all that was said is read
                continue
            piece = os.read(fd, 1 << 16)
            if not piece:
                break
            self._keep(piece)
        while process.poll() is None:  # it has closed its output, and may still work
            now = time.monotonic()
            if now >= deadline or self._stop.is_set():
                self.timed_out = True
                return
            self._fault = self._overstepped()
            if self._fault is not None:
                return
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(min(deadline - now, _TICK))

    def _keep(self, piece: bytes) -> None:
        room = self._head_bytes - len(self._head)
        self._head += piece[:room]
        self._tail += piece[room:] if room > 0 else piece
        if (over := len(self._tail) - self._limits.output_bytes) > 0:
            del self._tail[:over]
            self._dropped += over

    def output(self) -> str:
        """What it said, with a note where something was cut, and what it was ended for."""
        head, tail = (bytes(part).decode("utf-8", "replace") for part in (self._head, self._tail))
        if not self._dropped:
            said = bytes(self._head + self._tail).decode("utf-8", "replace")
        elif head:
            said = f"{head}\n[{self._dropped} bytes were cut]\n{tail}"
        else:
            said = f"[the beginning was cut]\n{tail}"
        return said if self._fault is None else f"{said.rstrip()}\n[{self._fault}]\n".lstrip()


def end_tree(process: subprocess.Popen[bytes], slot: Slot | None) -> None:
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
