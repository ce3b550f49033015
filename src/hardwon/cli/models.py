"""`hardwon models`: which models can be used, and fetching the embedded ones."""

from __future__ import annotations

from typing import Annotated

import typer

from hardwon.cli.options import Json

models = typer.Typer(no_args_is_help=True, help="List the models that can be used, or fetch an embedded one.")


@models.command("list")
def list_models(as_json: Json = False) -> None:
    """List the forms of model names, and which can be used now."""
    import json

    from hardwon.cli.examine import model_states

    states = model_states()
    if as_json:
        typer.echo(json.dumps([state.as_json() for state in states], indent=2))
        return
    width = max(len(state.name) for state in states)
    for state in states:
        typer.echo(f"{state.name.ljust(width)}  {'ready' if state.ready else state.mend}")


@models.command("pull")
def pull(
    name: Annotated[str, typer.Argument(help="local:qwen2.5-coder-1.5b or local:qwen2.5-coder-0.5b.")],
) -> None:
    """Fetch an embedded model's weights, check their digest, and keep them."""
    from hardwon.cli.weights import pull_shown
    from hardwon.models.weights import weights_named

    pull_shown(weights_named(name).name)
