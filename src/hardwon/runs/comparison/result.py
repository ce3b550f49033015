"""What a comparison says, as small frozen types. Rates are shares in 0..1; None is unknown, or nothing to measure."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

Unit = Literal["tokens", "calls", "usd"]
"""What a budget is counted in, in a curve."""

Judgement = Literal["better", "worse", "no difference shown"]

Interval = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Curve:
    """The solve rate of an arm at every budget: having spent `at` on each task, it would have solved `rate` of them.

    A rate holds from its budget up to the next one. `graded` of the pairs of task and seed were known at that budget
    (None where none was). `area` is the mean rate over all budgets from 0 to the last of `at`, computed before the
    curve was thinned.
    """

    unit: Unit
    at: tuple[float, ...]
    rate: tuple[float | None, ...]
    graded: tuple[int, ...]
    area: float | None


@dataclass(frozen=True, slots=True)
class Spending:
    """What an arm spent in one unit, as if it had run alone.

    `mean` is that of a graded pair of task and seed, `per_solved` the sum over graded pairs for each solved one, with
    its bootstrap interval (an end that is None is without bound). `total` counts all rows, errors too; `shared` of it
    another arm had paid for already, because identical calls are made once (None: not known in this unit).
    """

    mean: float | None
    per_solved: float | None
    interval: tuple[float | None, float | None]
    total: float
    shared: float | None


@dataclass(frozen=True, slots=True)
class ArmResult:
    """One arm: `solved` of `graded` pairs of task and seed, and at what price.

    `se` is the standard error of `rate`, clustered over tasks; `interval` is Wilson's, with several seeds at the
    effective number of pairs. `unspent` is the mean share of the budget that was left. `pass_at` holds the unbiased
    pass@k of k runs of the arm with different seeds, over the tasks whose seeds are all graded. `feedback` counts rows
    by what the loop's feedback rested on, `votes` choices that a model made without evidence. `over` rows spent more
    tokens than the budget, at most by `most_over`: a call is allowed by an estimate, and counted by its provider.
    """

    arm: str
    tasks: int
    seeds: int
    rows: int
    graded: int
    errors: int
    solved: int
    rate: float | None
    se: float | None
    interval: Interval
    calls: Spending
    tokens: Spending
    usd: Spending | None
    unspent: float | None
    curve: Curve
    pass_at: dict[int, float]
    feedback: dict[str, int]
    graded_on: dict[str, int]
    votes: int
    over: int = 0
    most_over: int = 0

    @property
    def oracle(self) -> bool:
        """Whether any task's loop was fed by the hidden answer."""
        return self.feedback.get("oracle", 0) > 0

    def spending(self, unit: Unit) -> Spending | None:
        return {"tokens": self.tokens, "calls": self.calls, "usd": self.usd}[unit]

    def as_json(self) -> dict[str, Any]:
        return {**asdict(self), "oracle_feedback": self.oracle, "ungrounded_votes": self.votes > 0}


@dataclass(frozen=True, slots=True)
class Difference:
    """An arm beside the baseline, over the `pairs` of task and seed that are graded in both; `left_out` are not.

    `difference` is the arm's solve rate minus the baseline's, with a bootstrap interval over tasks. `won` pairs only
    the arm solved, `lost` only the baseline. `p` is exact and two-sided, `p_adjusted` after Holm for all arms compared;
    the verdict goes by it alone. `times` is the arm's spending over the baseline's in `unit`; `oracle_feedback` says
    whether the hidden answer fed the loop of either.
    """

    arm: str
    baseline: str
    tasks: int
    pairs: int
    left_out: int
    won: int
    lost: int
    difference: float | None
    interval: Interval | None
    test: Literal["McNemar", "sign flip"]
    p: float
    p_adjusted: float
    unit: Unit
    times: float | None
    oracle_feedback: bool
    verdict: Judgement
    sentence: str


@dataclass(frozen=True, slots=True)
class Comparison:
    """Arms on the same tasks and seeds at one budget for each task; the baseline comes first.

    `unit` is what the curves count, `limit` the budget in it. `remarks` are whole sentences to print with the numbers.
    """

    baseline: str
    budget: dict[str, float]
    unit: Unit
    limit: float | None
    confidence: float
    arms: tuple[ArmResult, ...]
    differences: tuple[Difference, ...]
    remarks: tuple[str, ...]

    def as_json(self) -> dict[str, Any]:
        return {**asdict(self), "arms": [arm.as_json() for arm in self.arms]}
