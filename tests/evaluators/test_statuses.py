"""The names and outcomes of tests, as the runners really print them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from hardwon.evaluators.statuses import statuses

TESTS = '''
import unittest

class T(unittest.TestCase):
    def test_good(self):
        print("printed on the way")

    def test_bad(self):
        self.assertEqual(1, 2)

    def test_parts(self):
        for n in range(2):
            with self.subTest(n=n):
                self.assertEqual(n, 0)

    def test_told(self):
        """Has a docstring."""

    def test_broken(self):
        raise RuntimeError

    @unittest.skip("not now")
    def test_left_out(self):
        pass

    @unittest.expectedFailure
    def test_known(self):
        self.fail()
'''
WANTED = {
    "good": "pass",
    "bad": "fail",
    "parts": "fail",
    "told": "pass",
    "broken": "fail",
    "left_out": "no_evidence",
    "known": "pass",
}


def output(folder: Path, *command: str) -> str:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    return done.stderr + done.stdout


def test_unittest_is_read_under_all_names_of_a_test(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(TESTS)
    seen = statuses(output(tmp_path, sys.executable, "-m", "unittest", "-v"))
    assert {name: seen.get(f"test_it.T.test_{name}") for name in WANTED} == WANTED
    assert {name: seen.get(f"test_{name} (test_it.T)") for name in WANTED} == WANTED
    assert seen["Has a docstring."] == "pass"


PARAMETRISED = """
import pytest

@pytest.mark.parametrize("x", ["a", "b - c", "d e"])
def test_p(x):
    assert x != "d e"

@pytest.mark.xfail
def test_x():
    assert False

@pytest.fixture
def broken():
    raise OSError

def test_e(broken):
    pass
"""


def test_pytest_is_read_from_its_summary_and_from_its_verbose_lines(tmp_path: Path) -> None:
    (tmp_path / "test_p.py").write_text(PARAMETRISED)
    wanted = {
        "test_p.py::test_p[a]": "pass",
        "test_p.py::test_p[b - c]": "pass",
        "test_p.py::test_p[d e]": "fail",
        "test_p.py::test_p[d": "fail",  # as SWE-bench cuts names
        "test_p.py::test_x": "pass",
        "test_p.py::test_e": "fail",
    }
    for flag in ("-rA", "-v"):
        seen = statuses(output(tmp_path, sys.executable, "-m", "pytest", flag, "-p", "no:cacheprovider"))
        assert {name: seen.get(name) for name in wanted} == wanted, flag


def test_tap_is_read_nested_or_not() -> None:
    seen = statuses(
        "TAP version 13\n# Subtest: outer\n    ok 1 - inner - part\n    not ok 2 - bad\n"
        "not ok 1 - outer\nok 2 - later # SKIP no time\n1..2\n"
    )
    assert seen == {"inner - part": "pass", "bad": "fail", "outer": "fail", "later": "no_evidence"}


def test_a_test_that_failed_once_has_failed() -> None:
    assert statuses("ok 1 - x\nnot ok 2 - x\nok 3 - x\n") == {"x": "fail"}


def test_output_without_tests_names_none() -> None:
    assert statuses("Traceback (most recent call last):\nImportError: no\nok\n1 passed in 0.1s\n") == {}
