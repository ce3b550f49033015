"""The one rule of what passes, and the text that the model reads."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from hardwon.evaluators import judge
from hardwon.evaluators.verdict import cut, steady
from hardwon.trial import Check

_TEXTS = st.none() | st.text(max_size=400)
_CHECKS = st.lists(
    st.builds(
        Check,
        st.text(min_size=1, max_size=20),
        st.sampled_from(["pass", "fail", "no_evidence"]),
        _TEXTS,
        _TEXTS,
        _TEXTS,
        _TEXTS,
        st.floats(0, 10),
    ),
    max_size=12,
)


@given(_CHECKS)
@settings(deadline=None, max_examples=50)
def test_a_score_lies_between_0_and_1_and_is_1_exactly_for_a_pass(checks: list[Check]) -> None:
    feedback = judge(checks, "grounded")
    assert 0.0 <= feedback.score <= 1.0
    assert (feedback.score == 1.0) == (feedback.verdict == "pass")


@given(_CHECKS)
@settings(deadline=None, max_examples=50)
def test_a_pass_needs_a_check_that_passed(checks: list[Check]) -> None:
    without_passes = [check for check in checks if check.status != "pass"]
    assert judge(without_passes, "grounded").verdict != "pass"
    assert judge((), "grounded").verdict == "no_evidence"


@given(_CHECKS, st.integers(0, 12))
@settings(deadline=None, max_examples=50)
def test_a_failing_check_anywhere_never_leaves_a_pass(checks: list[Check], place: int) -> None:
    checks.insert(place, Check("broken", "fail", "assert f(1) == 2", "2", "3"))
    feedback = judge(checks, "grounded")
    assert feedback.verdict == "fail"
    assert feedback.failing


@given(_CHECKS)
@settings(deadline=None, max_examples=50)
def test_the_text_is_bounded_and_holds_no_timing(checks: list[Check]) -> None:
    text = judge(checks, "grounded").text
    assert text
    assert len(text) <= 1500
    assert text == judge([replace(check, seconds=check.seconds + 1) for check in checks], "grounded").text


def test_no_evidence_rests_on_nothing() -> None:
    feedback = judge([Check("a", "no_evidence", error="not plain data")], "oracle")
    assert (feedback.verdict, feedback.source, feedback.grounded) == ("no_evidence", "none", False)
    assert "not plain data" in feedback.text


def test_checks_that_showed_nothing_are_counted_in_a_pass() -> None:
    text = judge([Check("a", "pass"), Check("b", "no_evidence", error="cannot cross")], "grounded").text
    assert "1 test showed nothing" in text
    assert "cannot cross" in text


def test_at_most_five_failing_checks_are_shown_and_the_rest_counted() -> None:
    checks = [Check(f"t{n}", "fail", f"assert f({n}) == {n}", str(n), "None") for n in range(8)]
    text = judge(checks, "grounded").text
    assert text.startswith("8 of 8 tests failed:")
    assert "assert f(4) == 4\n  expected 4, got None" in text
    assert "f(5)" not in text
    assert "and 3 more" in text


def test_what_differs_from_run_to_run_is_taken_out() -> None:
    first = steady("<f at 0x7f12ab34cd56> in /tmp/job-81ac/solution.py")
    second = steady("<f at 0x7f99ee34cd00> in /tmp/job-92bd/solution.py")
    assert first == second
    assert "solution.py" in first
    assert steady("no room in /tmp/tmpk3j2") == steady("no room in /tmp/tmp99aa")
    check = Check("t", "fail", "assert f('/tmp/a/../b') == '/tmp/b'", "'/tmp/b'", "'/tmp/a'")
    assert "expected '/tmp/b', got '/tmp/a'" in judge([check], "grounded").text


@given(st.text(max_size=300), st.integers(40, 200))
@settings(deadline=None, max_examples=50)
def test_cutting_keeps_head_and_tail_within_the_limit(text: str, limit: int) -> None:
    short = cut(text, limit)
    assert len(short) <= limit
    assert short[:3] == text[:3]
    assert short[-3:] == text[-3:]


def test_tests_that_broke_off_through_their_own_fault_never_pass() -> None:
    checks = (Check("test 1", "pass"), Check("tests finish", "no_evidence", error="NameError: helper"))
    assert judge(checks, "grounded").verdict == "no_evidence"
    assert judge((*checks, Check("test 2", "fail")), "grounded").verdict == "fail"
