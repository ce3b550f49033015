"""`hardwon suites`: which tasks there are, and what one needs to know before working them."""

from __future__ import annotations

from typing import Annotated

import typer

from hardwon.cli.options import Json


def suites(
    name: Annotated[
        str | None,
        typer.Argument(metavar="[NAME]", help="One suite, or a .jsonl file of your own.", show_default=False),
    ] = None,
    as_json: Json = False,
) -> None:
    """List the suites of tasks, or tell of one its data format, its settings and a command to start with."""
    import json

    from hardwon.cli.plain import printable
    from hardwon.cli.showing import terminal_width
    from hardwon.cli.suite_facts import all_facts, facts_named, list_lines, one_lines

    if name is None:
        found = all_facts()
        lines = list_lines(found, terminal_width())
        told: object = [each.as_json() for each in found]
    else:
        one = facts_named(name)
        lines, told = one_lines(one, terminal_width()), one.as_json()
    typer.echo(json.dumps(told, indent=2) if as_json else printable("\n".join(lines)))
