"""The `hardwon` command: its subcommands, and how errors leave it."""

from __future__ import annotations

import os
import sys
from typing import Annotated

import typer

from hardwon.cli.audit import audit
from hardwon.cli.bank import bank
from hardwon.cli.compare import compare
from hardwon.cli.doctor import doctor
from hardwon.cli.export import export
from hardwon.cli.fix import fix
from hardwon.cli.models import models
from hardwon.cli.plain import one_line
from hardwon.cli.plan import plan
from hardwon.cli.report import report
from hardwon.cli.run import run
from hardwon.cli.solve import solve
from hardwon.cli.suites import suites
from hardwon.cli.view import view
from hardwon.cli.watch import watch
from hardwon.errors import HardwonError

_LONGEST = 4000

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
app.command()(fix)
app.command()(compare)
app.command()(plan)
app.command()(audit)
app.command()(report)
app.command()(export)
app.command()(view)
app.command()(watch)
app.command()(suites)
app.command()(doctor)
app.add_typer(bank, name="bank")
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
    """Runs the command line.

    Bad input leaves with 2 and infrastructure trouble with 3, each in one line; an interruption leaves with 130.
    """
    try:
        code = app(standalone_mode=False)
        sys.stdout.flush()
    except HardwonError as error:
        code = _say(str(error), error.exit_code)
    except typer.TyperException as error:
        code = _say(f"{error.format_message()}; see hardwon --help", 2) if str(error) else 2
    except (KeyboardInterrupt, typer.Abort):
        code = 130
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # whoever read the output has gone
        code = 141
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = _say(f"the output could not be written: {error.strerror or error}", 3)
    sys.exit(code)


def _say(text: str, code: int) -> int:
    print(f"hardwon: {one_line(text, _LONGEST)}", file=sys.stderr)
    return code
