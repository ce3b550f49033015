"""One worker: a fork server for candidates, another for checkers, and the host's part in a job. Blocking code."""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, cast

from hardwon.sandbox.inside import wire
from hardwon.sandbox.launch import WorkerLost, Zygote, start_zygote
from hardwon.sandbox.protocol import FunctionTests, Limits
from hardwon.trial import Check, Verdict

_GRACE_SECONDS = 2.0
"""How long past its time the checker may take to say so itself."""


class Worker:
    """Runs one job at a time. Every method raises WorkerLost when its fork servers fail."""

    def __init__(self, bubblewrap: bool) -> None:
        self.candidates: Zygote = start_zygote(bubblewrap)
        try:
            self.checkers: Zygote = start_zygote(bubblewrap, checkers=True)
        except BaseException:
            self.candidates.close()
            raise
        self._ready = False
        self._line: socket.socket | None = None
        self._checker_limits: Limits | None = None

    def start(self) -> None:
        """Waits for both fork servers to be up (they start side by side)."""
        if not self._ready:
            self.candidates.ready()
            self.checkers.ready()
            self._ready = True

    @property
    def alive(self) -> bool:
        return not self._ready or (self.candidates.alive and self.checkers.alive)

    def run_function(self, program: str, tests: FunctionTests, limits: Limits) -> tuple[Check, ...]:
        """Runs the tests in a checker against the program in a candidate; the checks in order."""
        self.start()
        job = {
            "program": program,
            "entry": tests.entry_point,
            "source": tests.source,
            "prelude": tests.prelude,
            "limits": asdict(limits),
        }
        hearing: _Hearing | None = None
        try:
            with self._new_candidate(limits) as near:
                line = self._checker(limits)
                try:
                    socket.send_fds(line, [b"."], [near.fileno()])
                except OSError as error:
                    raise WorkerLost(f"the checker is gone: {error}") from None
            hearing = _Hearing(self, line, limits)
            return hearing.hear(job)
        finally:
            self.candidates.kill()
            if hearing is None or not hearing.clean:
                self._end_checker()
            self.candidates.finish()

    def _checker(self, limits: Limits) -> socket.socket:
        """The line to a checker: the last one if it was left clean and has the same limits, else a new one."""
        if self._line is not None and self._checker_limits == limits:
            return self._line
        self._end_checker()
        ours, theirs = socket.socketpair()
        self._line, self._checker_limits = ours, limits
        with theirs:
            self.checkers.spawn("checker", limits, [theirs.fileno()])
        return ours

    def _end_checker(self) -> None:
        if self._line is not None:
            line, self._line = self._line, None
            line.close()
            self.checkers.finish()

    def _new_candidate(self, limits: Limits) -> socket.socket:
        near, far = socket.socketpair()
        try:
            with far:
                self.candidates.spawn("candidate", limits, [far.fileno()])
        except BaseException:
            near.close()
            raise
        return near

    def abandon(self) -> None:
        """Ends the job that another thread is running, as soon as may be; its result means nothing then."""
        line = self._line
        if line is not None:
            try:
                line.shutdown(socket.SHUT_RDWR)
            except OSError:
                return

    def close(self) -> None:
        """Ends both fork servers and all that runs in them."""
        if self._line is not None:
            self._line.close()
        self.candidates.close()
        self.checkers.close()


class _Hearing:
    """The host's side of one function job: passes on new candidates and collects what the checker reports."""

    def __init__(self, worker: Worker, line: socket.socket, limits: Limits) -> None:
        self.worker, self.limits = worker, limits
        self.channel = wire.Channel(line)
        self.checks: list[dict[str, Any]] = []
        self.calls = 0
        self.clean = False
        self.deadline = time.monotonic() + limits.load_seconds + limits.total_seconds + _GRACE_SECONDS

    def hear(self, job: Mapping[str, Any]) -> tuple[Check, ...]:
        try:
            self.channel.send(job, self.deadline)
            while not self._one_message():
                pass
        except TimeoutError:
            status = "fail" if self.calls else "no_evidence"
            error = f"not within {self.limits.total_seconds:g} s"
            self.checks.append({"name": "tests finish", "status": status, "error": error})
        except (wire.Closed, wire.Violation):
            ended = self.worker.checkers.ended() if self.worker.checkers.busy else 0
            how = self.worker.checkers.reason(ended, self.limits)
            error = f"the process that ran the tests {how}"
            self.checks.append({"name": "tests finish", "status": "no_evidence", "error": error})
        except wire.CannotCross as error_:
            error = f"program and tests together are {error_}"
            self.checks.append({"name": "tests start", "status": "no_evidence", "error": error})
        return to_checks(self.checks)

    def _one_message(self) -> bool:
        """Handles one message of the checker; True for the last."""
        message = self.channel.receive(self.deadline)
        if "checks" in message:
            self.checks.extend(message["checks"])
            self.calls = message["calls"]
        elif "gone" in message:
            self.channel.send({"why": self._bury()})
        elif "again" in message:
            with self.worker._new_candidate(self.limits) as near:
                socket.send_fds(self.channel.sock, [b"."], [near.fileno()])
        self.clean = message.get("clean") is True
        return "done" in message

    def _bury(self) -> str:
        """Ends the lost candidate; how it had ended, if it was by itself."""
        candidates = self.worker.candidates
        try:
            status = candidates.ended(0.05)
        except TimeoutError:
            candidates.finish()
            return "stopped answering"
        return candidates.reason(status, self.limits)


def to_checks(found: list[dict[str, Any]]) -> tuple[Check, ...]:
    """Checks from the checker's reports.

    Assertions that hold whatever the program does are left out beside others that say something: they are no evidence,
    and kept they would make it seem as if a test were missing.
    """
    telling = [c for c in found if not c.get("constant")]
    kept = telling or found
    made = []
    for number, check in enumerate(kept, 1):
        name = str(check["name"])
        made.append(
            Check(
                name=f"test {number}" if name.startswith("test ") else name,
                status=cast(Verdict, check["status"]),
                call=check.get("call"),
                expected=check.get("expected"),
                observed=check.get("observed"),
                error=check.get("error"),
                seconds=float(check.get("seconds", 0.0)),
            )
        )
    return tuple(made)


def run_program(worker: Worker, fds: list[int], limits: Limits) -> None:
    """Starts a script in the candidates' fork server with [source, stdin, stdout, stderr]."""
    worker.start()
    worker.candidates.spawn("program", limits, fds)


def memory_file(text: str) -> int:
    """A descriptor from which the text can be read."""
    fd = os.memfd_create("hardwon")
    with os.fdopen(os.dup(fd), "wb") as file:
        file.write(text.encode("utf-8", "surrogatepass"))
    os.lseek(fd, 0, os.SEEK_SET)
    return fd


__all__ = ["Worker", "WorkerLost", "memory_file", "run_program", "to_checks"]
