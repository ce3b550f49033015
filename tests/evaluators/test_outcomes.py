"""What test runners say of single tests."""

from __future__ import annotations

import pytest

from hardwon.evaluators.outcomes import counted, outcomes, runs_tests

PYTEST = """F.xs                                                                     [100%]
=================================== FAILURES ===================================
E       assert 2 == 3
=========================== short test summary info ============================
XFAIL test_total.py::test_later - not yet
PASSED test_total.py::test_one[a - b]
ERROR test_broken.py - ImportError: no
FAILED test_total.py::test_sum - assert 2 == 3
1 failed, 1 passed, 1 skipped, 1 xfailed, 1 error in 0.02s
"""
UNITTEST = """test_a (tests.test_x.XTest.test_a) ... ok
test_b (tests.test_x.XTest.test_b)
What it is about. ... printed something
FAIL
test_c (tests.test_x.XTest) ... skipped 'no'
======================================================================
FAIL: test_b (tests.test_x.XTest.test_b)
----------------------------------------------------------------------
Ran 3 tests in 0.001s

FAILED (failures=1, skipped=1)
"""
JEST = """FAIL src/sum.test.js
  sum
    ✓ adds (2 ms)
    ✕ subtracts (1 ms)
    ○ skipped multiplies
PASS src/other.test.ts
  ✓ adds

Tests:       1 failed, 1 skipped, 2 passed, 4 total
"""
NODE = """TAP version 13
# Subtest: adds
ok 1 - adds
  ---
  duration_ms: 0.5
  ...
not ok 2 - subtracts
ok 3 - later # SKIP
1..3
# tests 3
# pass 1
# fail 1
"""
GO = """=== RUN   TestAdd
--- PASS: TestAdd (0.00s)
=== RUN   TestSub
    --- FAIL: TestSub/small (0.00s)
--- FAIL: TestSub (0.00s)
FAIL
FAIL\texample.org/sum\t0.002s
"""
CARGO = """running 3 tests
test tests::adds ... ok
test tests::later ... ignored
test tests::subtracts ... FAILED

test result: FAILED. 1 passed; 1 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s
"""


@pytest.mark.parametrize(
    ("output", "named", "count"),
    [
        (
            PYTEST,
            {
                "test_total.py::test_later": "pass",
                "test_total.py::test_one[a - b]": "pass",
                "test_broken.py": "fail",
                "test_total.py::test_sum": "fail",
            },
            (1, 2),
        ),
        (UNITTEST, {"tests.test_x.XTest.test_a": "pass", "tests.test_x.XTest.test_b": "fail"}, (1, 1)),
        (
            JEST,
            {
                "src/sum.test.js › adds": "pass",
                "src/sum.test.js › subtracts": "fail",
                "src/other.test.ts › adds": "pass",
            },
            (2, 1),
        ),
        (NODE, {"adds": "pass", "subtracts": "fail"}, (1, 1)),
        (GO, {"TestAdd": "pass", "TestSub/small": "fail", "TestSub": "fail"}, (1, 2)),
        (CARGO, {"tests::adds": "pass", "tests::subtracts": "fail"}, (1, 1)),
    ],
)
def test_each_runner_is_read(output: str, named: dict[str, str], count: tuple[int, int]) -> None:
    seen = {outcome.name: outcome.status for outcome in outcomes(output)}
    assert {name: status for name, status in seen.items() if status != "no_evidence"} == named
    tally = counted(output)
    assert (tally.passed, tally.failed, tally.has_summary) == (*count, True)


def test_what_a_failed_pytest_test_said_is_kept() -> None:
    assert {o.name: o.error for o in outcomes(PYTEST)}["test_total.py::test_sum"] == "assert 2 == 3"


def test_what_failed_once_has_failed() -> None:
    assert [o.status for o in outcomes("ok 1 - a\nnot ok 2 - a\nok 3 - a\n")] == ["fail"]


@pytest.mark.parametrize(
    "output", ["# pass 0\n# fail 0\n", "Tests:       0 total\n", "test result: ok. 0 passed; 0 failed\n"]
)
def test_a_run_without_tests_is_known_as_one(output: str) -> None:
    assert counted(output).ran_none(0)


@pytest.mark.parametrize(
    ("command", "known"),
    [
        ("pytest -q", True),
        ("python -m unittest -v", True),
        ("npx jest", True),
        ("node --test", True),
        ("go test ./...", True),
        ("cargo test", True),
        ("make check", False),
        ("go vet", False),
    ],
)
def test_runners_are_known_by_their_commands(command: str, known: bool) -> None:
    assert runs_tests(command) is known
