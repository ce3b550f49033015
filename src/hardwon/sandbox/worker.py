"""One worker: a fork server for candidates, another for checkers, and the host's part in a job. Blocking code."""

from __future__ import annotations

import contextlib
import itertools
import os
import socket
import threading
import time
from collections.abc import Mapping
from typing import Any, cast

from hardwon.sandbox.inside import wire
from hardwon.sandbox.inside.channel import Channel
from hardwon.sandbox.inside.line import Closed
from hardwon.sandbox.launch import ANSWER_SECONDS, WorkerLost, Zygote, limits_as_data, start_zygote
from hardwon.sandbox.protocol import FunctionTests, Limits
from hardwon.trial import Check, Verdict

_LAST_SECONDS = 0.2
"""How long a child whose line was cut may take to end by itself, so that its end can be told."""

_GRACE_SECONDS = 2.0
"""How long past its time the checker may take to say so itself."""


_started = itertools.count(os.getpid())


def _next_processor() -> int:
    """The processor for the next worker, in turn.

    Candidate and checker wait for each other all the time, so that they can not use two; on one their messages cost a
    third less, and no candidate takes more than one.
    """
    usable = sorted(os.sched_getaffinity(0))
    return usable[next(_started) % len(usable)]


class GivenUp(Exception):
    """Nobody waits for this job any more."""


class Worker:
    """Runs one job at a time. Every method raises WorkerLost when its fork servers fail."""

    def __init__(self, bubblewrap: bool, answer_seconds: float = ANSWER_SECONDS) -> None:
        processor = _next_processor()
        self.candidates: Zygote = start_zygote(bubblewrap, False, answer_seconds, processor)
        try:
            self.checkers: Zygote = start_zygote(bubblewrap, True, answer_seconds, processor)
        except BaseException:
            self.candidates.close()
            raise
        self._ready = False
        self._lock = threading.Lock()
        self._job: object = None
        self._given_up = False
        self._line: socket.socket | None = None
        self._checker_limits: Limits | None = None

    def start(self) -> None:
        """Waits for both fork servers to be up (they start side by side)."""
        if not self._ready:
            self.candidates.ready()
            self.checkers.ready()
            self._ready = True

    def run_function(self, program: str, tests: FunctionTests, limits: Limits) -> tuple[Check, ...]:
        """Runs the tests in a checker against the program in a candidate; the checks in order."""
        self.start()
        job = {
            "program": program,
            "entry": tests.entry_point,
            "source": tests.source,
            "prelude": tests.prelude,
            "limits": limits_as_data(limits),
        }
        hearing: _Hearing | None = None
        try:
            with self._new_candidate(limits) as near:
                hearing = _Hearing(self, self._checker(limits), limits)
                refusal = hearing.start(job, near)
            return (refusal,) if refusal else hearing.hear()
        finally:
            self.candidates.kill()  # the next start waits for its end
            if hearing is None or not hearing.clean:
                self._end_checker()

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
            with self._lock:
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

    def begin(self, job: object) -> None:
        """Names the job that follows, for `give_up`."""
        with self._lock:
            self._job, self._given_up = job, False

    def give_up(self, job: object) -> None:
        """Called from another thread: if this job still runs here, ends it soon, by GivenUp."""
        with self._lock:
            if self._job is not job:
                return
            self._given_up = True
            if self._line is not None:
                with contextlib.suppress(OSError):
                    self._line.shutdown(socket.SHUT_RDWR)
            with contextlib.suppress(WorkerLost):
                self.candidates.kill()

    def check_wanted(self) -> None:
        """Raises GivenUp when nobody waits for the job any more. Called after each start of a candidate."""
        if self._given_up:
            raise GivenUp

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
        self.channel = Channel(line)
        self.checks: list[dict[str, Any]] = []
        self.calls = 0
        self.clean = False
        self.deadline = time.monotonic() + limits.load_seconds + limits.total_seconds + _GRACE_SECONDS

    def start(self, job: Mapping[str, Any], candidate: socket.socket) -> Check | None:
        """Hands job and candidate to the checker; a check that says why, if they are too large. Raises WorkerLost."""
        try:
            self.channel.send_with_descriptor(job, candidate.fileno())
        except Closed:
            raise WorkerLost(f"the checker {self._last_of(self.worker.checkers)}") from None
        except wire.CannotCross as error:
            return Check("tests start", "no_evidence", error=f"program and tests together are {error}")
        return None

    def hear(self) -> tuple[Check, ...]:
        """Collects the checks until the checker says that it is done, or fails to."""
        try:
            self.worker.check_wanted()
            while not self._one_message():
                pass
        except TimeoutError:
            status = "fail" if self.calls else "no_evidence"
            error = f"not within {self.limits.total_seconds:g} s"
            self.checks.append({"name": "tests finish", "status": status, "error": error})
        except (Closed, wire.Violation):
            self.worker.check_wanted()
            how = self._last_of(self.worker.checkers)
            error = f"the process that ran the tests {how}"
            status = "fail" if self.calls else "no_evidence"  # after a call, what came back is likely to be the cause
            self.checks.append({"name": "tests finish", "status": status, "error": error})
        return to_checks(self.checks)

    def _one_message(self) -> bool:
        """Handles one message of the checker; True for the last."""
        message = self.channel.receive(self.deadline)
        if "checks" in message:
            self.checks.extend(message["checks"])
            self.calls = message["calls"]
        elif "gone" in message:
            why = self._last_of(self.worker.candidates)
            with contextlib.suppress(Closed):  # out of time meanwhile, the checker has said its last and gone
                self.channel.send({"why": why})
        elif "again" in message:
            with self.worker._new_candidate(self.limits) as near, contextlib.suppress(BrokenPipeError):
                socket.send_fds(self.channel.sock, [b"."], [near.fileno()])
        self.clean = message.get("clean") is True
        return "done" in message

    def _last_of(self, zygote: Zygote) -> str:
        """Makes sure that a child is gone; how it had ended, if it was by itself."""
        try:
            status = zygote.ended(_LAST_SECONDS)
        except TimeoutError:
            zygote.finish()
            return "stopped answering"
        return zygote.reason(status, self.limits)


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


def memory_file(text: str) -> int:
    """A descriptor from which the text can be read."""
    fd = os.memfd_create("hardwon")
    with os.fdopen(os.dup(fd), "wb") as file:
        file.write(text.encode("utf-8", "surrogatepass"))
    os.lseek(fd, 0, os.SEEK_SET)
    return fd
