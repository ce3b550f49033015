"""The `hardwon` command: its subcommands, and how errors leave it."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from hardwon.cli.doctor import doctor
from hardwon.cli.export import export
from hardwon.cli.models import models
from hardwon.cli.report import report
from hardwon.cli.run import run
from hardwon.cli.solve import solve
from hardwon.errors import HardwonError

app = typer.Typer(
    name="hardwon",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Make language-model agents learn from verified failure: act, be checked, reflect, try again.",
)
app.command()(run)
app.command()(solve)
app.command()(report)
app.command()(export)
app.command()(doctor)
app.add_typer(models, name="models")


def _version(wanted: bool) -> None:
    if wanted:
        from hardwon import __version__

        typer.echo(f"hardwon {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Make language-model agents learn from verified failure: act, be checked, reflect, try again."""


def main() -> None:
    """Runs the command line. Bad input leaves with 2, infrastructure trouble with 3, an interruption with 130."""
    try:
        app()
    except HardwonError as error:
        print(f"hardwon: {' '.join(str(error).split())}", file=sys.stderr)
        sys.exit(error.exit_code)
    except KeyboardInterrupt:
        sys.exit(130)
