"""The fork server: a warm interpreter that forks one confined child at a time and tells how it ended.

It never reads what its children are given: a child's work comes over descriptors that are passed through. So nothing of
a task, of a program or of a test is ever in the memory that the next child inherits.

The host sends `{"op": "spawn", "role", "limits"}` with descriptors, and `{"op": "kill"}`; each spawn is answered by one
`{"exit": wait status}` when the child and all its descendants are gone. The end of the control stream ends the server.
"""

from __future__ import annotations

import builtins
import gc
import importlib
import json
import os
import select
import signal
import socket
import sys
from _sitebuiltins import Quitter
from typing import Any

from . import candidate, confine

_PRELOADED = (
    "abc bisect collections collections.abc copy enum functools heapq itertools json math operator re string typing"
)
"""Modules that programs import most. Each makes every fork dearer: what is rare, large (`dataclasses`, `hashlib`), or
busy after each fork (`threading`, `random`) is imported where it is wanted."""

_FOR_CHECKERS = "ast datetime decimal fractions random statistics"

_DATAGRAM = 64 * 1024
_NO_CHILD_SETUP = 97
"""Exit status of a child that could not be confined, and so ran nothing."""


class Zygote:
    """State of the fork server: its control socket, and what each child needs."""

    def __init__(self, control: int, config: dict[str, Any]) -> None:
        self.control = socket.socket(fileno=control)
        self.config = config
        self.namespaces: bool = config["namespaces"]
        self.child: int | None = None
        self.own = os.pidfd_open(os.getpid())
        self.children_list = -1
        self.extra_processes = config["processes_in_use"]
        self.null = os.open("/dev/null", os.O_RDWR)
        self.limits: tuple[dict[str, Any] | None, list[tuple[int, int]]] = (None, [])

    def confine_self(self) -> None:
        """Sets up what all children share.

        The control group too: one child at a time has it to itself but for this small server, and moving each child
        into a group of its own would wait for the whole kernel, milliseconds each time.
        """
        for fd in self.config["cgroups"]:
            os.write(fd, b"0")
            os.close(fd)
        confine.one_malloc_arena()
        if self.namespaces:
            confine.fresh_tmpfs("/tmp", self.config["tmp_mib"], 4096)
        else:
            confine.adopt_orphans()
            try:
                self.children_list = os.open(f"/proc/self/task/{os.getpid()}/children", os.O_RDONLY)
            except OSError:
                self.children_list = -1
            if self.config["landlock"]:
                confine.landlock(*self.config["landlock"])
        confine.hide_memory()
        confine.no_new_privileges()
        os.chdir(self.config["tmp"])
        if self.config["seccomp"] and self.namespaces:
            confine.install_seccomp(confine.seccomp_program(server=True))

    def serve(self) -> None:
        poll = select.poll()
        poll.register(self.control, select.POLLIN)
        watched = -1
        while True:
            for fd, _ in poll.poll():
                if fd == watched:
                    poll.unregister(watched)
                    os.close(watched)
                    watched = -1
                    self.bury()
                elif fd == self.control.fileno():
                    data, fds, _, _ = socket.recv_fds(self.control, _DATAGRAM, 8)
                    if not data:
                        self.kill()
                        return
                    message = json.loads(data)
                    if message["op"] == "spawn":
                        watched = self.spawn(message, fds)
                        poll.register(watched, select.POLLIN)
                    else:
                        self.kill()

    def spawn(self, message: dict[str, Any], fds: list[int]) -> int:
        """Forks the child and returns a descriptor that is readable once it has ended."""
        limits = message["limits"]
        if limits != self.limits[0]:
            processes = None if self.extra_processes is None else self.extra_processes + limits["processes"]
            self.limits = limits, confine.resource_limits(limits, processes)
        if self.namespaces:
            confine.unshare(confine.NEW_PID)
        pid = os.fork()
        if pid == 0:
            self.become_child(message["role"], fds)
        if self.namespaces:
            confine.enter_namespace(self.own, confine.NEW_PID)
        for fd in fds:
            os.close(fd)
        self.child = pid
        return os.pidfd_open(pid)

    def become_child(self, role: str, fds: list[int]) -> None:
        """Confines this fork and hands it over to its role; never returns."""
        try:
            # a group of its own, or its signals to "my group" would reach this server even out of a namespace
            if self.namespaces:
                os.setpgid(0, 0)
            else:
                os.setsid()
            streams = fds[1:] if role == "program" else [self.null] * 3
            kept = fds[:1] if role == "program" else fds
            confine.set_limits(self.limits[1])
            confine.drop_capabilities()
            if self.config["seccomp"] and not self.namespaces:
                confine.install_seccomp(confine.seccomp_program(os.getpid()))
            for target, fd in enumerate(streams):
                os.dup2(fd, target)
            close_all_but(kept)
        except BaseException as error:
            print(f"a child could not be confined: {error}", file=sys.stderr, flush=True)
            os._exit(_NO_CHILD_SETUP)
        if role == "checker":
            from . import checker  # loaded before the fork, and in the checkers' server alone

            checker.main(kept)
        else:
            candidate.main(role, kept)

    def kill(self) -> None:
        if self.child is not None:
            try:
                os.kill(self.child, signal.SIGKILL)
                if not self.namespaces:
                    os.killpg(self.child, signal.SIGKILL)
            except ProcessLookupError:
                pass

    def bury(self) -> None:
        """Reaps the child and what it left, cleans up, and tells the host."""
        assert self.child is not None
        _, status = os.waitpid(self.child, 0)  # the end of a namespace's first process waits for all others in it
        if not self.namespaces:
            self.end_orphans()
        self.child = None
        self.clean()
        self.control.send(json.dumps({"exit": status}).encode())

    def end_orphans(self) -> None:
        """Kills whatever the child started, until nothing is left of it (orphans become ours, see `adopt_orphans`)."""
        while True:
            if self.children_list >= 0:
                for pid in os.pread(self.children_list, 1 << 16, 0).split():
                    os.kill(int(pid), signal.SIGKILL)
            try:
                if os.waitpid(-1, 0 if self.children_list >= 0 else os.WNOHANG) == (0, 0):
                    return
            except ChildProcessError:
                return

    def clean(self) -> None:
        """Empties the private /tmp, so that nothing passes from one candidate to the next."""
        with os.scandir(self.config["tmp"]) as entries:
            used = next(entries, None) is not None
        if not used:
            return
        if self.namespaces:
            os.chdir("/")
            confine.fresh_tmpfs("/tmp", self.config["tmp_mib"], 4096)
            os.chdir("/tmp")
        else:
            import shutil
            from pathlib import Path

            for entry in list(Path(self.config["tmp"]).iterdir()):
                if entry.is_dir() and not entry.is_symlink():
                    shutil.rmtree(entry)
                else:
                    entry.unlink()


def close_all_but(kept: list[int]) -> None:
    """Closes every descriptor above 2 that is not in `kept`."""
    low = 3
    for fd in sorted(kept):
        os.closerange(low, fd)
        low = fd + 1
    os.closerange(low, 4096)


def main(control: int, config_text: str) -> None:
    """Entered by the sandboxed interpreter that the host starts."""
    config = json.loads(config_text)
    os.environ.clear()  # bubblewrap sets PWD
    os.sched_setaffinity(0, {config["processor"]})
    if config["namespaces"]:
        # A process namespace and mounts of our own: owned by this user namespace, so that each child's can be made from
        # here, and every mount that was there before is locked against change.
        confine.unshare(confine.NEW_PID | confine.NEW_NAMESPACE)
        pid = os.fork()
        if pid:
            os.close(control)
            for fd in config["cgroups"]:
                os.close(fd)
            _, status = os.waitpid(pid, 0)
            os._exit(os.waitstatus_to_exitcode(status) & 0xFF)
    preloaded = f"{_PRELOADED} {_FOR_CHECKERS}" if config["checkers"] else _PRELOADED
    if config["checkers"]:
        importlib.import_module(f"{__package__}.checker")
    for name in preloaded.split():
        __import__(name)
    for name in ("exit", "quit"):  # these come from the `site` module, which is not loaded here
        setattr(builtins, name, Quitter(name, "Ctrl-D (i.e. EOF)"))
    exec(compile("pass", "<warm>", "exec"))  # the first use of `compile` makes the syntax tree's types: milliseconds
    zygote = Zygote(control, config)
    zygote.confine_self()
    try:
        zygote.control.send(b'{"ready":true}')
    except OSError:
        os._exit(0)  # the host has changed its mind
    gc.collect()
    gc.freeze()
    zygote.serve()
    sys.stderr.flush()
    os._exit(0)
