"""Rows of comparisons, made up for tests."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from hypothesis import strategies as st

from hardwon.runs.row import Point, Row


def row(arm: str, task: str | int, solved: bool | None, *, seed: int = 0, tokens: int = 100, **other: Any) -> Row:
    """A row that spent `tokens` in one call, at a thousandth of a dollar each thousand."""
    made = Row(
        task_id=str(task),
        arm=arm,
        seed=seed,
        solved=solved,
        feedback="grounded",
        verdict="pass" if solved else "fail",
        submission="x",
        trials=1,
        calls=1,
        tokens_in=tokens // 2,
        tokens_out=tokens - tokens // 2,
        tokens_cached=0,
        cost_usd=tokens / 1e6,
        wall_s=1.0,
        stop="solved" if solved else "trials",
        error="down" if solved is None else None,
    )
    return replace(made, **other)


def arm_rows(arm: str, solved: Sequence[bool | None], **other: Any) -> list[Row]:
    return [row(arm, task, outcome, **other) for task, outcome in enumerate(solved)]


@st.composite
def curved_row(draw: st.DrawFn, arm: str, task: int, seed: int) -> Row:
    """A row with any curve that a run may leave behind: outcomes that come and go, grades that are missing."""
    solved = draw(st.sampled_from([True, False, None]))
    points = []
    tokens = calls = 0
    for trial in range(1, draw(st.integers(1, 4))):
        tokens += draw(st.integers(0, 12))
        calls += draw(st.integers(1, 2))
        points.append(Point(calls, tokens, tokens / 64, trial, draw(st.sampled_from([True, False, None]))))
    if points:
        points[-1] = replace(points[-1], solved=solved)
    tokens += draw(st.integers(0, 9))
    made = row(arm, task, solved, seed=seed, tokens=tokens, calls=calls + 1, cost_usd=tokens / 64, curve=tuple(points))
    return replace(made, tokens_shared=tokens // 3)


@st.composite
def any_rows(draw: st.DrawFn) -> list[Row]:
    """Rows of two or three arms over the same tasks and seeds, some of them missing; `base` always has one."""
    keys = [(task, seed) for task in range(draw(st.integers(1, 4))) for seed in range(draw(st.integers(1, 3)))]
    rows = [draw(curved_row("base", *keys[0]))]
    for arm in ("base", "other", "third")[: draw(st.integers(2, 3))]:
        for key in keys[arm == "base" :]:
            if draw(st.integers(0, 5)):
                rows.append(draw(curved_row(arm, *key)))
    return rows
