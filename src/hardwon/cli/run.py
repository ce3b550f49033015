"""`hardwon run`: a suite, a model, a strategy."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hardwon.cli import options as o


def run(
    suite: Annotated[
        str,
        typer.Argument(metavar="SUITE", help="starter, humaneval, mbpp, jsonl, or a .jsonl file of your own."),
    ],
    data: Annotated[
        Path | None, typer.Option("--data", help="The suite's data: JSON, JSONL, or either as .gz.")
    ] = None,
    model: o.ModelName = None,
    strategy: o.StrategyName = "reflexion",
    settings: o.Settings = None,
    trials: o.Trials = None,
    budget: o.BudgetText = "",
    limit: Annotated[int | None, typer.Option("--limit", min=1, help="Only the first N tasks.")] = None,
    ids: Annotated[str | None, typer.Option("--ids", help="Only these tasks: a,b,c.")] = None,
    workers: Annotated[
        int | None, typer.Option("--workers", min=1, help="Tasks worked on at once.", show_default="4")
    ] = None,
    seed: o.Seed = 0,
    feedback: Annotated[
        str | None,
        typer.Option("--feedback", help="visible, generated or oracle. Default: visible where the suite shows tests."),
    ] = None,
    fallback: o.Fallback = None,
    out: Annotated[
        Path | None, typer.Option("--out", help="The run folder. Default: runs/NAME, by the settings.")
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume/--fresh", help="Go on with the run in the folder, or discard it.")
    ] = True,
    temperature: o.Temperature = 0.0,
    max_tokens: o.MaxTokens = 1024,
    prompts: o.Prompts = None,
    sandbox: o.SandboxName = None,
    show: Annotated[bool, typer.Option("--show", help="Tell each trial and lesson as it happens.")] = False,
    as_json: o.Json = False,
) -> None:
    """Work a suite's tasks with a model, keep a journal, and report.

    The run can be stopped at any time; the same command goes on where it was.
    """
    from hardwon.cli.loop import LoopOptions
    from hardwon.cli.working import RunOptions, work

    loop = LoopOptions(
        model=model,
        strategy=strategy,
        settings=o.strategy_settings(settings, trials),
        budget=budget,
        seed=seed,
        temperature=temperature,
        max_tokens=max_tokens,
        prompts=prompts,
        sandbox=o.one_of("--sandbox", sandbox, o.SANDBOXES),
        out=out,
        fresh=not resume,
        as_json=as_json,
    )
    work(
        RunOptions(
            loop=loop,
            suite=suite,
            data=data,
            limit=limit,
            ids=tuple(part.strip() for part in ids.split(",") if part.strip()) if ids is not None else None,
            workers=workers,
            feedback=o.one_of("--feedback", feedback, ("visible", "generated", "oracle")),
            fallback=o.one_of("--fallback", fallback, ("single",)) is not None,
            show=show,
        )
    )
