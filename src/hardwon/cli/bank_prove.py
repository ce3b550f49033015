"""`hardwon bank prove`: the paired experiment, one strategy with the bank and without."""

from __future__ import annotations

from typing import Annotated

import typer

from hardwon.cli import options as o


def prove(
    suite: o.SuiteName,
    data: o.Data = None,
    model: o.ModelName = None,
    strategy: Annotated[
        str, typer.Option("--strategy", "-s", help="NAME or NAME:KEY=VALUE:…, run with the bank and without.")
    ] = "reflexion",
    budget: Annotated[
        str, typer.Option("--budget", help="What each arm may spend on each task: tokens=N, calls=N, usd=X.")
    ] = "calls=12",
    place: o.BankPlace = None,
    recall: Annotated[int, typer.Option("--recall", min=1, help="Show each task at most so many items.")] = 3,
    learn: o.Learn = None,
    shuffle: Annotated[bool, typer.Option("--shuffle/--in-order", help="Each seed in an order of its own.")] = True,
    withhold: o.Withhold = 0.1,
    embedder: o.EmbedderName = None,
    seeds: Annotated[int, typer.Option("--seeds", min=1, help="Seeds of each arm.")] = 3,
    seed: o.Seed = 0,
    limit: o.Limit = None,
    ids: o.Ids = None,
    workers: o.Workers = None,
    feedback: o.FeedbackName = None,
    out: o.Out = None,
    resume: o.Resume = True,
    temperature: o.Temperature = 0.0,
    max_tokens: o.MaxTokens = 1024,
    prompts: o.Prompts = None,
    sandbox: o.SandboxName = None,
    as_json: o.Json = False,
) -> None:
    """Measure what the bank is worth: a strategy with it and without, paired, with intervals and a verdict in words.

    By default the bank is only read. `--learn stream` fills it as the tasks go, in each seed's own order; what is
    learned is paid from the task's budget and admitted to the bank, so give it one of its own.
    """
    from hardwon.cli.banking import BankOptions
    from hardwon.cli.loop import ArmOptions, LoopOptions
    from hardwon.cli.working import RunOptions, work

    chosen = ArmOptions(budget, temperature, max_tokens)
    pairs = [chosen.with_and_without(strategy, "+bank", number) for number in range(seed, seed + seeds)]
    arms = tuple(arm for pair in pairs for arm in pair)
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
            arms=arms,
            suite=suite,
            data=data,
            limit=limit,
            ids=o.id_list(ids),
            workers=workers,
            feedback=o.one_of("--feedback", feedback, ("visible", "generated", "oracle")),
            fallback=False,
            show=False,
            form="json" if as_json else "table",
            baseline=arms[0].name,
            bank=BankOptions(place, recall, learn, withhold, embedder, (arms[1].name,), shuffle),
        )
    )
