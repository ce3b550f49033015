"""`hardwon solve`: one prompt, and a command that decides success."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hardwon.cli import options as o


def solve(
    prompt: Annotated[str, typer.Option("--prompt", help="A file with the task, or - for standard input.")],
    check: Annotated[str, typer.Option("--check", help="The command that decides: exit status 0 is solved.")],
    workdir: Annotated[
        Path | None, typer.Option("--workdir", help="A folder the command needs; it works on a private copy.")
    ] = None,
    output: Annotated[
        Path,
        typer.Option("--output", "-o", help="Where the program is written; its name is what the command finds."),
    ] = Path("solution.py"),
    model: o.ModelName = None,
    strategy: o.StrategyName = "reflexion",
    settings: o.Settings = None,
    trials: o.Trials = None,
    budget: o.BudgetText = "",
    check_timeout: Annotated[
        float, typer.Option("--check-timeout", min=0.1, max=86400, help="Seconds for one check.")
    ] = 60.0,
    network: Annotated[bool, typer.Option("--network", help="Let the command reach the network.")] = False,
    seed: o.Seed = 0,
    out: o.Out = None,
    resume: o.Resume = True,
    temperature: o.Temperature = 0.0,
    max_tokens: o.MaxTokens = 1024,
    prompts: o.Prompts = None,
    sandbox: o.SandboxName = None,
    bank: o.BankPlace = None,
    recall: o.Recall = None,
    learn: o.Learn = None,
    withhold: o.Withhold = 0.1,
    embedder: o.EmbedderName = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Do not tell trials and lessons.")] = False,
    as_json: o.Json = False,
) -> None:
    """Write a program that makes a command succeed.

    Leaves with 0 when it is solved, 1 when not, 2 on bad input, 3 when something else was in the way.
    """
    from hardwon.cli.banking import BankOptions
    from hardwon.cli.loop import ArmOptions, LoopOptions
    from hardwon.cli.solving import SolveOptions, solve_one

    arm = ArmOptions(budget, temperature, max_tokens).arm(strategy, o.strategy_settings(settings, trials), seed)
    loop = LoopOptions(
        model=model,
        prompts=prompts,
        sandbox=o.one_of("--sandbox", sandbox, o.SANDBOXES),
        out=out,
        fresh=not resume,
        as_json=as_json,
    )
    banked = BankOptions(bank, recall, learn, withhold, embedder, by_text=True)
    solve_one(SolveOptions(loop, arm, prompt, check, workdir, output, check_timeout, network, quiet, banked))
