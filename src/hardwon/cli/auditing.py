"""Does what `hardwon audit` asks, and what `hardwon run --require-trust` asks before it begins."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import Literal, Self

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from hardwon.cli.audit_report import as_json, as_table
from hardwon.cli.interruption import run_to_end
from hardwon.cli.plain import one_line
from hardwon.cli.walls import open_walls
from hardwon.config import load_config
from hardwon.errors import InfrastructureError, UsageError
from hardwon.evaluators.audit import TaskAudit, audit_all, summarise_audit
from hardwon.runs.folder import write_text
from hardwon.suites.registry import SuiteOptions, open_suite
from hardwon.task import Task


@dataclass(frozen=True, slots=True)
class AuditOptions:
    """What the command line asked for."""

    suite: str
    data: Path | None
    limit: int | None
    ids: tuple[str, ...] | None
    feedback: Literal["visible", "oracle"]
    mutants: int
    reruns: int
    sandbox: Literal["auto", "bubblewrap", "process"] | None
    out: Path | None
    as_json: bool


def examine_suite(options: AuditOptions) -> None:
    """Audits and reports; leaves with 3 when a task could not be audited, 130 when interrupted."""
    run_to_end(_examine(options))


async def _examine(options: AuditOptions) -> int:
    config = load_config()
    suite = open_suite(options.suite)
    if options.out is not None and (options.out.is_dir() or not options.out.parent.is_dir()):
        raise UsageError(f"--out {options.out}: want a file in a folder that is there")
    chosen = SuiteOptions(options.data, options.feedback, options.ids, options.limit)
    sandbox = open_walls(workers=2, backend=options.sandbox or config.sandbox)
    try:
        tasks = suite.load(chosen, sandbox)
        with _Watching(len(tasks)) as watching:
            audits = await audit_all(
                tasks,
                suite.solutions(chosen),
                reruns=options.reruns,
                most_mutants=options.mutants,
                done=watching.done,
            )
    finally:
        await sandbox.close()
    summary = summarise_audit(audits)
    title = {"suite": suite.name, "feedback": options.feedback}
    if options.out is not None:
        write_text(options.out, as_json(title, summary) + "\n")
    typer.echo((as_json if options.as_json else as_table)(title, summary))
    return 3 if summary.errors else 0


def check_trust(least: float | None) -> None:
    """Raises UsageError for a trust that nothing could lack or have."""
    if least is not None and not 0 < least <= 1:
        raise UsageError(f"--require-trust {least:g}: want a share above 0, and 1 at most, such as 0.7")


async def trusted(tasks: Sequence[Task], solutions: Mapping[str, str], least: float) -> tuple[Task, ...]:
    """The tasks with their trust; those below `least` without feedback, so that each is worked once and not looped on.

    A task whose only feedback is what a model would write, or an answer's or a game's own, has no trust that can be
    known, and keeps its feedback.
    Raises InfrastructureError if a task could not be audited: what is worked on must not hang on trouble.
    """
    print(f"--require-trust {least:g}: auditing the feedback of {len(tasks)} tasks first", file=sys.stderr)
    with _Watching(len(tasks)) as watching:
        audits = await audit_all(tasks, solutions, done=watching.done)
    for audit in audits:
        if audit.error is not None:
            raise InfrastructureError(f"{audit.task_id} could not be audited: {audit.error}; run the command again")
    known = [
        replace(
            task, trust=audit.trust, feedback=None if audit.trust is not None and audit.trust < least else task.feedback
        )
        for task, audit in zip(tasks, audits, strict=True)
    ]
    refused = sum(task.trust is not None and task.trust < least for task in known)
    print(f"{refused} of {len(known)} tasks are below and get one pass, without a loop", file=sys.stderr)
    beyond = sum(audit.beyond for audit in audits)
    if unknown := sum(task.trust is None for task in known) - beyond:
        print(f"{unknown} have only tests that a model would write: not known, and not refused", file=sys.stderr)
    if beyond:
        print(f"{beyond} are decided by an answer or a game: nothing to attack, and not refused", file=sys.stderr)
    return tuple(known)


class _Watching(AbstractContextManager["_Watching"]):
    """Shows on standard error which task is audited: a live bar in a terminal, else a line for each."""

    def __init__(self, total: int) -> None:
        console = Console(stderr=True, highlight=False, soft_wrap=True)
        self._live = console.is_terminal and not console.is_dumb_terminal
        self._total, self._done = total, 0
        columns = (TextColumn("{task.completed}/{task.total} audited"), BarColumn(bar_width=None), TimeElapsedColumn())
        self._progress = Progress(*columns, console=console, disable=not self._live)
        self._bar = self._progress.add_task("", total=total)

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._progress.stop()

    def done(self, audit: TaskAudit) -> None:
        self._done += 1
        self._progress.update(self._bar, completed=self._done)
        if not self._live:
            trust = "?" if audit.trust is None else f"{audit.trust:.2f}"
            said = f"trust {trust}" if audit.error is None else f"error: {one_line(audit.error)}"
            print(f"[{self._done}/{self._total}] {one_line(audit.task_id)} {said}", file=sys.stderr, flush=True)
