"""`hardwon compare`: several ways to spend one budget, on the same tasks with the same seeds."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hardwon.cli import options as o


def compare(
    suite: o.SuiteName,
    arms: Annotated[
        str,
        typer.Option(
            "--arms", help="Strategies with commas between them; settings after colons: single,reflexion:show=last."
        ),
    ],
    budget: Annotated[
        str,
        typer.Option(
            "--budget",
            help="What each arm may spend on each task: tokens=N, calls=N, usd=X. An agent takes a call a step.",
        ),
    ],
    data: o.Data = None,
    model: o.ModelName = None,
    baseline: Annotated[
        str | None, typer.Option("--baseline", help="The arm that the others are held against. Default: the first.")
    ] = None,
    seeds: Annotated[int, typer.Option("--seeds", min=1, help="Seeds for each task and arm.")] = 1,
    seed: o.Seed = 0,
    limit: o.Limit = None,
    ids: o.Ids = None,
    select: o.Select = None,
    shuffle: o.Shuffle = None,
    part: o.Slice = None,
    checkouts: o.Checkouts = None,
    workers: o.Workers = None,
    feedback: o.FeedbackName = None,
    fallback: o.Fallback = None,
    out: o.Out = None,
    resume: o.Resume = True,
    reuse: Annotated[
        Path | None,
        typer.Option("--reuse", help="An earlier run of the same model: identical calls are taken from its journal."),
    ] = None,
    temperature: o.Temperature = 0.0,
    max_tokens: o.MaxTokens = 1024,
    prompts: o.Prompts = None,
    tools: o.Tools = "auto",
    steps: o.Steps = None,
    sandbox: o.SandboxName = None,
    bank: o.BankPlace = None,
    recall: o.Recall = None,
    learn: o.Learn = None,
    judge: o.Judge = False,
    withhold: o.Withhold = 0.1,
    embedder: o.EmbedderName = None,
    form: Annotated[
        str, typer.Option("--format", help="table, json, markdown; html, png, svg are written to the run folder.")
    ] = "table",
    require_trust: o.RequireTrust = None,
    show: o.Show = False,
    as_json: o.Json = False,
) -> None:
    """Compare strategies at an equal budget: solve rates, curves, cost, paired differences and a verdict.

    Arms share identical model calls, so that a first attempt is sampled once. The comparison can be stopped at any
    time; the same command goes on where it was.
    """
    from hardwon.cli.banking import BankOptions
    from hardwon.cli.loop import ArmOptions, LoopOptions
    from hardwon.cli.showing import check_form
    from hardwon.cli.working import RunOptions, work
    from hardwon.errors import UsageError
    from hardwon.suites.picking import Picking

    chosen = ArmOptions(budget, temperature, max_tokens).arms(arms, range(seed, seed + seeds))
    limits = chosen[0].budget
    if limits.calls is None and limits.tokens is None and limits.usd is None:
        raise UsageError(f"--budget {budget!r}: a comparison needs a limit on tokens, calls or usd")
    if limits.seconds is not None:
        raise UsageError(
            f"--budget {budget}: arms wait for each other's calls, so seconds are not equal; leave them out"
        )
    names = list(dict.fromkeys(arm.name for arm in chosen))
    if baseline is not None and baseline not in names:
        raise UsageError(f"--baseline {baseline}: is none of the arms; choose {' or '.join(names)}")
    check_form(form, len(names))
    work(
        RunOptions(
            loop=LoopOptions(
                model=model,
                prompts=prompts,
                sandbox=o.one_of("--sandbox", sandbox, o.SANDBOXES),
                out=out,
                fresh=not resume,
                as_json=as_json,
            ),
            arms=tuple(chosen),
            suite=suite,
            data=data,
            limit=limit,
            ids=o.id_list(ids),
            picking=Picking(select, shuffle, part),
            checkouts=checkouts,
            workers=workers,
            feedback=o.one_of("--feedback", feedback, ("visible", "generated", "oracle")),
            fallback=o.one_of("--fallback", fallback, ("single",)) is not None,
            show=show,
            form="json" if as_json else form,
            baseline=baseline or names[0],
            reuse=reuse,
            require_trust=require_trust,
            tools=o.one_of("--tools", tools, o.TOOL_USES),
            steps=steps,
            bank=BankOptions(bank, recall, learn, withhold, embedder, judge=judge),
        )
    )
