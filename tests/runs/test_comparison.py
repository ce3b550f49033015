"""A comparison's numbers, held against a naive recomputation, and its verdicts against cases made by hand."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from math import inf

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.runs.compared import any_rows, arm_rows, row

from hardwon.errors import UsageError
from hardwon.runs.comparison import Comparison, compare
from hardwon.runs.row import Point, Row

TOKENS = {"tokens": 40, "calls": None, "usd": None, "seconds": None}


def naive_outcome(row: Row, unit: str, budget: float) -> bool | None:
    """What a row would have come to with this budget, by walking all that it handed in on the way."""
    total = {"tokens": row.tokens_in + row.tokens_out, "calls": row.calls, "usd": row.cost_usd}[unit]
    steps = [({"tokens": p.tokens, "calls": p.calls, "usd": p.cost_usd}[unit], p.solved) for p in row.curve]
    outcome: bool | None = False
    for at, solved in steps or [(total, row.solved)]:
        if at is not None and at <= budget:
            outcome = solved
    return outcome


def naive_rate(rows: list[Row], arm: str, unit: str, budget: float) -> float | None:
    solved = known = 0
    for r in rows:
        if r.arm == arm and r.solved is not None:
            outcome = naive_outcome(r, unit, budget)
            known += outcome is not None
            solved += outcome is True
    return solved / known if known else None


@settings(max_examples=120, deadline=None)
@given(any_rows(), st.sampled_from(["tokens", "calls", "usd"]))
def test_curves_equal_a_naive_recomputation(rows: list[Row], unit: str) -> None:
    limit = {"tokens": 40, "calls": 10, "usd": 0.625}[unit]
    comparison = compare(rows, "base", {unit: limit}, resamples=20)
    assert comparison.unit == unit
    scale = 64 if unit == "usd" else 1  # all spending falls on multiples of 1 / scale
    for arm in comparison.arms:
        for at, rate in zip(arm.curve.at, arm.curve.rate, strict=True):
            assert rate == naive_rate(rows, arm.arm, unit, at)
        cells = [naive_rate(rows, arm.arm, unit, b / scale) for b in range(round(arm.curve.at[-1] * scale))]
        known = [rate for rate in cells if rate is not None]
        assert arm.curve.area == (pytest.approx(sum(known) / len(known)) if known else None)
        assert arm.curve.rate[-1] == arm.rate
        assert arm.curve.at == comparison.arms[0].curve.at


@settings(max_examples=120, deadline=None)
@given(any_rows())
def test_sums_and_pairs_equal_a_naive_recomputation(rows: list[Row]) -> None:
    comparison = compare(rows, "base", TOKENS, resamples=20)
    for arm in comparison.arms:
        solved = graded = tokens = total = shared = 0
        for r in rows:
            if r.arm == arm.arm:
                total += r.tokens_in + r.tokens_out
                shared += r.tokens_shared
                if r.solved is not None:
                    graded += 1
                    solved += r.solved
                    tokens += r.tokens_in + r.tokens_out
        assert (arm.solved, arm.graded, arm.tokens.total, arm.tokens.shared) == (solved, graded, total, shared)
        assert arm.rate == (solved / graded if graded else None)
        assert arm.tokens.per_solved == (tokens / solved if solved else None)
        assert arm.unspent == (pytest.approx(max(0, 1 - tokens / graded / 40)) if graded else None)
    for found in comparison.differences:
        won = lost = both = 0
        keys = set()
        for a in rows:
            if a.arm in (found.arm, "base"):
                keys.add((a.task_id, a.seed))
            for b in rows:
                if (a.arm, b.arm, a.task_id, a.seed) == (found.arm, "base", b.task_id, b.seed):
                    if a.solved is None or b.solved is None:
                        continue
                    both += 1
                    won += a.solved and not b.solved
                    lost += b.solved and not a.solved
        assert (found.pairs, found.won, found.lost, found.left_out) == (both, won, lost, len(keys) - both)
        assert found.difference == (pytest.approx((won - lost) / both) if both else None)
        assert found.p <= found.p_adjusted <= 1


@settings(max_examples=60, deadline=None)
@given(any_rows())
def test_equal_rows_give_equal_numbers_that_json_can_hold(rows: list[Row]) -> None:
    once, twice = (compare(rows, "base", TOKENS, resamples=50) for _ in range(2))
    assert once == twice
    assert json.loads(json.dumps(once.as_json(), allow_nan=False))["arms"][0]["arm"] == "base"


def test_below_its_first_point_nothing_is_handed_in_and_a_lost_success_is_lost() -> None:
    points = (Point(1, 10, None, 1, False), Point(3, 20, None, 2, True), Point(4, 30, None, 3, False))
    rows = [row("base", 0, False, tokens=35, curve=points), row("base", 1, True, tokens=25)]
    curve = compare(rows, "base", {"tokens": 50}).arms[0].curve
    assert list(zip(curve.at, curve.rate, strict=True)) == [(0, 0), (10, 0), (20, 0.5), (25, 1), (30, 0.5), (50, 0.5)]
    assert curve.area == pytest.approx((5 * 0.5 + 5 * 1 + 20 * 0.5) / 50)


def test_a_long_run_s_curve_is_thinned_and_keeps_both_ends() -> None:
    rows = [row("base", task, task % 2 == 0, tokens=1 + task) for task in range(1000)]
    curve = compare(rows, "base", {"tokens": 5000}).arms[0].curve
    assert len(curve.at) == 200
    assert (curve.at[0], curve.at[-1], curve.rate[-1]) == (0, 5000, 0.5)


def verdict(base: list[bool | None], other: list[bool | None], **others: int) -> tuple[str, str, tuple[str, ...]]:
    rows = [*arm_rows("single", base), *arm_rows("reflexion", other, **others)]
    comparison = compare(rows, "single", {"tokens": 1000})
    (found,) = comparison.differences
    return found.verdict, found.sentence, comparison.remarks


def test_better_says_by_how_much_how_sure_and_at_what_price() -> None:
    judgement, sentence, remarks = verdict([False] * 10 + [True] * 154, [True] * 164, tokens=490)
    assert judgement == "better"
    assert sentence.startswith("reflexion solves 6.1 points more than single (95 % interval 2.4 to 9.8")
    assert sentence.endswith(", p = 0.002, 10 won, 0 lost), at 4.9 times the tokens.")
    assert not any("did not pay" in remark for remark in remarks)


def test_worse_is_called_worse_and_did_not_pay() -> None:
    judgement, sentence, remarks = verdict([True] * 20, [False] * 10 + [True] * 10, tokens=300)
    assert judgement == "worse"
    assert sentence.startswith("reflexion solves 50.0 points less than single (")
    assert "reflexion: it did not pay: 3.0 times the tokens of single, and it solves less." in remarks


def test_a_dearer_arm_whose_gain_the_tasks_can_not_show_is_not_said_to_have_failed() -> None:
    judgement, sentence, remarks = verdict([False] * 3 + [True] * 17, [True] * 20, tokens=200)
    assert judgement == "no difference shown"
    assert sentence.startswith("no difference shown between reflexion and single (+15.0 points, 95 % interval ")
    assert sentence.endswith("p = 0.25, 3 won, 0 lost), at 2.0 times the tokens.")
    assert (
        "reflexion: not shown to pay: 2.0 times the tokens of single, and not shown to solve more; these tasks are too "
        "few to tell." in remarks
    )


def test_a_dearer_arm_that_gains_little_at_best_did_not_pay() -> None:
    _, _, remarks = verdict([True] * 400, [True] * 400, tokens=200)
    assert any(
        remark.startswith("reflexion: it did not pay: 2.0 times the tokens of single, and") for remark in remarks
    )


def test_an_arm_as_dear_as_the_baseline_is_not_said_not_to_pay() -> None:
    _, _, remarks = verdict([True, False], [True, False])
    assert not any("did not pay" in remark for remark in remarks)


def test_errors_are_neither_and_left_out_pairs_are_counted() -> None:
    judgement, sentence, remarks = verdict([True, None, True, None], [None, True, True, None])
    assert judgement == "no difference shown"
    assert "0.0 points" in sentence
    assert any(remark.endswith("not graded in both the arm and single: reflexion 3.") for remark in remarks)
    assert any(remark.startswith("Errors are neither") for remark in remarks)


def test_nothing_graded_in_both_is_no_difference_shown() -> None:
    judgement, sentence, _ = verdict([True, None], [None, True])
    assert (judgement, sentence) == (
        "no difference shown",
        "no difference shown between reflexion and single: no task is graded in both.",
    )


def test_many_arms_pay_for_being_many() -> None:
    base = [False] * 6 + [True] * 14
    alone = compare([*arm_rows("single", base), *arm_rows("a", [True] * 20)], "single", {"tokens": 1000})
    arms = [r for arm in "abcd" for r in arm_rows(arm, [True] * 20 if arm == "a" else base)]
    among = compare([*arm_rows("single", base), *arms], "single", {"tokens": 1000})
    assert (alone.differences[0].verdict, among.differences[0].verdict) == ("better", "no difference shown")
    assert among.differences[0].p_adjusted == pytest.approx(4 * among.differences[0].p)
    assert "after Holm" in among.differences[0].sentence
    assert "after Holm" not in alone.differences[0].sentence


def several_seeds() -> Comparison:
    rows = [row("single", t, t < 4, seed=s) for t in range(12) for s in range(3)]
    rows += [row("more", t, t < 4 or s == t % 3 or t == 5, seed=s) for t in range(12) for s in range(3)]
    return compare(rows, "single", {"tokens": 1000})


def test_several_seeds_are_tested_over_tasks_not_over_rows() -> None:
    single, more = several_seeds().arms
    (found,) = several_seeds().differences
    assert (found.test, found.tasks, found.pairs, found.won, found.lost) == ("sign flip", 12, 36, 10, 0)
    assert found.p == pytest.approx(2 / 2**8)  # eight tasks differ, all one way
    assert single.interval == pytest.approx((0.138, 0.609), abs=0.001)  # as wide as 12 tasks allow, not 36
    assert more.pass_at == pytest.approx({1: 22 / 36, 2: (5 + 7 * 2 / 3) / 12, 3: 1})
    assert compare(arm_rows("single", [True, False]), "single", {}).arms[0].pass_at == {}


def test_what_the_evidence_was_is_said() -> None:
    rows = [
        *arm_rows("single", [True, False]),
        *arm_rows("oracle", [True, True], feedback="oracle"),
        *arm_rows("own", [True, True], feedback="generated"),
        *arm_rows("tree", [True, True], votes=2),
    ]
    comparison = compare(rows, "single", {"tokens": 1000})
    assert [arm.as_json()["oracle_feedback"] for arm in comparison.arms] == [False, True, False, False]
    assert [arm.as_json()["ungrounded_votes"] for arm in comparison.arms] == [False, False, False, True]
    assert [found.oracle_feedback for found in comparison.differences] == [True, False, False]
    said = " ".join(comparison.remarks)
    assert "oracle feedback (oracle)" in said
    assert "generated feedback (own)" in said
    assert "ungrounded: no evidence stands behind them (tree 4)" in said


def test_shared_calls_are_paid_once_and_counted_in_both_arms() -> None:
    rows = [*arm_rows("single", [True, False]), *arm_rows("more", [True, True], tokens=300, tokens_shared=100)]
    comparison = compare(rows, "single", {"tokens": 1000})
    assert "Run alone the arms would have cost 800 tokens together; 600 were paid" in comparison.remarks[-1]


def test_an_unknown_price_stays_unknown() -> None:
    rows = arm_rows("single", [True, False])
    rows[1] = replace(rows[1], cost_usd=None)
    comparison = compare(rows, "single", {"usd": 1.0})
    assert comparison.arms[0].usd is None
    assert (comparison.unit, comparison.limit, comparison.arms[0].unspent) == ("tokens", None, None)
    assert any(remark.startswith("The budget limits usd") for remark in comparison.remarks)


def test_an_arm_that_solves_nothing_has_no_price_for_a_solved_task() -> None:
    (arm,) = compare(arm_rows("single", [False, False]), "single", {"tokens": 1000}).arms
    assert (arm.tokens.per_solved, arm.tokens.interval) == (None, (None, None))
    assert arm.tokens.mean != inf


def test_an_unknown_baseline_is_a_usage_error() -> None:
    with pytest.raises(UsageError, match="--baseline x: no such arm in this run; the arms are single"):
        compare(arm_rows("single", [True]), "x", {})


def test_help_and_run_do_not_load_what_only_a_comparison_needs() -> None:
    code = (
        "import sys, hardwon, hardwon.cli.app, hardwon.cli.run, hardwon.statistics\n"
        "print([m for m in ('numpy', 'scipy', 'matplotlib') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_missing_extra_is_named() -> None:
    code = (
        "import sys; sys.modules['numpy'] = None\n"
        "from hardwon.errors import UsageError\n"
        "try:\n    import hardwon.runs.comparison\n"
        "except UsageError as error:\n    print(error)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == 'comparing arms: needs an extra; run: pip install "hardwon[lab]"'
