"""`hardwon view`: look inside runs, in the browser."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hardwon.cli.options import BankPlace


def view(
    folders: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="[DIR]...", help="Run folders, or folders that hold them. Default: runs.", show_default=False
        ),
    ] = None,
    port: Annotated[
        int, typer.Option("--port", min=0, max=65535, help="Where to listen. Default: any that is free.")
    ] = 0,
    export: Annotated[
        Path | None,
        typer.Option("--export", metavar="DIR", help="Write the pages as files into a new folder, to share them."),
    ] = None,
    bank: BankPlace = None,
    browser: Annotated[bool, typer.Option("--browser", help="Open the address in the browser.")] = False,
) -> None:
    """Look inside runs: what was tried, what the checks said, what was learned; live while a run goes on.

    Listens on this machine only; the address holds a token that changes each time.
    """
    from hardwon.errors import UsageError

    places = folders or [Path("runs")]
    try:
        if export is not None:
            from hardwon.view.export import export_pages

            typer.echo(str(export_pages(places, export)))
            return
        from hardwon.view.serve import serve
    except ImportError as error:
        raise UsageError(f"hardwon view needs the package {error.name}; pip install 'hardwon[view]'") from error

    def ready(address: str) -> None:
        typer.echo(f"Look at {address}\nCtrl-C ends the view; runs go on.")
        if browser:
            import webbrowser

            webbrowser.open(address)

    serve(places, port, ready, bank)
