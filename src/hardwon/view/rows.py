"""The finished rows of a run at one moment, and what pages reckon from them, each at most once."""

from __future__ import annotations

from collections import Counter
from functools import cached_property, lru_cache
from typing import Any, Literal, get_args

from hardwon.runs.results import natural
from hardwon.runs.row import Row
from hardwon.runs.summary import Summary, summarise

Outcome = Literal["first", "second", "third", "later", "unsolved", "ungraded", "error"]
OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)
LABELS: dict[str, str] = {
    "first": "solved at trial 1",
    "second": "solved at trial 2",
    "third": "solved at trial 3",
    "later": "solved later",
    "unsolved": "not solved",
    "ungraded": "not graded",
    "error": "error",
}
SIGNS: dict[str, str] = {
    "first": "1",
    "second": "2",
    "third": "3",
    "later": "+",
    "unsolved": "×",
    "ungraded": "?",
    "error": "!",
}
"""One sign for each, so that no outcome is told by colour alone."""


def outcome(row: Row) -> Outcome:
    """What came of a row."""
    if row.error is not None:
        return "error"
    if row.solved is None:
        return "ungraded"
    if not row.solved:
        return "unsolved"
    by_trial: dict[int, Outcome] = {1: "first", 2: "second", 3: "third"}
    return by_trial.get(handed_in(row), "later")


def handed_in(row: Row) -> int:
    """The number of the trial that was handed in: the best on visible evidence, the earliest among equals."""
    if not row.trial_scores:
        return max(row.trials, 1)
    return row.trial_scores.index(max(row.trial_scores)) + 1


def tokens(row: Row) -> int:
    return row.tokens_in + row.tokens_out


_natural = lru_cache(maxsize=100_000)(natural)  # of a run that goes on, the same ids are sorted again and again


class Rows:
    """The rows, and in `memory` what pages want to reckon from them only once."""

    def __init__(self, rows: tuple[Row, ...]) -> None:
        self.all = rows
        self.arms = sorted({row.arm for row in rows})
        self.memory: dict[str, Any] = {}

    @cached_property
    def sorted(self) -> list[Row]:
        order = {task: place for place, task in enumerate(self.tasks)}
        return sorted(self.all, key=lambda row: (order[row.task_id], row.arm, row.seed))

    @cached_property
    def tasks(self) -> list[str]:
        """The ids of all tasks that have a row, `HumanEval/2` before `HumanEval/10`."""
        return sorted({row.task_id for row in self.all}, key=_natural)

    @cached_property
    def summaries(self) -> list[Summary]:
        return summarise(self.all)

    @cached_property
    def outcomes(self) -> dict[str, Counter[Outcome]]:
        """For each arm, how many rows came to what."""
        counts: dict[str, Counter[Outcome]] = {arm: Counter() for arm in self.arms}
        for row in self.all:
            counts[row.arm][outcome(row)] += 1
        return counts

    @cached_property
    def by_task(self) -> dict[str, dict[tuple[str, int], Row]]:
        found: dict[str, dict[tuple[str, int], Row]] = {}
        for row in self.all:
            found.setdefault(row.task_id, {})[row.arm, row.seed] = row
        return found

    def prepare(self) -> None:
        """Reckons what every page of a run needs."""
        _ = self.tasks, self.summaries, self.outcomes, self.by_task
