"""What is shown while a run goes on: a live bar in a terminal, a line for each task where the output is piped."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import AbstractContextManager
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from hardwon.cli.plain import one_line
from hardwon.runs.row import Row
from hardwon.session import Happening
from hardwon.trial import Trial


class Watching(AbstractContextManager["Watching"]):
    """Counts what happens and shows it on standard error; an `Observer`.

    `show` tells each trial and lesson; `compared` names the arm and seed of each.
    """

    def __init__(self, *, show: bool, compared: bool = False) -> None:
        console = Console(stderr=True, highlight=False, soft_wrap=True)
        self._console = console
        self._show = show
        self._compared = compared
        self._live = console.is_terminal and not console.is_dumb_terminal
        self._total = self._finished = self._solved = self._trials = self._tokens = 0
        self._cost: float | None = 0.0
        self._progress = Progress(
            TextColumn("{task.completed}/{task.total} tasks"),
            BarColumn(bar_width=None),
            TextColumn("{task.description}"),
            TimeElapsedColumn(),
            TextColumn("left"),
            TimeRemainingColumn(),
            console=console,
            disable=not self._live,
        )
        self._bar = self._progress.add_task("", total=0)

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._progress.stop()

    def begin(self, total: int, done: Sequence[Row]) -> None:
        self._total = total
        for row in done:
            self._count(row)
        if done:
            self._say(f"{len(done)} of {total} tasks are finished already; going on with the rest")
        self._progress.update(self._bar, total=total, completed=len(done), description=self._state())

    def start(self, task_id: str, arm: str) -> None:
        if self._show:
            self._say(f"{one_line(task_id)}: begins")

    def happen(self, task_id: str, arm: str, happening: Happening) -> None:
        if isinstance(happening, Trial):
            self._trials += 1
            self._progress.update(self._bar, description=self._state())
        if self._show:
            self._say(f"{one_line(task_id)}: {_told(happening)}")

    def finish(self, row: Row) -> None:
        self._count(row)
        self._progress.update(self._bar, completed=self._finished, description=self._state())
        if not self._live or self._show:
            tokens = row.tokens_in + row.tokens_out
            self._say(
                f"[{self._finished}/{self._total}] {one_line(row.task_id)}{self._side(row)} {_outcome(row)}"
                f"  trials {row.trials}  tokens {tokens}  {row.wall_s:.1f} s"
            )
        elif row.error is not None:
            self._say(f"{one_line(row.task_id)}{self._side(row)} {_outcome(row)}")

    def _side(self, row: Row) -> str:
        """Which side of a comparison the row is of."""
        return f" · {one_line(row.arm, 40)} · seed {row.seed}" if self._compared else ""

    def _count(self, row: Row) -> None:
        self._finished += 1
        self._solved += row.solved is True
        self._tokens += row.tokens_in + row.tokens_out
        self._cost = None if self._cost is None or row.cost_usd is None else self._cost + row.cost_usd

    def _state(self) -> str:
        cost = "?" if self._cost is None else f"{self._cost:.2f}"
        return f"solved {self._solved}  trials {self._trials}  tokens {self._tokens:,}  ${cost}"

    def _say(self, text: str) -> None:
        if self._live:
            self._console.print(text, markup=False)
        else:
            print(text, file=sys.stderr, flush=True)


def _outcome(row: Row) -> str:
    if row.error is not None:
        return f"error: {one_line(row.error)}"
    return {True: "solved", False: "not solved", None: "not graded"}[row.solved]


def _told(happening: Happening) -> str:
    if not isinstance(happening, Trial):
        return f"lesson: {one_line(happening.text, 400)}"
    feedback = happening.feedback
    decided = [check for check in feedback.checks if check.status != "no_evidence"]
    passed = sum(check.status == "pass" for check in decided)
    checks = "checks against the hidden answer" if feedback.source == "oracle" else "visible checks"
    told = f"trial {happening.number}: {feedback.verdict.replace('_', ' ')} ({passed} of {len(decided)} {checks})"
    if feedback.failing:
        first = feedback.failing[0]
        what = first.call or first.name
        seen = f"expected {first.expected}, got {first.observed}" if first.observed is not None else first.error or ""
        told += f"; {one_line(what)}: {one_line(seen)}"
    return told
