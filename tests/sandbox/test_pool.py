"""The pool: many calls at once, several event loops, workers that die, calls that are given up."""

from __future__ import annotations

import asyncio
import os
import select
import signal
import subprocess
import sys
import time

import pytest

from hardwon.errors import SandboxError, UsageError
from hardwon.sandbox import ForkServerSandbox, FunctionTests, Limits, Sandbox, StdioCase, open_sandbox
from hardwon.sandbox.choose import bubblewrap_trouble
from hardwon.sandbox.worker import Worker

from .conftest import passes

TESTS = FunctionTests("f", "assert f(2) == 4\nassert f(3) == 9")
GOOD, BAD = "def f(x): return x * x", "def f(x): return x + x"


def test_many_calls_in_flight_each_get_their_own_verdict(sandbox: Sandbox) -> None:
    async def many() -> list[bool]:
        programs = [GOOD if i % 3 else BAD for i in range(30)]
        return [passes(c) for c in await asyncio.gather(*(sandbox.run_function(p, TESTS) for p in programs))]

    assert asyncio.run(many()) == [bool(i % 3) for i in range(30)]


def test_one_sandbox_serves_one_event_loop_after_another(sandbox: Sandbox) -> None:
    for _ in range(3):
        assert passes(asyncio.run(sandbox.run_function(GOOD, TESTS)))


def test_the_event_loop_is_not_blocked(sandbox: Sandbox) -> None:
    async def watch() -> int:
        job = asyncio.create_task(
            sandbox.run_function("def f(x):\n    while True: pass", TESTS, Limits(test_seconds=0.5))
        )
        turns = 0
        while not job.done():
            turns += 1
            await asyncio.wait([job], timeout=0.01)
        return turns

    assert asyncio.run(watch()) > 10


def test_a_worker_that_is_killed_is_replaced_and_its_job_is_done() -> None:
    sandbox = ForkServerSandbox(1, bubblewrap=False)

    async def scenario() -> None:
        assert passes(await sandbox.run_function(GOOD, TESTS))
        (worker,) = sandbox._all
        worker.candidates.process.kill()
        assert passes(await sandbox.run_function(GOOD, TESTS))
        (worker,) = sandbox._all
        worker.checkers.process.kill()
        assert passes(await sandbox.run_function(GOOD, TESTS))
        assert not passes(await sandbox.run_function(BAD, TESTS))
        await sandbox.close()

    asyncio.run(scenario())


def test_a_call_that_is_given_up_frees_its_worker_at_once() -> None:
    sandbox = ForkServerSandbox(1, bubblewrap=False)

    async def scenario() -> float:
        endless = "def f(x):\n    while True: pass"
        assert passes(await sandbox.run_function(GOOD, TESTS))
        start = time.monotonic()
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.3):
                await sandbox.run_function(endless, TESTS, Limits(60, 60, 120))
        assert passes(await sandbox.run_function(GOOD, TESTS))
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.3):
                await sandbox.run_stdio("while True: pass", [StdioCase("", "1")], Limits(60, 60, 120))
        assert passes(await sandbox.run_function(GOOD, TESTS))
        taken = time.monotonic() - start
        await sandbox.close()
        return taken

    assert asyncio.run(scenario()) < 20


def test_close_ends_every_process_and_a_closed_sandbox_says_so() -> None:
    sandbox = open_sandbox(2)
    assert isinstance(sandbox, ForkServerSandbox)

    async def scenario() -> list[int]:
        await asyncio.gather(*(sandbox.run_function(GOOD, TESTS) for _ in range(4)))
        started = [z.process.pid for w in sandbox._all for z in (w.candidates, w.checkers)]
        await sandbox.close()
        with pytest.raises(SandboxError, match="closed"):
            await sandbox.run_function(GOOD, TESTS)
        return started

    pids = asyncio.run(scenario())
    assert pids
    for pid in pids:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)


def test_a_sandbox_that_was_never_used_starts_nothing() -> None:
    sandbox = ForkServerSandbox(2, bubblewrap=False)
    assert not sandbox._all
    asyncio.run(sandbox.close())


def test_checkers_are_used_again_only_after_tests_that_leave_nothing_behind() -> None:
    """A test that meddles with its process must not be able to change the verdict of the next."""
    sandbox = ForkServerSandbox(1, bubblewrap=False)
    sly = FunctionTests("f", "import math\nmath.floor = lambda x: 2\nassert math.floor(f(1)) == 2")
    honest = FunctionTests("f", "import math\nassert math.floor(f(1)) == 2")

    async def scenario() -> None:
        for bad in (sly, sly):
            assert passes(await sandbox.run_function("def f(x): return 1.5", bad))
            assert not passes(await sandbox.run_function("def f(x): return 7.5", honest))
            assert passes(await sandbox.run_function("def f(x): return 2.5", honest))
        await sandbox.close()

    asyncio.run(scenario())


def test_unknown_backends_and_no_workers_are_refused() -> None:
    with pytest.raises(UsageError, match="no sandbox backend"):
        open_sandbox(1, "magic")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="at least one"):
        ForkServerSandbox(0)


def test_bare_processes_are_used_where_bubblewrap_is_not_found() -> None:
    """In a process of its own, with a PATH on which there is no bwrap."""
    code = "from hardwon.sandbox import open_sandbox; import asyncio\ns = open_sandbox(1)\n"
    code += "print(s.isolation)\nasyncio.run(s.close())"
    source = str(__import__("hardwon.sandbox").__path__[0]) + "/.."
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        capture_output=True,
        text=True,
        timeout=60,
        env={"PATH": "/nowhere", "PYTHONPATH": source},
    )
    assert done.returncode == 0, done.stderr
    assert "backend='process'" in done.stdout
    assert "apt-get install bubblewrap" in done.stdout
    assert done.stderr == ""


def test_opening_the_package_loads_nothing_heavy() -> None:
    code = "import sys, hardwon.sandbox\n"
    code += "print([m for m in ('numpy', 'asyncio', 'ctypes', 'pydantic') if m in sys.modules])"
    source = str(__import__("hardwon.sandbox").__path__[0]) + "/.."
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env={"PYTHONPATH": source})
    assert done.stdout.strip() == "[]", done.stderr


def test_the_job_of_a_stopped_fork_server_is_done_by_a_new_one() -> None:
    """SIGSTOP: the server is there but does not answer."""
    sandbox = ForkServerSandbox(1, bubblewrap=False, answer_seconds=1.0)

    async def scenario() -> None:
        assert passes(await sandbox.run_function(GOOD, TESTS))
        (worker,) = sandbox._all
        os.kill(worker.candidates.process.pid, signal.SIGSTOP)
        assert passes(await sandbox.run_function(GOOD, TESTS, Limits(load_seconds=1.0)))
        await sandbox.close()

    asyncio.run(scenario())


def test_a_worker_that_is_closed_while_it_starts_leaves_nothing_behind() -> None:
    """Whatever is left of a server holds its standard error open, so the end of that stream is the end of all."""
    if trouble := bubblewrap_trouble():
        pytest.skip(f"bubblewrap does not work here: {trouble}")
    for _ in range(5):
        worker = Worker(bubblewrap=True)
        streams = [os.dup(z.process.stderr.fileno()) for z in (worker.candidates, worker.checkers) if z.process.stderr]
        worker.close()
        for stream in streams:
            while select.select([stream], [], [], 10.0)[0]:
                if not os.read(stream, 4096):
                    break
            else:
                pytest.fail("a process was left behind")
            os.close(stream)
