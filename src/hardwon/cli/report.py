"""`hardwon report`: what a run came to."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hardwon.cli.options import Json


def report(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A run folder.")],
    form: Annotated[str, typer.Option("--format", help="table, json or markdown.")] = "table",
    as_json: Json = False,
) -> None:
    """Show a run's solve rate with its interval, trials, tokens, cost per solved task and time."""
    from hardwon.errors import UsageError
    from hardwon.runs import report as reports
    from hardwon.runs.folder import read_config
    from hardwon.runs.results import read_rows
    from hardwon.runs.summary import summarise

    forms = {"table": reports.as_table, "json": reports.as_json, "markdown": reports.as_markdown}
    if form not in forms:
        raise UsageError(f"--format {form}: unknown; choose {', '.join(forms)}")
    config = read_config(folder)
    rows = read_rows(folder)
    if not rows and not as_json and form != "json":
        typer.echo("No task has finished yet.")
        return
    typer.echo(forms["json" if as_json else form](config, summarise(rows)))
