"""What a candidate can not see, reach or exceed. The candidate tries and reports; the report crosses as plain data."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from hardwon.sandbox import FunctionTests, Limits, Sandbox, open_sandbox
from hardwon.trial import Check

from .conftest import Run, passes


def reports(sandbox: Sandbox, body: str, tests: str, **limits: float) -> tuple[Check, ...]:
    """Checks what the function `f`, of this body, reports."""
    program = "import ctypes, os, resource, socket, subprocess, sys\ndef f():\n" + textwrap.indent(body, "    ")
    return asyncio.run(sandbox.run_function(program, FunctionTests("f", tests), Limits(**limits)))  # type: ignore[arg-type]


def test_the_hosts_environment_is_not_visible(sandbox: Sandbox) -> None:
    os.environ["HARDWON_SECRET_OF_THE_HOST"] = "seen"
    try:
        assert passes(reports(sandbox, "return dict(os.environ)", "assert f() == {}"))
    finally:
        del os.environ["HARDWON_SECRET_OF_THE_HOST"]


def test_files_of_the_host_can_not_be_read(sandbox: Sandbox, tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("6765")
    home = [str(path) for path in Path.home().iterdir() if path.is_file()][:3]
    targets = [str(secret), str(Path(__file__).resolve()), "/etc/passwd", "/etc/shadow", "/proc/1/environ", *home]
    body = f"""
        seen = []
        for path in {targets!r}:
            try:
                with open(path, "rb") as file: file.read(1)
                seen.append(path)
            except OSError: pass
        return seen
    """
    assert passes(reports(sandbox, textwrap.dedent(body), "assert f() == []"))


def test_files_of_the_host_can_not_be_written(sandbox: Sandbox, tmp_path: Path) -> None:
    targets = [
        str(tmp_path),
        sys.base_prefix,
        str(Path(__file__).parent),
        "/",
        "/usr",
        "/usr/lib",
        "/var/tmp",
        "/dev/shm",
    ]
    body = f"""
        wrote = []
        for folder in {targets!r}:
            try:
                with open(folder + "/hardwon-was-here", "w"): pass
                wrote.append(folder)
            except OSError: pass
        return wrote
    """
    assert passes(reports(sandbox, textwrap.dedent(body), "assert f() == []"))
    assert not [t for t in targets if Path(t, "hardwon-was-here").exists()]


def test_there_is_no_network(sandbox: Sandbox) -> None:
    body = """
        opened = []
        for family in (socket.AF_INET, socket.AF_INET6, socket.AF_UNIX, socket.AF_NETLINK, socket.AF_PACKET):
            try:
                socket.socket(family, socket.SOCK_DGRAM).close()
                opened.append(int(family))
            except OSError: pass
        return opened
    """
    assert passes(reports(sandbox, textwrap.dedent(body), "assert f() == []"))


def test_a_candidate_has_no_privileges_and_gains_none(sandbox: Sandbox) -> None:
    body = """
        libc = ctypes.CDLL(None, use_errno=True)
        data = (ctypes.c_uint32 * 6)()
        libc.capget((ctypes.c_uint32 * 2)(0x20080522, 0), data)
        calls = [libc.unshare(0x10000000), libc.mount(b"none", b"/tmp", b"tmpfs", 0, None), libc.ptrace(0, 0, 0, 0)]
        return sum(data), libc.prctl(39, 0, 0, 0, 0), calls
    """
    assert passes(reports(sandbox, textwrap.dedent(body), "assert f() == (0, 1, [-1, -1, -1])"))


def test_a_candidate_sees_no_process_but_its_own(walled: Sandbox) -> None:
    body = "return os.getpid(), os.getppid(), os.path.exists('/proc/self')"
    assert passes(reports(walled, body, "assert f() == (1, 0, False)"))


def test_nothing_is_left_in_tmp_for_the_next_candidate(sandbox: Sandbox) -> None:
    body = "with open('note', 'w') as note: note.write('x')\nos.mkdir('dir')\nreturn sorted(os.listdir())"
    for _ in range(3):
        assert passes(reports(sandbox, body, "assert f() == ['dir', 'note']"))


def test_a_candidate_holds_nothing_of_the_tests_or_of_other_candidates(check: Run) -> None:
    """Searches the whole of its own memory for a word that only the tests, or only an earlier program, have held."""
    word = "Quetzalcoatlus"
    search = """
import ctypes, gc
def f(part):
    word = (part + "atlus").encode()
    found = 0
    for thing in gc.get_objects():
        for inner in gc.get_referents(thing):
            if isinstance(inner, (str, bytes)) and len(inner) < 100_000:
                text = inner.encode("utf-8", "replace") if isinstance(inner, str) else inner
                found += word in text
    return found - 1 if found else 0
"""
    assert passes(check(f"def f(part): return {word!r}", f"assert f('') == {word!r}"))
    tests = f"secret = {word!r}\nassert f('Quetzalco') == 0"
    for _ in range(4):
        assert passes(check(search, tests))


@pytest.mark.parametrize(
    ("body", "limits"),
    [
        ("return len(bytearray(100 << 20))", {"memory_mib": 64}),
        ("with open('big', 'wb') as file: file.write(b'x' * (3 << 20))", {"file_mib": 1}),
        ("while True: pass", {"test_seconds": 0.3}),
    ],
)
def test_a_limit_on_a_resource_fails_the_check_that_exceeds_it(
    sandbox: Sandbox, body: str, limits: dict[str, float]
) -> None:
    checks = reports(sandbox, body + "\nreturn 1", "assert f() == 1", **limits)
    assert [check.status for check in checks] == ["fail"]
    assert checks[0].error


def test_the_same_work_within_the_limits_passes(sandbox: Sandbox) -> None:
    body = "with open('big', 'wb') as file: file.write(b'x' * (3 << 20))\nreturn len(bytearray(100 << 20))"
    assert passes(reports(sandbox, body, "assert f() == 100 << 20"))


def test_the_number_of_processes_is_limited(sandbox: Sandbox) -> None:
    if "process count is not capped" in " ".join(sandbox.isolation.missing):
        pytest.skip("process count can not be capped here")
    body = """
        made = 0
        try:
            for _ in range(40):
                if os.fork() == 0:
                    import signal
                    signal.pause()
                made += 1
        except OSError: pass
        return made
    """
    assert passes(reports(sandbox, textwrap.dedent(body), "assert 0 < f() < 12", processes=8))


def test_the_time_to_load_is_limited(sandbox: Sandbox) -> None:
    tests = FunctionTests("f", "assert f() == 1")
    checks = asyncio.run(sandbox.run_function("while True: pass", tests, Limits(load_seconds=0.3)))
    assert [(check.name, check.status) for check in checks] == [("program loads", "fail")]
    assert "0.3 s" in (checks[0].error or "")


def test_many_tests_that_time_out_cost_two_time_limits(sandbox: Sandbox) -> None:
    tests = FunctionTests("f", "\n".join("assert f() == 1" for _ in range(20)))
    checks = asyncio.run(sandbox.run_function("def f():\n    while True: pass", tests, Limits(test_seconds=0.3)))
    assert sum("timed out" in (check.error or "") for check in checks) == 2
    assert all(check.status == "fail" for check in checks)
    assert sum("not run" in (check.error or "") for check in checks) == 18


def test_the_total_time_is_limited(sandbox: Sandbox) -> None:
    tests = FunctionTests("f", "while True:\n    assert f() == 1")
    checks = asyncio.run(sandbox.run_function("def f(): return 1", tests, Limits(total_seconds=1.5)))
    assert not passes(checks)
    assert any(check.name == "tests finish" and check.status == "fail" for check in checks)


def test_isolation_says_what_stands_and_how_to_mend_what_lacks(sandbox: Sandbox) -> None:
    isolation = sandbox.isolation
    text = " ".join(isolation.walls)
    assert isolation.backend in ("bubblewrap", "process")
    assert "separate checker process" in text
    assert "environment: empty" in text
    if isolation.backend == "bubblewrap":
        assert "PID namespace" in text
        assert "network: none" in text
        assert "host files hidden" in text
    else:
        assert "apt-get install bubblewrap" in " ".join(isolation.missing)


def test_nothing_outlives_a_host_that_is_killed(tmp_path: Path) -> None:
    """The host starts an endless candidate and is killed with SIGKILL; its sandbox must be gone soon after."""
    script = tmp_path / "host.py"
    script.write_text(
        "import asyncio, os, signal, threading\n"
        "from hardwon.sandbox import FunctionTests, Limits, open_sandbox\n"
        "async def main():\n"
        "    sandbox = open_sandbox(1)\n"
        "    await sandbox.run_function('def f(): return 1', FunctionTests('f', 'assert f() == 1'))\n"
        "    workers = sandbox._all\n"
        "    print(*[z.process.pid for w in workers for z in (w.candidates, w.checkers)], flush=True)\n"
        "    program = 'def f():\\n    while True: pass'\n"
        "    job = sandbox.run_function(program, FunctionTests('f', 'assert f()'), Limits(60, 60, 60))\n"
        "    endless = asyncio.create_task(job)\n"
        "    await asyncio.wait([endless], timeout=0.3)\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
        "asyncio.run(main())\n"
    )
    source = str(Path(open_sandbox.__code__.co_filename).parents[2])
    done = subprocess.run(
        [sys.executable, str(script)],
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, "PYTHONPATH": source},
    )
    assert done.returncode == -9, done.stderr
    servers = [int(word) for word in done.stdout.split()]
    assert len(servers) == 2
    for pid in servers:
        try:
            watched = os.pidfd_open(pid)
        except ProcessLookupError:
            continue
        _wait_for_end(watched)


def _wait_for_end(pidfd: int) -> None:
    import select

    poll = select.poll()
    poll.register(pidfd, select.POLLIN)
    ended = poll.poll(10_000)
    os.close(pidfd)
    assert ended, "a fork server outlived its host by ten seconds"
