"""`hardwon fix`: a repository, and a command in it that must succeed."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hardwon.cli import options as o

_BACKENDS = ("auto", "bubblewrap", "process", "podman", "docker")


def fix(
    check: Annotated[str, typer.Option("--check", help="The command that has to succeed, such as 'pytest -q'.")],
    repo: Annotated[Path, typer.Argument(metavar="REPO", help="A git repository; it is only read.")] = Path(),
    task: Annotated[str | None, typer.Option("--task", help="What is wrong, in words.", show_default=False)] = None,
    issue: Annotated[
        Path | None, typer.Option("--issue", help="A file that says what is wrong, or - for standard input.")
    ] = None,
    apply: Annotated[
        bool, typer.Option("--apply", help="Put a change that solves it on a new branch; your tree stays as it is.")
    ] = False,
    base: Annotated[str | None, typer.Option("--base", help="The commit to work on.", show_default="HEAD")] = None,
    include_dirty: Annotated[
        bool | None,
        typer.Option(
            "--include-dirty/--leave-dirty",
            help="Work on what is not committed yet too, or on the last commit.",
            show_default="asks",
        ),
    ] = None,
    protect: Annotated[
        list[str] | None,
        typer.Option(
            "--protect",
            metavar="PATTERN",
            help="Files that stay as they are for the check, beside those of the tests that fail now.",
        ),
    ] = None,
    setup: Annotated[str | None, typer.Option("--setup", help="A command to run first in each new tree.")] = None,
    mount: Annotated[
        list[str] | None,
        typer.Option(
            "--mount",
            metavar="FOLDER",
            help="Show a folder read-only: one that git ignores (.venv, node_modules), or one outside.",
        ),
    ] = None,
    env: Annotated[
        list[str] | None, typer.Option("--env", metavar="NAME", help="Let commands see this environment variable.")
    ] = None,
    network: Annotated[bool, typer.Option("--network", help="Let commands reach the network.")] = False,
    image: Annotated[
        str | None, typer.Option("--image", help="The container image, with --sandbox podman or docker.")
    ] = None,
    model: o.ModelName = None,
    strategy: o.StrategyName = "reflexion",
    settings: o.Settings = None,
    trials: o.Trials = None,
    budget: o.BudgetText = "",
    steps: Annotated[int, typer.Option("--steps", min=1, help="Most commands of one attempt.")] = 40,
    context: Annotated[
        int, typer.Option("--context", min=2000, help="Tokens of the conversation that the model is shown.")
    ] = 6000,
    command_timeout: Annotated[
        float, typer.Option("--command-timeout", min=0.1, max=86400, help="Seconds for one command of the agent.")
    ] = 60.0,
    check_timeout: Annotated[
        float, typer.Option("--check-timeout", min=0.1, max=86400, help="Seconds for one check.")
    ] = 600.0,
    seed: o.Seed = 0,
    out: o.Out = None,
    resume: o.Resume = True,
    temperature: o.Temperature = 0.0,
    max_tokens: o.MaxTokens = 1024,
    prompts: o.Prompts = None,
    tools: o.Tools = "auto",
    sandbox: Annotated[
        str | None,
        typer.Option("--sandbox", help="auto, bubblewrap, process, podman or docker.", show_default="auto"),
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Do not tell trials and lessons.")] = False,
    as_json: o.Json = False,
) -> None:
    """Mend a repository so that a command succeeds; prints the change.

    Leaves with 0 when it is solved, 1 when not, 2 on bad input, 3 when something else was in the way.
    """
    from hardwon.cli.fixing import FixOptions, fix_repository
    from hardwon.cli.loop import ArmOptions, LoopOptions

    arm = ArmOptions(budget, temperature, max_tokens).arm(strategy, o.strategy_settings(settings, trials), seed)
    loop = LoopOptions(model=model, prompts=prompts, sandbox=None, out=out, fresh=not resume, as_json=as_json)
    fix_repository(
        FixOptions(
            loop=loop,
            arm=arm,
            repo=repo,
            check=check,
            task=task,
            issue=issue,
            apply=apply,
            base=base,
            include_dirty=include_dirty,
            protect=tuple(protect or ()),
            setup=setup,
            mounts=tuple(mount or ()),
            env=tuple(env or ()),
            network=network,
            image=image,
            steps=steps,
            context=context,
            command_timeout=command_timeout,
            check_timeout=check_timeout,
            sandbox=o.one_of("--sandbox", sandbox, _BACKENDS) or "auto",
            quiet=quiet,
            tools=o.one_of("--tools", tools, o.TOOL_USES),
        )
    )
