"""What a run came to, arm by arm: solve rate, trials, tokens, cost, time, and what the evidence was worth."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from hardwon.runs.row import Row
from hardwon.statistics import wilson


@dataclass(frozen=True, slots=True)
class Reliability:
    """How the generated tests judged the submissions that were also graded.

    `false_pass` of `passed` were wrong by the grader, `false_fail` of `failed` were right.
    """

    passed: int
    false_pass: int
    failed: int
    false_fail: int


@dataclass(frozen=True, slots=True)
class Summary:
    """One arm of a run. Rates are shares in 0..1; tokens count input and output; None where a price is unknown.

    `solved` of `graded` tasks; `interval` is the 95 % Wilson interval; `retried` tasks went past their first trial and
    `recovered` of those passed their visible checks in the end, for `retry_tokens` tokens that were not spent on first
    attempts or generated tests.
    """

    arm: str
    tasks: int
    graded: int
    solved: int
    errors: int
    interval: tuple[float, float]
    trials: float
    calls: int
    tokens_in: int
    tokens_out: int
    tokens_cached: int
    tokens_per_solved: float | None
    cost_usd: float | None
    cost_per_solved_usd: float | None
    wall_s: float
    retried: int
    recovered: int
    lessons: int
    lessons_from_evidence: int
    lessons_rejected: int
    stops: dict[str, int]
    feedback: dict[str, int]
    graded_on: dict[str, int]
    tokens_by_role: dict[str, int]
    generated: Reliability | None
    votes: int = 0

    @property
    def rate(self) -> float:
        return self.solved / self.graded if self.graded else 0.0

    @property
    def oracle(self) -> bool:
        """Whether any task's loop was fed by the hidden answer."""
        return self.feedback.get("oracle", 0) > 0

    def as_json(self) -> dict[str, Any]:
        return {**asdict(self), "rate": self.rate, "oracle_feedback": self.oracle}


def summarise(rows: Iterable[Row]) -> list[Summary]:
    """One summary for each arm, in the order of their names."""
    arms: dict[str, list[Row]] = {}
    for row in rows:
        arms.setdefault(row.arm, []).append(row)
    return [_summary(arm, arms[arm]) for arm in sorted(arms)]


def _summary(arm: str, rows: Sequence[Row]) -> Summary:
    graded = [row for row in rows if row.solved is not None]
    solved = sum(row.solved is True for row in graded)
    tokens = sum(row.tokens_in + row.tokens_out for row in rows)
    costs = [row.cost_usd for row in rows]
    cost = None if any(c is None for c in costs) else sum(c for c in costs if c is not None)
    by_role: Counter[str] = Counter()
    for row in rows:
        by_role.update(row.tokens_by_role)
    retried = [row for row in rows if row.trials > 1]
    return Summary(
        arm=arm,
        tasks=len(rows),
        graded=len(graded),
        solved=solved,
        errors=sum(row.error is not None for row in rows),
        interval=wilson(solved, len(graded)),
        trials=sum(row.trials for row in rows) / len(rows) if rows else 0.0,
        calls=sum(row.calls for row in rows),
        tokens_in=sum(row.tokens_in for row in rows),
        tokens_out=sum(row.tokens_out for row in rows),
        tokens_cached=sum(row.tokens_cached for row in rows),
        tokens_per_solved=tokens / solved if solved else None,
        cost_usd=cost,
        cost_per_solved_usd=cost / solved if solved and cost is not None else None,
        wall_s=round(sum(row.wall_s for row in rows), 3),
        retried=len(retried),
        recovered=sum(row.verdict == "pass" for row in retried),
        lessons=sum(row.lessons for row in rows),
        lessons_from_evidence=sum(row.lessons_from_evidence for row in rows),
        lessons_rejected=sum(row.lessons_rejected for row in rows),
        stops=_counts(row.stop for row in rows),
        feedback=_counts(row.feedback for row in rows),
        graded_on=_counts(row.graded_on for row in rows),
        tokens_by_role=dict(sorted(by_role.items())),
        votes=sum(row.votes for row in rows),
        generated=_reliability([row for row in graded if row.generated_tests]),
    )


def _counts(values: Iterable[str]) -> dict[str, int]:
    return dict(sorted(Counter(values).items()))


def _reliability(rows: Sequence[Row]) -> Reliability | None:
    passed = [row for row in rows if row.verdict == "pass"]
    failed = [row for row in rows if row.verdict == "fail"]
    if not rows:
        return None
    return Reliability(
        len(passed),
        sum(not row.solved for row in passed),
        len(failed),
        sum(bool(row.solved) for row in failed),
    )
