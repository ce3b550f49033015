"""What the rewritten tests report to: one check for each assertion that was reached."""

from __future__ import annotations

import ast
import operator
import time
from collections.abc import Callable, Sequence
from typing import Any

from . import wire
from .asserts import Site, mentions, statements_of_sites, tainted_names
from .remote import Gone, Remote, Stop
from .shown import cut, show

MOST_CHECKS = 200
"""Checks that are reported one by one; those beyond are summed up in one."""

TEST_FILES = ("<tests>", "<prelude>")
"""The names under which the tests and what they may use are compiled."""

_FLUSH_SECONDS = 0.05
_ERROR = 500


class Failed(AssertionError):
    """A failed assertion inside a `try`, on its way to whoever waits for it."""

    check: dict[str, Any]


class _Frame:
    """One assertion under way; as a context, it takes the exceptions of the assertion for its check."""

    __slots__ = ("calls", "index", "left", "raised", "raising", "recorder", "start")

    def __init__(self, recorder: Recorder, index: int, raising: bool) -> None:
        remote = recorder.remote
        self.recorder, self.index, self.raising, self.raised = recorder, index, raising, remote.raised
        self.calls = self.left = remote.calls
        self.start = time.monotonic()

    def __enter__(self) -> None:
        pass

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> bool:
        return error is not None and self.recorder.error(self.index, error)


def _raised_in(error: BaseException) -> str:
    """The file name of the innermost frame that an exception came from."""
    name, trace = "", error.__traceback__
    while trace is not None:
        name, trace = trace.tb_frame.f_code.co_filename, trace.tb_next
    return name


def _contains(a: Any, b: Any) -> bool:
    return a in b


def _lacks(a: Any, b: Any) -> bool:
    return a not in b


# how each comparison is done, and how the expectation reads from the left and from the right
_COMPARISONS: dict[str, tuple[Callable[[Any, Any], Any], str, str]] = {
    "Eq": (operator.eq, "", ""),
    "NotEq": (operator.ne, "!= ", "!= "),
    "Lt": (operator.lt, "< ", "> "),
    "LtE": (operator.le, "<= ", ">= "),
    "Gt": (operator.gt, "> ", "< "),
    "GtE": (operator.ge, ">= ", "<= "),
    "Is": (operator.is_, "is ", "is "),
    "IsNot": (operator.is_not, "is not ", "is not "),
    "In": (_contains, "in ", "contains "),
    "NotIn": (_lacks, "not in ", "does not contain "),
}


class Recorder:
    """Keeps the checks and sends them to the host as they come."""

    Failed = Failed
    Escaped = (Failed, Gone)

    def __init__(self, remote: Remote, sites: Sequence[Site], source: str, seeds: set[str]) -> None:
        self.remote, self.sites, self.source, self.seeds = remote, sites, source, seeds
        self.reached: set[int] = set()
        self.check_ran = False
        self._frames: list[_Frame] = []
        self._pending: list[dict[str, Any]] = []
        self._flushed = time.monotonic()
        self._count = 0
        self._beyond: dict[str, int] = {"pass": 0, "fail": 0, "no_evidence": 0}
        self._first_beyond: dict[str, Any] | None = None
        self._nodes: list[ast.stmt] = []
        self._tainted: set[str] | None = None
        self._held: dict[str, Any] = {}

    # ---- called by the rewritten tests

    def check_entered(self) -> None:
        self.check_ran = True

    def begin(self, index: int, raising: bool = False) -> _Frame:
        self.reached.add(index)
        self.remote.spent = 0.0
        frame = _Frame(self, index, raising)
        self._frames.append(frame)
        return frame

    def left(self, value: Any) -> Any:
        self._frames[-1].left = self.remote.calls
        return value

    def compare(self, name: str, a: Any, b: Any) -> bool:
        frame = self._frames[-1]
        compare, sign, mirrored = _COMPARISONS[name]
        ok = bool(compare(a, b))
        self._end(frame.index)
        if frame.left == frame.calls and self.remote.calls > frame.left:  # the program was called on the right alone
            self._judged(frame, ok, mirrored + show(a), show(b))
        else:
            self._judged(frame, ok, sign + show(b), show(a))
        return ok

    def truth(self, wanted: bool, value: Any) -> bool:
        frame = self._frames[-1]
        ok = bool(value) is wanted
        self._end(frame.index)
        self._judged(frame, ok, "a true value" if wanted else "a false value", show(value))
        return ok

    def error(self, index: int, error: BaseException) -> bool:
        """An exception while an assertion was evaluated; whether it ends here."""
        frame = self._end(index)
        if isinstance(error, Stop):
            self.reached.discard(index)
            return False
        self._add(self._check(frame, self._blame(error), error=self._error_text(error)))
        return True

    def failed(self, message: object = None) -> AssertionError:
        failure = Failed(*(() if message is None else (message,)))
        failure.check = self._held
        return failure

    def caught(self, error: BaseException) -> None:
        """A failed assertion or a lost candidate that no handler of the tests took."""
        if isinstance(error, Failed):
            self._add(error.check)
        else:
            self.stray(error, "")

    def expected(self, index: int) -> None:
        """A try statement that says its call must raise has ended in peace."""
        frame = self._end(index)
        if self.remote.raised > frame.raised and self.remote.last_raised is not None:
            observed = self._error_text(self.remote.last_raised)
            self._add(self._check(frame, "pass", "an exception", observed))

    # ---- called by the checker

    def stray(self, error: BaseException, call: str) -> str:
        """An exception outside of assertions ends the tests; returns the status of the check made of it."""
        status = self._blame(error)
        check = self._named(status, call, error=self._error_text(error))
        if status == "no_evidence":  # the tests broke off through a fault of their own
            check["name"] = "tests finish"
        self._add(check)
        return status

    def fail(self, name: str, error: str, status: str = "fail") -> None:
        self._add({"name": name, "status": status, "error": cut(error, _ERROR)})

    def not_reached(self, after_line: int) -> None:
        """Marks the assertions after a line that were never run, when the tests had to stop there."""
        for index, site in enumerate(self.sites):
            if not (index in self.reached or site.refusal) and site.line > after_line:
                self._add(self._named("fail", site.text, error="not run: the tests stopped before"))

    def close(self) -> dict[str, Any]:
        """The last message to the host, with what was not sent before."""
        if self.remote.unseen is not None:
            self._add(self._named("fail", "", error=self.remote.unseen))
        total = sum(self._beyond.values())
        if total and self._first_beyond is not None:
            first = dict(self._first_beyond)
            status = next(s for s in ("fail", "no_evidence", "pass") if self._beyond[s])
            first.update(name=f"tests {MOST_CHECKS + 1} to {MOST_CHECKS + total}", status=status)
            self._pending.append(first)
        return {"checks": self._pending, "calls": self.remote.calls}

    # ---- inside

    def _end(self, index: int) -> _Frame:
        while True:
            frame = self._frames.pop()
            if frame.index == index:
                return frame

    def _judged(self, frame: _Frame, ok: bool, expected: str, observed: str) -> None:
        status, error, constant = ("pass" if ok else "fail"), None, False
        if ok and not self._depends(frame):
            status, error, constant = "no_evidence", "this assertion does not depend on the program", True
        elif ok and self.remote.opaque is not None:
            status = "no_evidence"
            error = f"a value of type {self.remote.opaque} was returned, which cannot cross the wall as plain data"
        elif not ok and not self.remote.calls:
            status, error = "no_evidence", "this assertion fails whatever the program does"
        check = self._check(frame, status, expected, observed, error)
        if constant:
            check["constant"] = True
        if ok or not frame.raising:
            self._add(check)
        else:
            self._held = check

    def _depends(self, frame: _Frame) -> bool:
        if self.remote.calls > frame.calls:
            return True
        if not self.remote.calls or self.sites[frame.index].constant:
            return False
        if self._tainted is None:
            self._nodes = statements_of_sites(self.source)
            self._tainted = tainted_names(self.source, self.seeds)
        return mentions(self._nodes[frame.index], self._tainted)

    def _blame(self, error: BaseException) -> str:
        """Whose fault an exception is: `fail` is the candidate's, `no_evidence` the tests' own."""
        if isinstance(error, Gone) or error is self.remote.last_raised:
            return "fail"
        if isinstance(error, wire.CannotCross):
            return "no_evidence"
        # only where the tests' own text lacks the name: a text of the candidate that they evaluate is its own affair
        if isinstance(error, (NameError, ImportError)) and _raised_in(error) in TEST_FILES:
            return "no_evidence"
        return "fail" if self.remote.calls or self.remote.opaque else "no_evidence"

    def _error_text(self, error: BaseException) -> str:
        if isinstance(error, Gone):
            self.remote.unseen = None
            return str(error)
        if isinstance(error, wire.CannotCross):
            return f"cannot cross the wall: {error}"
        text = cut(str(error), _ERROR - 150)
        where = getattr(error, "where", "") if error is self.remote.last_raised else ""
        name = type(error).__name__
        return (f"{name}: {text}" if text else name) + where

    def _named(self, status: str, call: str, **more: Any) -> dict[str, Any]:
        return {"name": f"test {self._count + 1}", "status": status, "call": call or None, **more}

    def _check(
        self,
        frame: _Frame,
        status: str,
        expected: str | None = None,
        observed: str | None = None,
        error: str | None = None,
    ) -> dict[str, Any]:
        return {
            "name": f"test {self._count + 1}",
            "status": status,
            "call": self.sites[frame.index].text or None,
            "expected": expected,
            "observed": observed,
            "error": error and cut(error, _ERROR),
            "seconds": round(time.monotonic() - frame.start, 6),
        }

    def _add(self, check: dict[str, Any]) -> None:
        numbered = check["name"].startswith("test ")
        if numbered:
            self._count += 1
            check["name"] = f"test {self._count}"
        if numbered and self._count > MOST_CHECKS:
            status = check["status"]
            worse = {"pass": 0, "no_evidence": 1, "fail": 2}
            if self._first_beyond is None or worse[status] > worse[self._first_beyond["status"]]:
                self._first_beyond = check
            self._beyond[status] += 1
            return
        self._pending.append(check)
        if time.monotonic() - self._flushed > _FLUSH_SECONDS:
            self._flush()

    def _flush(self) -> None:
        self.remote.host.send({"checks": self._pending, "calls": self.remote.calls})
        self._pending = []
        self._flushed = time.monotonic()
