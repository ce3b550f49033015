"""Does what `hardwon run` asks: everything is checked before anything is written, then the runner works."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

from hardwon import prompts as prompt_texts
from hardwon.actors.choose import tool_settings, tool_uses, with_steps, with_tool_use
from hardwon.cli.auditing import check_trust, trusted
from hardwon.cli.bank_proof import show_effects
from hardwon.cli.banking import BankOptions
from hardwon.cli.carrying import about_model, carry_out, need_price, run_folder
from hardwon.cli.interruption import run_to_end
from hardwon.cli.loop import LoopOptions
from hardwon.cli.showing import show
from hardwon.cli.walls import open_walls
from hardwon.cli.weights import ready_model
from hardwon.config import load_config
from hardwon.errors import UsageError
from hardwon.models.tools import ToolUse
from hardwon.runs.runner import Arm
from hardwon.runs.settings import run_config, sha256
from hardwon.sandbox.protocol import Limits, Sandbox
from hardwon.sandbox.remembering import RememberingSandbox
from hardwon.strategies.protocol import Strategy, learns
from hardwon.suites.picking import Picking
from hardwon.suites.registry import SuiteOptions, open_suite, suites
from hardwon.task import Task


@dataclass(frozen=True, slots=True)
class RunOptions:
    """What the command line asked for."""

    loop: LoopOptions
    arms: tuple[Arm, ...]
    suite: str
    data: Path | None
    limit: int | None
    ids: tuple[str, ...] | None
    workers: int | None
    feedback: Literal["visible", "generated", "oracle"] | None
    fallback: bool
    show: bool
    form: str
    baseline: str | None = None
    require_trust: float | None = None
    reuse: Path | None = None
    picking: Picking = field(default_factory=Picking)
    checkouts: Path | None = None
    bank: BankOptions = field(default_factory=BankOptions)
    tools: ToolUse = "auto"
    steps: int | None = None

    @property
    def compared(self) -> bool:
        """Whether the arms are compared with a baseline."""
        return self.baseline is not None


def work(options: RunOptions) -> None:
    """Runs and reports; leaves with 3 when a task was ended by an error, 130 when interrupted."""
    run_to_end(_work(options))


async def _work(options: RunOptions) -> int:
    config, loop = load_config(), options.loop
    prompt_texts.use_folder(loop.prompts or config.prompts)
    workers = options.workers or config.workers
    check_trust(options.require_trust)
    suite = open_suite(options.suite)
    data = options.data or (Path(suite.name) if suite.name not in suites() else None)
    limits = Limits()
    sandbox: Sandbox = open_walls(workers=2, backend=loop.sandbox or config.sandbox)
    if options.compared:
        sandbox = RememberingSandbox(sandbox)
    try:
        chosen = SuiteOptions(
            options.data, options.feedback, options.ids, options.limit, limits, options.picking, options.checkouts
        )
        tasks = with_steps(with_tool_use(suite.load(chosen, sandbox), options.tools), options.steps)
        for strategy in {arm.name: arm.strategy for arm in options.arms}.values():
            need_feedback(strategy, tasks, options.fallback)
        model = ready_model(loop.model or config.model, parallel=workers)
        need_price(options.arms[0].budget, model)
        feedback = options.feedback or _default_feedback(tasks)
        choices: dict[str, Any] = tool_settings(tool_uses(tasks), model)
        choices |= {} if options.steps is None else {"steps": options.steps}
        if any(learns(arm.strategy) for arm in options.arms):
            # what such an arm does on a task depends on those before it: another selection is another run
            choices["order"] = hashlib.sha256("\0".join(task.id for task in tasks).encode()).hexdigest()[:8]
        if options.require_trust is not None:
            tasks = await trusted(tasks, suite.solutions(chosen), options.require_trust)
            choices["require_trust"] = options.require_trust
        bank = options.bank.open(_suite_name(suite.name, data))
        if bank is not None:
            choices["bank"] = bank.as_settings()
        settings = run_config(
            suite=_suite_name(suite.name, data),
            model=model.name,
            feedback=feedback,
            arms=options.arms,
            limits=asdict(limits),
            about=_about(options, data, tasks, sandbox, workers) | about_model(model.name),
            tasks=tasks,
            choices=choices,
        )
        out = loop.out or run_folder(settings, "compare" if options.compared else options.arms[0].name)
        try:
            rows = await carry_out(
                settings,
                out,
                tasks,
                options.arms,
                model,
                workers=workers,
                fresh=loop.fresh,
                show=options.show,
                compared=options.compared,
                reuse=options.reuse,
                bank=bank,
            )
        finally:
            await model.close()
            if bank is not None:
                bank.close()
    finally:
        await sandbox.close()
    show(out, settings, rows, options.form)
    if options.bank.proved:
        show_effects(out, options.form)
    return 3 if any(row.error is not None for row in rows) else 0


def need_feedback(strategy: Strategy, tasks: Sequence[Task], fallback: bool) -> None:
    """Law 2: no feedback, no loop."""
    having = [task for task in tasks if task.feedback is not None and task.feedback.source != "none"]
    if not strategy.needs_feedback or having:
        return
    if fallback:
        print(
            f"no feedback: {strategy.name} runs one pass a task, without a loop (--fallback single)",
            file=sys.stderr,
        )
        return
    if any(task.problem.kind in ("function", "stdio", "repository") for task in tasks):
        mend = "--feedback generated (tests the model writes, vetted), visible tests in the data"
    else:
        mend = "--feedback oracle (the hidden answer's verdict, labelled on every row)"
    raise UsageError(
        f"strategy {strategy.name} goes by checked failures, and none of these tasks has a visible test; give "
        f"{mend}, or --fallback single"
    )


def _suite_name(name: str, data: Path | None) -> str:
    """Own files are known by their stem, however they were spelled."""
    own = name == "jsonl" or (data is not None and str(data) == name)
    return data.name.partition(".")[0] if own and data is not None else name


def _default_feedback(tasks: Sequence[Task]) -> str:
    sources = {task.feedback.source for task in tasks if task.feedback is not None}
    return next((source for source in ("generated", "oracle") if source in sources), "visible")


def _about(
    options: RunOptions, data: Path | None, tasks: Sequence[Task], sandbox: Sandbox, workers: int
) -> dict[str, Any]:
    isolation = sandbox.isolation
    prompts = options.loop.prompts or load_config().prompts
    return {
        "data": str(data) if data else None,
        **({"prompts": str(prompts)} if prompts else {}),
        "data_sha256": sha256(data) if data and data.is_file() else None,
        "tasks": len(tasks),
        "limit": options.limit,
        "ids": options.ids,
        "picked": None if options.picking == Picking() else asdict(options.picking),
        "workers": workers,
        **({"baseline": options.baseline, "reuse": str(options.reuse or "")} if options.compared else {}),
        "isolation": {"backend": isolation.backend, "walls": isolation.walls, "missing": isolation.missing},
    }
