"""The checker's process: it alone holds the tests, and judges what the candidate sends over the wall."""

from __future__ import annotations

import ast
import gc
import os
import signal
import socket
import sys
import time
from dataclasses import dataclass
from functools import lru_cache
from types import CodeType, FrameType, TracebackType
from typing import Any

from . import asserts
from .channel import Channel
from .line import Closed
from .plain import is_plain
from .record import TEST_FILES, Recorder
from .remote import MOST_GONE, Gone, Remote, Stop, as_function
from .shown import CALL, cut

_FILE, _PRELUDE = TEST_FILES
_OURS = frozenset({*asserts.OUR_NAMES, asserts.CAUGHT})
_MOST_JOBS = 200
_KEPT_SOURCES = 64


def main(fds: list[int]) -> None:
    """Entered by the fork of a zygote, confined already, with its line to the host.

    Serves one job after the other as long as the tests leave nothing behind (see `plain`), then ends.
    """
    status = 1
    try:
        host = Channel(socket.socket(fileno=fds[0]))
        clean, jobs = True, 0
        last: Remote | None = None
        while clean:
            job, candidate = host.receive_with_descriptor()
            if last is not None:  # its candidate is gone by now; hung up on before, it would wake to end by itself
                last.close()
            if "random" in job["source"] or "random" in job["prelude"]:
                sys.modules["random"].seed()
            jobs += 1
            last = Remote(host, socket.socket(fileno=candidate), job)
            report, clean = check_program(last, job)
            clean = clean and jobs < _MOST_JOBS
            host.send({**report, "done": True, "clean": clean})
        status = 0
    except Closed:
        pass  # the host hung up: nobody waits for the rest
    finally:
        os._exit(status)


def check_program(remote: Remote, job: dict[str, Any]) -> tuple[dict[str, Any], bool]:
    """Loads the program in the candidate and runs the tests here, reporting to the host as it goes.

    Returns the last report, and whether this process is as it was before.
    """
    remote.send_program()  # the program loads while the tests are made ready
    prepared = _prepare(job["source"], job["prelude"])
    recorder = Recorder(remote, prepared.sites, job["source"], prepared.seeds | {"candidate", remote.entry})
    ended = False
    try:
        broken = remote.loaded()
    except Gone as lost:
        broken, remote.unseen = str(lost), None
    if broken:
        recorder.fail("program loads", broken)
    elif prepared.problem:
        recorder.fail("tests parse", prepared.problem, "no_evidence")
    else:
        ended = not _run(prepared, recorder, remote, job)
    spent = time.process_time() > job["limits"]["total_seconds"] / 2  # RLIMIT_CPU counts all jobs of this process
    return recorder.close(), prepared.plain and not ended and not spent


@dataclass(frozen=True)
class _Prepared:
    """Tests and prelude, compiled; what is wrong with them, if anything."""

    tests: CodeType | None
    prelude: CodeType | None
    sites: list[asserts.Site]
    seeds: set[str]
    plain: bool
    problem: str | None = None


@lru_cache(maxsize=_KEPT_SOURCES)
def _prepare(source: str, prelude: str) -> _Prepared:
    gc.disable()  # syntax trees are large and without cycles
    try:
        tree, first = ast.parse(source), _compile_prelude(prelude)
        seeds = _parameters(tree)
        sites = asserts.rewrite(tree, source)
        tests = compile(tree, _FILE, "exec")
        plain = is_plain(first) and is_plain(tests, _OURS)
        return _Prepared(tests, first, sites, seeds, plain)
    except (SyntaxError, ValueError, RecursionError) as error:
        problem = f"the tests do not parse: {type(error).__name__}: {error}"
        return _Prepared(None, None, [], set(), True, problem)
    finally:
        gc.enable()


def _compile_prelude(source: str) -> CodeType:
    """A prompt that ends in the head of a function is given a body."""
    try:
        return compile(source, _PRELUDE, "exec")
    except SyntaxError:
        return compile(source.rstrip() + "\n    pass\n", _PRELUDE, "exec")


def _parameters(tree: ast.Module) -> set[str]:
    """The names under which a function `check` knows the candidate."""
    found: set[str] = set()
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and node.name == "check":
            found.update(argument.arg for argument in node.args.args)
    return found


def _run(prepared: _Prepared, recorder: Recorder, remote: Remote, job: dict[str, Any]) -> bool:
    """Runs the tests; True when they came to their end, or to an exception of their own."""
    assert prepared.tests is not None
    assert prepared.prelude is not None

    def out_of_time(_number: int, _frame: FrameType | None) -> None:
        raise Stop

    signal.signal(signal.SIGALRM, out_of_time)
    signal.setitimer(signal.ITIMER_REAL, job["limits"]["total_seconds"])
    function = as_function(remote)
    space: dict[str, Any] = {"__name__": "tests"}
    for name, attribute in asserts.OUR_NAMES.items():
        space[name] = getattr(recorder, attribute)
    try:
        exec(prepared.prelude, space)
        space["candidate"] = space[remote.entry] = function
        exec(prepared.tests, space)
        check = space.get("check")
        if callable(check) and not recorder.check_ran and hasattr(check, "__code__"):
            check(*[function] * check.__code__.co_argcount)
    except Stop:
        signal.setitimer(signal.ITIMER_REAL, 0)
        if remote.gone >= MOST_GONE:
            recorder.fail("tests finish", "stopped: the candidate was lost too often")
        else:
            status = "fail" if remote.calls else "no_evidence"
            recorder.fail("tests finish", f"not within {job['limits']['total_seconds']:g} s", status)
        recorder.not_reached(0)
        return False
    except BaseException as error:
        signal.setitimer(signal.ITIMER_REAL, 0)
        line = _last_line(error.__traceback__)
        rows = job["source"].splitlines()
        call = rows[line - 1].strip() if 0 < line <= len(rows) else ""
        if recorder.stray(error, cut(call, CALL)) == "fail":
            recorder.not_reached(line)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    return True


def _last_line(trace: TracebackType | None) -> int:
    """The last line of the tests that an exception passed through."""
    line = 0
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == _FILE:
            line = trace.tb_lineno
        trace = trace.tb_next
    return line
