"""Programs that read standard input and print."""

from __future__ import annotations

import asyncio

import pytest

from hardwon.sandbox import Limits, Sandbox, StdioCase
from hardwon.trial import Check

from .conftest import passes

ADD = "a, b = map(int, input().split())\nprint(a + b)\n"


def run(sandbox: Sandbox, program: str, *cases: tuple[str, str], **limits: float) -> tuple[Check, ...]:
    pairs = [StdioCase(stdin, expected) for stdin, expected in cases]
    return asyncio.run(sandbox.run_stdio(program, pairs, Limits(**limits)))  # type: ignore[arg-type]


def test_each_case_is_a_check_with_what_was_given_wanted_and_printed(sandbox: Sandbox) -> None:
    checks = run(sandbox, ADD, ("1 2\n", "3\n"), ("2 2", "5"))
    assert [(c.name, c.status) for c in checks] == [("case 1", "pass"), ("case 2", "fail")]
    assert (checks[1].call, checks[1].expected, checks[1].observed) == ("2 2", "5", "4\n")


@pytest.mark.parametrize(
    ("program", "expected", "good"),
    [
        ("print('1  2\\n 3 ')", "1 2 3", True),
        ("print(0.1 + 0.2)", "0.3", True),
        ("print(1e6 + 0.01)", "1e6", True),
        ("print(1.01)", "1.0", False),
        ("print(3.0)", "3", False),
        ("print(10000000001)", "10000000000", False),
        ("print('nan')", "1.0", False),
        ("print('1 2')", "1", False),
        ("print('Yes')", "yes", False),
        ("print('é')", "é", True),
        ("pass", "1", False),
    ],
)
def test_output_is_compared_token_by_token_with_a_tolerance_for_floats(
    sandbox: Sandbox, program: str, expected: str, good: bool
) -> None:
    assert passes(run(sandbox, program, ("", expected))) is good


def test_a_main_block_runs_and_all_of_standard_input_can_be_read(sandbox: Sandbox) -> None:
    program = "import sys\ndef main():\n    print(sum(map(int, sys.stdin.read().split())))\n"
    program += "if __name__ == '__main__':\n    main()"
    many = "\n".join(map(str, range(20_000)))
    assert passes(run(sandbox, program, (many, str(sum(range(20_000))))))
    assert passes(run(sandbox, "import sys\nprint(sum(int(x) for x in sys.stdin))", ("1\n2\n", "3")))


def test_exit_status_and_exceptions_fail_and_show_the_end_of_standard_error(sandbox: Sandbox) -> None:
    (only,) = run(sandbox, "print(3)\nraise ValueError('too late')", ("", "3"))
    assert only.status == "fail"
    assert "ValueError: too late" in (only.error or "")
    assert "line 2" in (only.error or "")
    (only,) = run(sandbox, "print(3)\nimport sys\nsys.exit('oh no')", ("", "3"))
    assert only.status == "fail"
    assert "oh no" in (only.error or "")
    (only,) = run(sandbox, "print(3)\nimport os\nos._exit(4)", ("", "3"))
    assert "status 4" in (only.error or "")
    assert run(sandbox, "def (", ("", "3"))[0].status == "fail"


def test_a_program_may_end_by_exit_zero(sandbox: Sandbox) -> None:
    assert passes(run(sandbox, "print(3)\nexit()", ("", "3")))
    assert passes(run(sandbox, "import sys\nprint(3)\nsys.exit(0)", ("", "3")))


def test_output_of_threads_and_children_counts(sandbox: Sandbox) -> None:
    program = (
        "import threading, os\nt = threading.Thread(target=print, args=(1,))\nt.start()\nt.join()\nos.system('echo 2')"
    )
    checks = run(sandbox, program, ("", "1"))
    assert checks  # there is no shell inside: the child prints nothing, or its own line
    assert (checks[0].observed or "").startswith("1")


def test_a_time_limit_ends_the_case_and_two_end_the_rest(sandbox: Sandbox) -> None:
    program = "n = int(input())\nwhile n: pass\nprint(n)"
    checks = run(sandbox, program, ("0", "0"), ("1", "1"), ("0", "0"), ("2", "2"), ("0", "0"), test_seconds=0.3)
    assert [c.status for c in checks] == ["pass", "fail", "pass", "fail", "fail"]
    assert "timed out after 0.3 s" in (checks[1].error or "")
    assert "not run" in (checks[4].error or "")


def test_endless_output_is_cut_off(sandbox: Sandbox) -> None:
    (only,) = run(sandbox, "while True: print('x' * 1000)", ("", "x"), output_bytes=10_000)
    assert only.status == "fail"
    assert only.error == "printed more than 10000 bytes"
    assert len(only.observed or "") <= 200


def test_a_child_that_holds_the_output_open_does_not_hold_up_the_check(sandbox: Sandbox) -> None:
    program = "import os, signal\nprint(1, flush=True)\nif os.fork() == 0: signal.pause()"
    (only,) = run(sandbox, program, ("", "1"), test_seconds=1.0)
    assert only.seconds < 5


def test_no_expected_output_is_no_evidence(sandbox: Sandbox) -> None:
    assert run(sandbox, "pass", ("", ""))[0].status == "no_evidence"
    assert run(sandbox, "print(1)", ("", ""))[0].status == "fail"


def test_cases_do_not_see_each_other(sandbox: Sandbox) -> None:
    program = "import os\nprint(len(os.listdir('.')))\nopen('left', 'w').close()"
    assert passes(run(sandbox, program, ("", "0"), ("", "0")))
