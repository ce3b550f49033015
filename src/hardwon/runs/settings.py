"""The settings of a run: what it is known by, and what else its configuration records."""

from __future__ import annotations

import hashlib
import json
import platform
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from hardwon import prompts
from hardwon.errors import UsageError
from hardwon.runs.prompts_in_use import prompts_in_use
from hardwon.runs.runner import Arm
from hardwon.strategies.registry import settings_of
from hardwon.task import Task

_RECORDED = (
    "hardwon",
    "pydantic-ai-slim",
    "genai-prices",
    "xllamacpp",
    "numpy",
    "scipy",
    "treequest",
    "onnxruntime",
    "tokenizers",
)


def run_config(
    *,
    suite: str,
    model: str,
    feedback: str,
    arms: Sequence[Arm],
    limits: dict[str, Any],
    about: dict[str, Any],
    tasks: Sequence[Task] | None = None,
    choices: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """The content of `config.json`.

    `settings` is what the run is known by: resuming with any other is refused. `about` and `versions` are facts that
    may differ between sittings (the data file, how many workers, the isolation in force, the selection of tasks).
    `choices` are further settings of the command that change results. The arms share budget and sampling, but the seed.
    Of the prompts those are recorded that the arms can come to use on `tasks`; all, where these are not known yet.
    """
    first = arms[0]
    seeds = sorted({arm.seed for arm in arms})
    settings = {
        "suite": suite,
        "model": model,
        "feedback": feedback,
        "arms": {arm.name: {"strategy": arm.strategy.name, **settings_of(arm.strategy)} for arm in arms},
        "budget": asdict(first.budget),
        "sampling": asdict(first.sampling) if len(seeds) == 1 else {**asdict(first.sampling), "seed": seeds},
        **({"seed": first.seed} if len(seeds) == 1 else {"seeds": seeds}),
        "limits": limits,
        "prompts": prompts.hashes()
        if tasks is None
        else prompts_in_use((arm.strategy for arm in arms), tasks, judged="bank" in (choices or {})),
        **(choices or {}),
    }
    return {"settings": settings, "about": about, "versions": versions()}


def settings_id(config: dict[str, Any]) -> str:
    """A short name of the settings, the same for the same settings."""
    text = json.dumps(config["settings"], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:8]


def earlier_id(config: dict[str, Any]) -> str:
    """The name that the same settings had when every prompt was recorded, so that such a run is found again."""
    return settings_id({"settings": {**config["settings"], "prompts": prompts.hashes()}})


def versions() -> dict[str, str]:
    """The versions that a run was made with; what is not installed is left out."""
    found = {"python": platform.python_version()}
    for name in _RECORDED:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def sha256(path: Path) -> str:
    """The SHA-256 of a file. Raises UsageError when it can not be read."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}; give a file that can be read") from error
