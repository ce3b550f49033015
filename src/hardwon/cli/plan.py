"""`hardwon plan`: what a comparison will take, and what it will be able to show, before a call is paid for."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hardwon.cli import options as o


def plan(
    suite: o.SuiteName,
    arms: Annotated[str, typer.Option("--arms", help="As for hardwon compare; the first is the baseline.")],
    budget: Annotated[
        str, typer.Option("--budget", help="What each arm may spend on each task: tokens=N, calls=N, usd=X.")
    ],
    data: o.Data = None,
    model: o.ModelName = None,
    seeds: Annotated[int, typer.Option("--seeds", min=1, help="Seeds for each task and arm.")] = 1,
    limit: o.Limit = None,
    ids: o.Ids = None,
    workers: o.Workers = None,
    feedback: o.FeedbackName = None,
    fallback: o.Fallback = None,
    temperature: o.Temperature = 0.0,
    max_tokens: o.MaxTokens = 1024,
    prompts: o.Prompts = None,
    pilot: Annotated[
        Path | None, typer.Option("--pilot", help="A run or comparison folder to measure by, instead of guesses.")
    ] = None,
    difference: Annotated[
        float, typer.Option("--difference", help="Points of solve rate that the comparison should show.")
    ] = 5.0,
    power: Annotated[
        float, typer.Option("--power", help="How surely it should show them, a share between 0 and 1.")
    ] = 0.8,
    as_json: o.Json = False,
) -> None:
    """Estimate a comparison's calls, tokens, dollars and time, and the tasks and seeds that a difference needs.

    Each arm's strategy is rehearsed on the real tasks and prompts. No model is opened, no program is run.
    """
    from hardwon.cli.loop import ArmOptions
    from hardwon.cli.planning import PlanOptions, make

    made = make(
        PlanOptions(
            suite=suite,
            arms=tuple(ArmOptions(budget, temperature, max_tokens).arms(arms, range(seeds))),
            data=data,
            model=model,
            limit=limit,
            ids=o.id_list(ids),
            workers=workers,
            feedback=o.one_of("--feedback", feedback, ("visible", "generated", "oracle")),
            fallback=o.one_of("--fallback", fallback, ("single",)) is not None,
            prompts=prompts,
            pilot=pilot,
            difference=difference,
            power=power,
            as_json=as_json,
        )
    )
    typer.echo(made)
