"""Does what `hardwon run` asks: everything is checked before anything is written, then the runner works."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

import typer

from hardwon import prompts as prompt_texts
from hardwon.cli.carrying import about_model, carry_out, need_price, run_folder, sha256
from hardwon.cli.interruption import run_to_end
from hardwon.cli.loop import LoopOptions
from hardwon.cli.weights import ready_model
from hardwon.config import load_config
from hardwon.errors import UsageError
from hardwon.runs.report import as_json, as_table
from hardwon.runs.runner import Arm
from hardwon.runs.settings import run_config
from hardwon.sandbox.choose import open_sandbox
from hardwon.sandbox.protocol import Limits, Sandbox
from hardwon.suites.registry import SuiteOptions, open_suite, suites
from hardwon.task import Task


@dataclass(frozen=True, slots=True)
class RunOptions:
    """What the command line asked for."""

    loop: LoopOptions
    suite: str
    data: Path | None
    limit: int | None
    ids: tuple[str, ...] | None
    workers: int | None
    feedback: Literal["visible", "generated", "oracle"] | None
    fallback: bool
    show: bool


def work(options: RunOptions) -> None:
    """Runs and reports; leaves with 3 when a task was ended by an error, 130 when interrupted."""
    run_to_end(_work(options))


async def _work(options: RunOptions) -> int:
    config, loop = load_config(), options.loop
    prompt_texts.use_folder(loop.prompts or config.prompts)
    workers = options.workers or config.workers
    arm = loop.arm()
    suite = open_suite(options.suite)
    data = options.data or (Path(suite.name) if suite.name not in suites() else None)
    limits = Limits()
    sandbox = open_sandbox(workers=2, backend=loop.sandbox or config.sandbox)
    try:
        tasks = suite.load(SuiteOptions(options.data, options.feedback, options.ids, options.limit, limits), sandbox)
        _need_feedback(arm, tasks, options)
        model = ready_model(loop.model or config.model, parallel=workers)
        need_price(arm.budget, model)
        settings = run_config(
            suite=_suite_name(suite.name, data),
            model=model.name,
            feedback=options.feedback or _default_feedback(tasks),
            arms=[arm],
            limits=asdict(limits),
            about=_about(options, data, tasks, sandbox, workers) | about_model(model.name),
        )
        out = loop.out or run_folder(settings, arm.name)
        try:
            summaries = await carry_out(
                settings, out, tasks, arm, model, workers=workers, fresh=loop.fresh, show=options.show
            )
        finally:
            await model.close()
    finally:
        await sandbox.close()
    typer.echo((as_json if loop.as_json else as_table)(settings, summaries))
    return 3 if any(summary.errors for summary in summaries) else 0


def _need_feedback(arm: Arm, tasks: Sequence[Task], options: RunOptions) -> None:
    """Law 2: no feedback, no loop."""
    having = [task for task in tasks if task.feedback is not None and task.feedback.source != "none"]
    if not arm.strategy.needs_feedback or having:
        return
    if options.fallback:
        print(
            f"no feedback: {arm.strategy.name} runs one pass a task, without a loop (--fallback single)",
            file=sys.stderr,
        )
        return
    raise UsageError(
        f"strategy {arm.strategy.name} learns from checked failures, and none of these tasks has a visible test; give "
        "--feedback generated (tests the model writes, vetted), visible tests in the data, or --fallback single"
    )


def _suite_name(name: str, data: Path | None) -> str:
    """Own files are known by their stem, however they were spelled."""
    own = name == "jsonl" or (data is not None and str(data) == name)
    return data.name.partition(".")[0] if own and data is not None else name


def _default_feedback(tasks: Sequence[Task]) -> str:
    sources = {task.feedback.source for task in tasks if task.feedback is not None}
    return "generated" if "generated" in sources else "visible"


def _about(
    options: RunOptions, data: Path | None, tasks: Sequence[Task], sandbox: Sandbox, workers: int
) -> dict[str, Any]:
    isolation = sandbox.isolation
    return {
        "data": str(data) if data else None,
        "data_sha256": sha256(data) if data else None,
        "tasks": len(tasks),
        "limit": options.limit,
        "ids": options.ids,
        "workers": workers,
        "isolation": {"backend": isolation.backend, "walls": isolation.walls, "missing": isolation.missing},
    }
