"""Options that several commands share, and how their texts are read."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from hardwon.errors import UsageError

SANDBOXES = ("auto", "bubblewrap", "process")
TOOL_USES = ("auto", "text", "native")
STATES = ("provisional", "active", "quarantined", "superseded", "pinned")

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
StrategyName = Annotated[
    str,
    typer.Option(
        "--strategy", "-s", help="How the budget is spent: single, reflexion, best_of_n, auto, … or a plug-in's."
    ),
]
Settings = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help="A setting of the strategy, such as trials=5, memory=all, show=last.",
    ),
]
Trials = Annotated[
    int | None,
    typer.Option(
        "--trials",
        help="Most trials a task (short for --set trials=N). A loop ends earlier where they repeat (--set patience=N).",
    ),
]
BudgetText = Annotated[
    str,
    typer.Option(
        "--budget",
        help="Limits of each task: calls=N,tokens=N,usd=X,seconds=S. An agent takes a call a step.",
        show_default="none",
    ),
]
SuiteName = Annotated[
    str,
    typer.Argument(metavar="SUITE", help="starter, humaneval, mbpp, hotpotqa, … or a .jsonl file of your own."),
]
Data = Annotated[
    Path | None, typer.Option("--data", help="The suite's data: JSON, JSONL or .gz; some take a folder or settings.")
]
Limit = Annotated[int | None, typer.Option("--limit", min=1, help="Only the first N tasks (of what the rest picks).")]
Ids = Annotated[str | None, typer.Option("--ids", help="Only these tasks: a,b,c.")]
Select = Annotated[str | None, typer.Option("--select", metavar="REGEX", help="Only tasks in whose id this is found.")]
Shuffle = Annotated[
    int | None, typer.Option("--shuffle", metavar="SEED", help="In another order; the same for the same seed.")
]
Slice = Annotated[
    str | None, typer.Option("--slice", metavar="A:B", help="Of those, the tasks from position A to before B.")
]
Checkouts = Annotated[
    Path | None,
    typer.Option("--checkouts", help="swebench: a JSON or TOML file that maps repositories to local folders."),
]
Workers = Annotated[int | None, typer.Option("--workers", min=1, help="Tasks worked on at once.", show_default="4")]
FeedbackName = Annotated[
    str | None,
    typer.Option(
        "--feedback",
        help="What the loop may learn from: visible, generated (self-written tests) or oracle (the hidden answer's "
        "verdict, labelled everywhere). Default: by the suite.",
    ),
]
Out = Annotated[Path | None, typer.Option("--out", help="The run folder. Default: runs/NAME, by the settings.")]
Resume = Annotated[bool, typer.Option("--resume/--fresh", help="Go on with the run in the folder, or discard it.")]
Show = Annotated[bool, typer.Option("--show", help="Tell each trial and lesson as it happens.")]
Temperature = Annotated[float, typer.Option("--temperature", min=0, max=2, help="Of the first attempt.")]
MaxTokens = Annotated[int, typer.Option("--max-tokens", min=1, help="Most tokens of one reply.")]
Seed = Annotated[int, typer.Option("--seed", min=0, max=2**31 - 1, help="Sampling seed.")]
Prompts = Annotated[
    Path | None, typer.Option("--prompts", help="A folder of your own prompts, laid out ROOM/NAME.txt.")
]
SandboxName = Annotated[str | None, typer.Option("--sandbox", help="auto, bubblewrap or process.", show_default="auto")]
Tools = Annotated[
    str,
    typer.Option("--tools", help="How agents act: native tool calls, text, or auto: native with hosted models."),
]
Steps = Annotated[
    int | None,
    typer.Option(
        "--steps",
        min=1,
        max=1000,
        metavar="N",
        help="Most actions of an agent's episode. Default: the suite's.",
        show_default=False,
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON for programs.")]
Fallback = Annotated[
    str | None,
    typer.Option(
        "--fallback", help="`single`: without feedback run one pass, instead of refusing.", show_default=False
    ),
]

RequireTrust = Annotated[
    float | None,
    typer.Option(
        "--require-trust",
        metavar="P",
        help="Audit the tasks first; those whose feedback has a trust below P (0 to 1) get one pass, without a loop.",
        show_default=False,
    ),
]

BankPlace = Annotated[
    str | None,
    typer.Option(
        "--bank",
        metavar="PATH",
        help="The reasoning bank: a file, or postgresql://… Default: $HARDWON_BANK, else one in your data folder.",
        show_default=False,
    ),
]
Recall = Annotated[
    int | None, typer.Option("--recall", min=1, metavar="K", help="Show each task at most K items of the bank.")
]
Learn = Annotated[
    str | None,
    typer.Option(
        "--learn",
        metavar="WHEN",
        help="Admit to the bank what tasks teach: `next` for the next run, `stream` for the tasks after it too.",
    ),
]
Withhold = Annotated[
    float,
    typer.Option("--withhold", metavar="P", help="Chance that a recalled item is held back, to measure its effect."),
]
Judge = Annotated[
    bool,
    typer.Option("--judge", help="Let the model judge what nothing verified, so that the bank learns from it too."),
]
EmbedderName = Annotated[
    str | None,
    typer.Option(
        "--embedder",
        help="How the bank compares meaning: minilm, none (words alone), openai:…, ollama:…, http://HOST:PORT/v1#NAME.",
        show_default="auto",
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


def id_list(text: str | None) -> tuple[str, ...] | None:
    """The ids in `a,b,c`; None where nothing was asked for."""
    return None if text is None else tuple(part.strip() for part in text.split(",") if part.strip())


def one_of(option: str, value: str | None, choices: Sequence[str]) -> Any:
    """`value`, which must be one of the choices or None. Raises UsageError."""
    if value is not None and value not in choices:
        raise UsageError(f"{option} {value}: unknown; choose {' or '.join(choices)}")
    return value
