"""Programs that read standard input and print, checked by input/output pairs on the host's side."""

from __future__ import annotations

import math
import os
import selectors
import time
from collections.abc import Sequence
from dataclasses import dataclass

from hardwon.sandbox.inside.shown import CALL, SHOWN, cut
from hardwon.sandbox.protocol import Limits, StdioCase
from hardwon.sandbox.worker import Worker, memory_file
from hardwon.trial import Check, Verdict

RELATIVE, ABSOLUTE = 1e-6, 1e-9
"""How far a printed float may be off."""

_MOST_TIMEOUTS = 2
_TAIL = 400


@dataclass
class Ran:
    """What one run did: wait status (None if it was ended for its time or output), what it printed, seconds."""

    status: int | None
    stdout: bytes
    stderr: bytes
    seconds: float
    ended_for: str | None = None


def run_cases(worker: Worker, program: str, cases: Sequence[StdioCase], limits: Limits) -> tuple[Check, ...]:
    """One check for each case, each in a fresh process; after two time-outs the rest is not run and fails."""
    checks: list[Check] = []
    timeouts = 0
    deadline = time.monotonic() + limits.total_seconds
    for number, case in enumerate(cases, 1):
        name, call = case.name or f"case {number}", cut(case.stdin, CALL)
        left = deadline - time.monotonic()
        if timeouts >= _MOST_TIMEOUTS or left <= 0:
            why = "not run: " + ("no time left" if left <= 0 else f"{timeouts} cases timed out before")
            checks.append(Check(name, "fail", call, cut(case.expected, SHOWN), error=why))
            continue
        ran = run_once(worker, program, case.stdin, limits, min(limits.test_seconds, left))
        timeouts += ran.ended_for is not None and ran.ended_for.startswith("timed out")
        checks.append(_judge(name, call, case.expected, ran, worker, limits))
    return tuple(checks)


def _judge(name: str, call: str, wanted: str, ran: Ran, worker: Worker, limits: Limits) -> Check:
    printed = ran.stdout.decode("utf-8", "replace")
    error = ran.ended_for
    if error is None and ran.status != 0:
        assert ran.status is not None
        said = ran.stderr.decode("utf-8", "replace").strip()[-_TAIL:]
        error = f"the program {worker.candidates.reason(ran.status, limits)}" + (f": {said}" if said else "")
    status: Verdict = "pass" if error is None and same_output(wanted, printed) else "fail"
    if status == "pass" and not wanted.split():
        status, error = "no_evidence", "no output is expected, so nothing was compared"
    return Check(
        name,
        status,
        call,
        cut(wanted, SHOWN),
        cut(printed, SHOWN),
        error,
        round(ran.seconds, 6),
    )


def run_once(worker: Worker, program: str, stdin: str, limits: Limits, seconds: float) -> Ran:
    """Runs the program as a script on one input. Raises WorkerLost."""
    worker.start()
    source, given = memory_file(program), memory_file(stdin)
    out, out_end = os.pipe()
    err, err_end = os.pipe()
    try:
        start = time.monotonic()
        worker.candidates.spawn("program", limits, [source, given, out_end, err_end])
    finally:
        for fd in (source, given, out_end, err_end):
            os.close(fd)
    texts = {out: bytearray(), err: bytearray()}
    try:
        worker.check_wanted()
        ended_for = _collect(texts, out, start + seconds, limits, seconds)
        if ended_for is None:
            try:  # it closed its outputs; it still has to end
                status: int | None = worker.candidates.ended(start + seconds - time.monotonic())
            except TimeoutError:
                ended_for = f"timed out after {seconds:g} s"
        if ended_for is not None:
            worker.candidates.finish()
            status = None
    finally:
        os.close(out)
        os.close(err)
        worker.candidates.finish()
    worker.check_wanted()
    return Ran(status, bytes(texts[out]), bytes(texts[err]), time.monotonic() - start, ended_for)


def _collect(texts: dict[int, bytearray], out: int, deadline: float, limits: Limits, seconds: float) -> str | None:
    """Reads both streams to their end; why the program has to be ended before, if so."""
    with selectors.DefaultSelector() as selector:
        for fd in texts:
            selector.register(fd, selectors.EVENT_READ)
        while selector.get_map():
            left = deadline - time.monotonic()
            ready = selector.select(left) if left > 0 else []
            if not ready:
                return f"timed out after {seconds:g} s"
            for key, _ in ready:
                fd = key.fd
                piece = os.read(fd, 1 << 16)
                if not piece:
                    selector.unregister(fd)
                    continue
                texts[fd] += piece
                if len(texts[fd]) > limits.output_bytes:
                    if fd == out:
                        return f"printed more than {limits.output_bytes} bytes"
                    del texts[fd][: -limits.output_bytes]
    return None


def same_output(wanted: str, printed: str) -> bool:
    """Compares token by token: integers and words exactly, numbers with a point or exponent within a tolerance."""
    a, b = wanted.split(), printed.split()
    return len(a) == len(b) and all(x == y or _close(x, y) for x, y in zip(a, b, strict=True))


def _close(wanted: str, printed: str) -> bool:
    if not any(c in ".eE" for c in wanted) or "_" in printed:  # an integer, a word, or inf: exact
        return False
    try:
        x, y = float(wanted), float(printed)
    except ValueError:
        return False
    return math.isfinite(x) and math.isclose(x, y, rel_tol=RELATIVE, abs_tol=ABSOLUTE)
