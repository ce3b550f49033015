"""The fork server: a warm interpreter that forks one confined child at a time and tells how it ended.

It never reads what its children are given: a child's work comes over descriptors that are passed through. So nothing of
a task, of a program or of a test is ever in the memory that the next child inherits.

The host sends `{"op": "spawn", "role", "limits"}` with descriptors, and `{"op": "kill"}`; each spawn is answered by one
`{"exit": wait status}` when the child and all its descendants are gone. The end of the control stream ends the server.
"""

from __future__ import annotations

import _socket
import builtins
import gc
import importlib
import json
import os
import resource
import select
import signal
import sys
from _sitebuiltins import Quitter
from collections.abc import Callable
from typing import Any

from . import candidate, confine
from .pages import code_on_large_pages
from .rehearsal import rehearse

_PRELOADED = (
    "abc bisect collections collections.abc copy enum functools heapq itertools json math operator re string typing"
)
"""Modules that programs import most. Each makes every fork dearer: what is rare, large (`dataclasses`, `hashlib`), or
busy after each fork (`threading`, `random`) is imported where it is wanted."""

_FOR_CHECKERS = "ast datetime decimal fractions random statistics"

_DATAGRAM = 4096
_DESCRIPTORS = _socket.CMSG_SPACE(8 * 4)
_KILL = b'{"op":"kill"}'
_NO_CHILD_SETUP = 97
"""Exit status of a child that could not be confined, and so ran nothing."""

_Step = tuple[Callable[..., Any], tuple[Any, ...]]


class Zygote:
    """State of the fork server: its control socket, and what each child needs."""

    def __init__(self, control: int, config: dict[str, Any]) -> None:
        self.control = _socket.socket(fileno=control)
        self.config = config
        self.namespaces: bool = config["namespaces"]
        self.tmp: str = config["tmp"]
        self.own = os.pidfd_open(os.getpid())
        self.children_list = -1
        self.extra_processes = config["processes_in_use"]
        self.null = os.open("/dev/null", os.O_RDWR)
        self.asked: tuple[bytes, list[int]] = b"", []
        self.role = ""
        self.kept: list[int] = []
        self.steps: list[_Step] = []

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
        os.chdir(self.tmp)
        if self.config["seccomp"] and self.namespaces:
            confine.install_seccomp(confine.seccomp_program(server=True))

    def serve(self) -> None:
        """Children, one after the other, until the host hangs up.

        As little as can be is done here between forks: each memory page that is written to has to be copied, as the
        child still shares it. Hence no JSON for what is said each time, nor `socket.recv_fds`.
        """
        poll, control = select.poll(), self.control.fileno()
        poll.register(control, select.POLLIN)
        listening = True
        while listening:
            message, fds = self.receive()
            if not message:
                return
            if message == _KILL:
                continue  # the child had ended by itself
            child = self.spawn(message, fds)
            ended = os.pidfd_open(child)
            poll.register(ended, select.POLLIN)
            ready = poll.poll()
            if ready[0][0] == control or len(ready) > 1:
                listening = bool(self.receive()[0])
                self.kill(child)
            poll.unregister(ended)
            os.close(ended)
            self.bury(child, listening)

    def receive(self) -> tuple[bytes, list[int]]:
        """A message of the host and its descriptors; an empty one when it has hung up."""
        data, extra, _, _ = self.control.recvmsg(_DATAGRAM, _DESCRIPTORS)
        fds = []
        for _, _, packed in extra:
            for at in range(0, len(packed), 4):
                fds.append(int.from_bytes(packed[at : at + 4], sys.byteorder))
        return data, fds

    def spawn(self, message: bytes, fds: list[int]) -> int:
        """Forks the child; its process id."""
        if (message, fds) != self.asked:
            order = json.loads(message)
            self.role, self.kept = order["role"], fds[:1] if order["role"] == "program" else fds
            self.steps = self.confinement(order["limits"], fds)
            self.asked = message, fds
        if self.namespaces:
            confine.unshare(confine.NEW_PID)
        pid = os.fork()
        if pid == 0:
            self.become_child()
        if self.namespaces:
            confine.enter_namespace(self.own, confine.NEW_PID)
        for fd in fds:
            os.close(fd)
        return pid

    def confinement(self, limits: dict[str, Any], fds: list[int]) -> list[_Step]:
        """The calls by which a child confines itself, made ready before the fork; most children share one set."""
        processes = None if self.extra_processes is None else self.extra_processes + limits["processes"]
        # a group of its own, or its signals to "my group" would reach this server even out of a namespace
        steps: list[_Step] = [(os.setpgid, (0, 0)) if self.namespaces else (os.setsid, ())]
        steps += [(resource.setrlimit, each) for each in confine.resource_limits(limits, processes)]
        steps += [(confine.drop_capabilities, ())]
        if self.config["seccomp"] and not self.namespaces:
            steps += [(lambda: confine.install_seccomp(confine.seccomp_program(os.getpid())), ())]
        streams = fds[1:] if self.role == "program" else [self.null] * 3
        steps += [(os.dup2, (fd, target)) for target, fd in enumerate(streams)]
        low = 3
        for fd in sorted(self.kept):
            steps += [(os.closerange, (low, fd))]
            low = fd + 1
        return [*steps, (os.closerange, (low, 4096))]

    def become_child(self) -> None:
        """Confines this fork and hands it over to its role; never returns."""
        try:
            for call, arguments in self.steps:
                call(*arguments)
        except BaseException as error:
            print(f"a child could not be confined: {error}", file=sys.stderr, flush=True)
            os._exit(_NO_CHILD_SETUP)
        if self.role == "checker":
            from . import checker  # loaded before the fork, and in the checkers' server alone

            checker.main(self.kept)
        else:
            candidate.main(self.role, self.kept)

    def kill(self, child: int) -> None:
        try:
            os.kill(child, signal.SIGKILL)
            if not self.namespaces:
                os.killpg(child, signal.SIGKILL)
        except ProcessLookupError:
            pass

    def bury(self, child: int, tell: bool) -> None:
        """Reaps the child and what it left, cleans up, and tells the host."""
        _, status = os.waitpid(child, 0)  # the end of a namespace's first process waits for all others in it
        if not self.namespaces:
            self.end_orphans()
        if tell:
            self.clean()
            self.control.send(b'{"exit":%d}' % status)

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
        if not os.listdir(self.tmp):  # noqa: PTH208 (between forks a Path would cost more than it says)
            return
        if self.namespaces:
            os.chdir("/")
            confine.fresh_tmpfs("/tmp", self.config["tmp_mib"], 4096)
            os.chdir("/tmp")
        else:
            empty_here()


def empty_here() -> None:
    """Empties the working directory, in which nothing runs any more; it may be deeper than a path can be long."""
    levels: list[tuple[str, list[str]]] = [("", _clear_files())]
    while True:
        name, folders = levels[-1]
        if folders:
            inner = folders.pop()
            os.chmod(inner, 0o700)  # noqa: PTH101  (as in all of this file)
            os.chdir(inner)
            levels.append((inner, _clear_files()))
        elif len(levels) == 1:
            return
        else:
            levels.pop()
            os.chdir("..")
            os.rmdir(name)  # noqa: PTH106


def _clear_files() -> list[str]:
    """Removes what is no folder from the working directory; the folders."""
    folders = []
    with os.scandir(".") as entries:
        for entry in list(entries):
            if entry.is_dir(follow_symlinks=False):
                folders.append(entry.name)
            else:
                os.unlink(entry.name)  # noqa: PTH108
    return folders


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
    rehearse()
    code_on_large_pages()
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
