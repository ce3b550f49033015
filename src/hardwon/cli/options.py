"""Options that several commands share, and how their texts are read."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from hardwon.errors import UsageError

SANDBOXES = ("auto", "bubblewrap", "process")

ModelName = Annotated[
    str | None,
    typer.Option(
        "--model",
        "-m",
        help="openai:…, anthropic:…, google:…, ollama:…, http://HOST:PORT/v1#NAME, local:qwen2.5-coder-1.5b, "
        "replay:PATH, script:PATH. Default: the configured one, else the embedded 1.5B model.",
        show_default=False,
    ),
]
StrategyName = Annotated[str, typer.Option("--strategy", "-s", help="single, reflexion, or a plug-in's.")]
Settings = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help="A setting of the strategy, such as trials=5, memory=all, show=last.",
    ),
]
Trials = Annotated[int | None, typer.Option("--trials", help="Most trials a task (short for --set trials=N).")]
BudgetText = Annotated[
    str,
    typer.Option("--budget", help="Limits of each task: calls=N,tokens=N,usd=X,seconds=S.", show_default="none"),
]
Temperature = Annotated[float, typer.Option("--temperature", min=0, max=2, help="Of the first attempt.")]
MaxTokens = Annotated[int, typer.Option("--max-tokens", min=1, help="Most tokens of one attempt.")]
Seed = Annotated[int, typer.Option("--seed", min=0, max=2**31 - 1, help="Sampling seed.")]
Prompts = Annotated[
    Path | None, typer.Option("--prompts", help="A folder of your own prompts, laid out ROOM/NAME.txt.")
]
SandboxName = Annotated[str | None, typer.Option("--sandbox", help="auto, bubblewrap or process.", show_default="auto")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON for programs.")]
Fallback = Annotated[
    str | None,
    typer.Option(
        "--fallback", help="`single`: without feedback run one pass, instead of refusing.", show_default=False
    ),
]


def strategy_settings(pairs: Sequence[str] | None, trials: int | None) -> dict[str, str]:
    """`--set` pairs and `--trials` as one mapping. Raises UsageError for a malformed or doubled setting."""
    settings: dict[str, str] = {}
    for pair in [*(pairs or []), *([f"trials={trials}"] if trials is not None else [])]:
        name, equals, value = pair.partition("=")
        if not equals or not name:
            raise UsageError(f"--set {pair}: want KEY=VALUE, such as trials=5")
        if name in settings:
            raise UsageError(f"--set {name} is given twice; give it once")
        settings[name] = value
    return settings


def one_of(option: str, value: str | None, choices: Sequence[str]) -> Any:
    """`value`, which must be one of the choices or None. Raises UsageError."""
    if value is not None and value not in choices:
        raise UsageError(f"{option} {value}: unknown; choose {' or '.join(choices)}")
    return value
