"""`hardwon doctor`: what is in force on this machine, and what is missing."""

from __future__ import annotations

import typer

from hardwon.cli.options import Json, SandboxName


def doctor(sandbox: SandboxName = None, as_json: Json = False) -> None:
    """Show which isolation is in force, which models and games can be used, and how to mend what is missing."""
    import asyncio
    import json

    from hardwon.cli.examine import examine
    from hardwon.cli.games import games_state

    found, games = asyncio.run(examine(sandbox)), games_state()
    if as_json:
        typer.echo(json.dumps(found.as_json() | {"games": games.as_json()}, indent=2))
    else:
        typer.echo("\n".join([found.as_text(), *games.as_lines()]))
    if not found.usable:
        raise typer.Exit(3)
