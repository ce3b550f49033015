"""How a sandboxed interpreter is started: under bubblewrap, or bare where that can not be had."""

from __future__ import annotations

import contextlib
import json
import os
import select
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from hardwon.errors import SandboxError
from hardwon.sandbox.answers import covers
from hardwon.sandbox.cgroup import Slot, open_slot
from hardwon.sandbox.inside import confine
from hardwon.sandbox.protocol import Limits
from hardwon.sandbox.workspaces.homes import delete

INSIDE = Path(__file__).parent / "inside"
_WALL = "/wall"
TMP_MIB = 64
_START_SECONDS = 30.0
_LEAVE_SECONDS = 10.0
ANSWER_SECONDS = 20.0

_SYSTEM = ("/usr/lib", "/usr/lib32", "/usr/lib64", "/lib", "/lib32", "/lib64")
DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")


class WorkerLost(Exception):
    """A fork server ended or stopped answering; the job may be tried on a new one."""


def interpreter() -> str:
    """The running interpreter's own executable, links resolved."""
    return os.path.realpath(sys.executable)


def bind(paths: tuple[str, ...]) -> list[str]:
    """Bubblewrap arguments that show host paths read-only (links as links); paths that do not exist are left out."""
    args: list[str] = []
    for path in paths:
        if Path(path).is_symlink():
            args += ["--symlink", str(Path(path).readlink()), path]
        elif Path(path).exists():
            args += ["--ro-bind", path, path]
    return args


def walls(*, network: bool = False, capabilities: tuple[str, ...] = ()) -> list[str]:
    """Bubblewrap with every namespace, no capabilities but those named, an empty environment, devices, no files yet."""
    executable = shutil.which("bwrap")
    if executable is None:
        raise SandboxError("bubblewrap is not installed: apt-get install bubblewrap")
    args = [executable, "--unshare-all", "--unshare-user", "--uid", "1000", "--gid", "1000"]
    args += ["--share-net"] if network else []
    args += ["--hostname", "sandbox", "--new-session", "--die-with-parent", "--clearenv", "--cap-drop", "ALL"]
    for capability in capabilities:
        args += ["--cap-add", capability]
    for device in DEVICES:
        args += ["--dev-bind", device, device]
    return args


def interpreter_files() -> tuple[str, ...]:
    """What the interpreter needs to start: its own tree and the shared libraries."""
    prefix = sys.base_prefix
    own = () if any(prefix == p or prefix.startswith(p + "/") for p in _SYSTEM) else (prefix,)
    if prefix == "/usr":
        own = ("/usr/bin",)
    return (*_SYSTEM, *own)


@lru_cache
def limits_as_data(limits: Limits) -> dict[str, Any]:
    return asdict(limits)


@lru_cache
def _spawn_message(role: str, limits: Limits) -> bytes:
    return json.dumps({"op": "spawn", "role": role, "limits": limits_as_data(limits)}).encode()


@dataclass
class Zygote:
    """A running fork server (see `inside.zygote`): one child at a time. Blocking; used by one thread at a time."""

    process: subprocess.Popen[bytes]
    control: socket.socket
    slot: Slot | None
    tmp: Path | None
    answer_seconds: float = ANSWER_SECONDS
    started: bool = False
    busy: bool = False
    _killed: bool = False
    _memory_kills: int = 0

    def spawn(self, role: str, limits: Limits, fds: list[int]) -> None:
        """Forks a child in this role with these descriptors, which stay the caller's to close. Raises WorkerLost.

        Waits for the end of the one before.
        """
        self.finish()
        if self.slot is not None:
            self.slot.limit(limits)
        self._send(_spawn_message(role, limits), fds)
        self.busy, self._killed = True, False

    def kill(self) -> None:
        """Asks for the end of the child; `ended` waits for it."""
        if self.busy and not self._killed:
            self._killed = True
            self._send(b'{"op":"kill"}', [])

    def ended(self, seconds: float) -> int:
        """Waits until the child and its descendants are gone; its wait status. Raises WorkerLost, TimeoutError."""
        status = int(self._receive(seconds)["exit"])
        self.busy = False
        if os.WIFEXITED(status) and os.WEXITSTATUS(status) == 97:
            raise WorkerLost(f"a child could not be confined{self._last_words()}")
        return status

    def finish(self) -> int:
        """Kills the child if it still runs, and waits for its end. Raises WorkerLost."""
        if not self.busy:
            return 0
        self.kill()
        try:
            return self.ended(self.answer_seconds)
        except TimeoutError:
            raise WorkerLost("a child could not be ended") from None

    def reason(self, status: int, limits: Limits) -> str:
        """How a child that nobody killed came to its end, as the end of a sentence about it."""
        if self.slot is not None and status == 9:
            before, self._memory_kills = self._memory_kills, self.slot.memory_kills()
            if self._memory_kills > before:
                return f"was killed for using more than {limits.memory_mib} MiB of memory"
        if os.WIFSIGNALED(status):
            names = {4: "SIGILL", 6: "SIGABRT", 7: "SIGBUS", 8: "SIGFPE", 9: "SIGKILL", 11: "SIGSEGV", 24: "SIGXCPU"}
            number = os.WTERMSIG(status)
            return f"died of {names.get(number, f'signal {number}')}"
        return f"ended the process with status {os.waitstatus_to_exitcode(status)}"

    def ready(self, seconds: float = _START_SECONDS) -> None:
        """Waits for the server to be up. Raises WorkerLost."""
        try:
            self._receive(seconds)
        except TimeoutError:
            raise WorkerLost("the fork server did not start in time") from None
        self.started = True

    def _send(self, data: bytes, fds: list[int]) -> None:
        try:
            socket.send_fds(self.control, [data], fds)
        except OSError as error:
            raise WorkerLost(f"the fork server is gone: {error}") from None

    def _receive(self, seconds: float) -> dict[str, Any]:
        poll = select.poll()
        poll.register(self.control, select.POLLIN)
        if not poll.poll(max(seconds, 0.001) * 1000):
            raise TimeoutError
        try:
            data, reason = self.control.recv(1 << 16), "it ended"
        except OSError as error:
            data, reason = b"", str(error)
        if not data:
            raise WorkerLost(f"the fork server is gone: {reason}{self._last_words()}")
        message: dict[str, Any] = json.loads(data)
        return message

    def _last_words(self) -> str:
        """What the server said on standard error, as far as it is there within a moment."""
        assert self.process.stderr is not None
        fd, said, deadline = self.process.stderr.fileno(), b"", time.monotonic() + 1.0
        while len(said) < 4096 and select.select([fd], [], [], max(0.0, deadline - time.monotonic()))[0]:
            piece = os.read(fd, 4096)
            if not piece:
                break
            said += piece
        text = said.decode(errors="replace").strip()
        return f" ({text[-500:]})" if text else ""

    def close(self) -> None:
        """Ends the server and everything under it."""
        self.control.close()
        if not self.started:
            # killed while it sets itself up, bubblewrap would leave half of itself behind; the closed line ends it soon
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(_LEAVE_SECONDS)
        self.process.kill()
        self.process.wait()
        if self.process.stderr is not None:
            self.process.stderr.close()
        if self.slot is not None:
            self.slot.close()
        if self.tmp is not None:
            delete(self.tmp)


def start_zygote(bubblewrap: bool, checkers: bool, answer_seconds: float, processor: int) -> Zygote:
    """Starts a fork server for candidates or `checkers` on one processor; `Zygote.ready` must follow.

    Raises SandboxError when it can not even be tried.
    """
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    slot = open_slot()
    joins = slot.joins if slot is not None else ()
    tmp = None if bubblewrap else Path(tempfile.mkdtemp(prefix="hardwon-")).resolve()
    fd = theirs.fileno()
    config: dict[str, Any] = {
        "checkers": checkers,
        "processor": processor,
        "namespaces": bubblewrap,
        "cgroups": list(joins),
        "tmp": "/tmp" if bubblewrap else str(tmp),
        "tmp_mib": TMP_MIB,
        "seccomp": confine.seccomp_supported(),
        "landlock": None,
        "processes_in_use": _processes_in_use(bubblewrap),
    }
    # Symbols are looked up at the start, or each child would do it again for those that it is the first to use.
    environment = {"LD_BIND_NOW": "1"}
    source = _WALL if bubblewrap else str(INSIDE.parent)
    if not bubblewrap and confine.landlock_abi():
        config["landlock"] = [[*interpreter_files(), str(INSIDE), *DEVICES], [str(tmp), "/dev/null"]]
    start = f"import sys; sys.path.insert(0, {source!r}); from inside.zygote import main; del sys.path[0]; "
    start += f"main({fd}, sys.argv[1])"
    python = [interpreter(), "-I", "-S", "-X", "utf8", "-c", start, json.dumps(config)]
    try:
        if bubblewrap:
            command = walls(capabilities=("CAP_SYS_ADMIN",)) + bind(interpreter_files()) + covers(interpreter_files())
            command += [word for name, value in environment.items() for word in ("--setenv", name, value)]
            command += ["--ro-bind", str(INSIDE), f"{_WALL}/inside", "--dir", "/tmp", "--remount-ro", "/", "--"]
        else:
            command = []
        process = subprocess.Popen(
            command + python,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            pass_fds=(fd, *joins),
            env=environment,
            cwd="/",
            start_new_session=True,
        )
    except OSError as error:
        raise SandboxError(f"the fork server could not be started: {error}") from error
    finally:
        theirs.close()
    return Zygote(process, ours, slot, tmp, answer_seconds)


def _processes_in_use(bubblewrap: bool) -> int | None:
    """What RLIMIT_NPROC must allow beside the candidate's own; None for root, on whom it has no effect.

    In a user namespace only its own processes count, outside of one all processes of this user.
    """
    if os.geteuid() == 0:
        return None
    if bubblewrap:
        return 4
    mine = 0
    for entry in Path("/proc").iterdir():
        with contextlib.suppress(OSError):  # it may end while we look
            mine += entry.name.isdigit() and entry.stat().st_uid == os.geteuid()
    return mine + 64
