"""`hardwon report`: what a run came to."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hardwon.cli.options import Json


def report(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A run folder.")],
    form: Annotated[
        str, typer.Option("--format", help="table, json, markdown; html, png, svg are written to a file.")
    ] = "table",
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Where a file goes. Default: into the run folder.")
    ] = None,
    decisions: Annotated[
        bool, typer.Option("--decisions", help="Tell what the strategy decided on each task, and why.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Show a run's solve rate with its interval, trials, tokens, cost per solved task and time.

    Of work in repositories it also counts which stage the instances reached and what ended them.
    """
    from hardwon.cli.plain import one_line
    from hardwon.cli.showing import check_form, show
    from hardwon.errors import UsageError
    from hardwon.runs.decisions import told
    from hardwon.runs.folder import read_config
    from hardwon.runs.results import read_rows

    if as_json and form not in ("table", "json"):
        raise UsageError(f"--json and --format {form} ask for two things; give one of them")
    form = "json" if as_json else form
    config = read_config(folder)
    check_form(form, len(config["settings"].get("arms", {})))
    rows = read_rows(folder)
    if decisions:
        for line in told(folder, as_json=form == "json"):
            typer.echo(line if form == "json" else one_line(line, 1000))
        return
    if not rows and form != "json":
        typer.echo("No task has finished yet.")
        return
    show(folder, config, rows, form, output)
