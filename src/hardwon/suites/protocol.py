"""What a suite is, and what one can ask of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from hardwon.sandbox.protocol import Limits, Sandbox
from hardwon.suites.about import About
from hardwon.suites.picking import Picking
from hardwon.task import Task

FeedbackKind = Literal["visible", "generated", "oracle"]
"""`visible`: the tests that the model may see. `generated`: these and vetted self-written ones. `oracle`: the hidden
tests, labelled so on every row."""


@dataclass(frozen=True, slots=True)
class SuiteOptions:
    """Which tasks to load, and what their loop may use.

    `data` is a JSON or JSONL file or a .gz of one, `feedback` None means the suite's default, `ids` picks tasks by id,
    `picking` further chooses and orders those, `limit` keeps the first so many, `limits` bound each candidate.
    `checkouts` is a file that maps the repositories of a suite to local folders.
    """

    data: Path | None = None
    feedback: FeedbackKind | None = None
    ids: tuple[str, ...] | None = None
    limit: int | None = None
    limits: Limits = field(default_factory=Limits)
    picking: Picking = field(default_factory=Picking)
    checkouts: Path | None = None


@dataclass(frozen=True, slots=True)
class Suite:
    """A source of tasks.

    `needs_data` tells whether `SuiteOptions.data` must be given. `default_feedback` is what the loop uses when nothing
    is chosen; None if the data decides (`visible` when every task has visible tests of its own, else `generated`).
    `load` reads and checks all of the data before it returns, in file order, and raises UsageError for what is wrong.
    `solutions` gives known solutions by task id, as far as the data holds any; no task carries its own (law 1).
    `about` says what else there is to know; None if nothing is.
    """

    name: str
    summary: str
    needs_data: bool
    default_feedback: FeedbackKind | None
    load: Callable[[SuiteOptions, Sandbox], tuple[Task, ...]]
    solutions: Callable[[SuiteOptions], Mapping[str, str]] = lambda _: {}
    about: Callable[[], About | None] = lambda: None
