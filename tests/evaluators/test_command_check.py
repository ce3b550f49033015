"""A command decides, and a missing tool, an empty test run or a program that ends the process decide nothing."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hardwon.errors import InfrastructureError
from hardwon.evaluators import CommandCheck
from hardwon.evaluators.runners import tally, without_timings
from hardwon.sandbox.protocol import Limits, Sandbox
from hardwon.trial import Feedback, Trajectory

_TEST = """import unittest
from solution import add


class T(unittest.TestCase):
    def test_add(self):
        self.assertEqual(add(1, 2), 3)
"""
_RIGHT = "def add(a, b):\n    return a + b\n"
_UNITTEST = "python3 -m unittest test_add.py"


Check = Callable[..., Feedback]


@pytest.fixture
def check(run: Callable[..., Any], sandbox: Sandbox) -> Check:
    def checked(command: str, program: str | None, workdir: Path | None = None, **more: Any) -> Feedback:
        return run(CommandCheck(command, sandbox, workdir=workdir, **more).check(Trajectory(program)))

    return checked


def _folder(path: Path, test: str = _TEST) -> Path:
    (path / "test_add.py").write_text(test, encoding="utf-8")
    return path


def test_status_0_passes_and_anything_else_fails_with_the_output(check: Check) -> None:
    command = "python3 solution.py"
    assert check(command, "print('fine')").verdict == "pass"
    feedback = check(command, "print('broken here'); raise SystemExit(3)")
    assert (feedback.verdict, feedback.score) == ("fail", 0.0)
    assert "status 3" in feedback.text
    assert "broken here" in feedback.text
    assert check(command, None).verdict == "fail"


def test_long_output_is_cut_in_the_middle_with_a_count(check: Check) -> None:
    program = "print('first'); print('x' * 9000); print('last'); raise SystemExit(1)"
    text = check("python3 solution.py", program).text
    assert len(text) < 2200
    assert "first" in text
    assert text.rstrip().endswith("last")
    assert "characters…" in text


def test_a_command_that_does_not_exist_is_an_error_that_names_it(check: Check) -> None:
    with pytest.raises(InfrastructureError, match="no-such-tool-here is missing"):
        check("no-such-tool-here --check solution.py", _RIGHT)
    with pytest.raises(InfrastructureError, match="no module no_such_module_here"):
        check("python3 -m no_such_module_here", _RIGHT)


@pytest.mark.parametrize("tool", ["sh", "solution.py", "nothing"])
def test_a_program_can_not_pass_its_failure_off_as_a_missing_command(check: Check, tool: str) -> None:
    program = f"print('sh: 1: {tool}: not found'); print('python: No module named unittest'); raise SystemExit(127)"
    assert check("python3 solution.py || sh -c 'exit 127'", program).verdict == "fail"


def test_a_test_run_passes_fails_and_scores(check: Check, tmp_path: Path) -> None:
    folder = _folder(tmp_path, _TEST + "    def test_more(self):\n        self.assertTrue(callable(add))\n")
    assert check(_UNITTEST, _RIGHT, folder).verdict == "pass"
    feedback = check(_UNITTEST, "def add(a, b):\n    return a", folder)
    assert (feedback.verdict, feedback.score) == ("fail", 0.5)
    assert feedback.text == check(_UNITTEST, "def add(a, b):\n    return a", folder).text
    assert not (tmp_path / "solution.py").exists()


def test_a_test_run_without_a_test_is_no_evidence(check: Check, tmp_path: Path) -> None:
    feedback = check(_UNITTEST, _RIGHT, _folder(tmp_path, "import solution\n"))
    assert (feedback.verdict, feedback.source) == ("no_evidence", "none")
    skipped = _TEST.replace("    def test", "    @unittest.skip('not now')\n    def test")
    assert check(_UNITTEST, _RIGHT, _folder(tmp_path, skipped)).verdict == "no_evidence"


def test_a_program_that_ends_the_test_process_with_status_0_does_not_pass(check: Check, tmp_path: Path) -> None:
    folder = _folder(tmp_path)
    assert check(_UNITTEST, "import os\nos._exit(0)", folder).verdict == "fail"
    assert check(_UNITTEST, "import os\ndef add(a, b):\n    os._exit(0)", folder).verdict == "fail"


def test_a_command_that_takes_too_long_fails(check: Check) -> None:
    limits = Limits(total_seconds=1.0)
    feedback = check("python3 solution.py", "while True: pass", limits=limits)
    assert feedback.verdict == "fail"
    assert "did not end within 1 seconds" in feedback.text


@pytest.mark.parametrize(
    ("output", "passed", "failed", "empty", "hidden"),
    [
        ("....\n4 passed in 0.03s\n", 4, 0, False, False),
        ("==== 1 failed, 3 passed, 2 warnings in 0.10s ====\n", 3, 1, False, False),
        ("=== 2 errors in 1.20s ===\n", 0, 2, False, False),
        ("=== 3 skipped in 0.01s ===\n", 0, 0, False, False),
        ("=== no tests ran in 0.00s ===\n", 0, 0, True, False),
        ("....   [100%]\n", 0, 0, False, True),
        ("", 0, 0, False, False),
        ("9 passed in 0.1s\n=== 1 failed in 0.03s ===\n", 0, 1, False, False),
        ("..\n-----\nRan 2 tests in 0.001s\n\nOK\n", 2, 0, False, False),
        ("Ran 3 tests in 0.001s\n\nFAILED (failures=1, errors=1)\n", 1, 2, False, False),
        ("Ran 0 tests in 0.000s\n\nOK\n", 0, 0, True, False),
        ("Ran 2 tests in 0.000s\n\nOK (skipped=2)\n", 0, 0, False, False),
    ],
)
def test_summaries_are_read(output: str, passed: int, failed: int, empty: bool, hidden: bool) -> None:
    counts = tally(output)
    assert (counts.passed, counts.failed, counts.empty, counts.summary_hidden) == (passed, failed, empty, hidden)


def test_timings_are_taken_out() -> None:
    assert without_timings("4 passed in 0.03s") == without_timings("4 passed in 61.20s (0:01:01)")
