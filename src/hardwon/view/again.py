"""The command that runs one task of a run again, with the settings that the run was made with or with others."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hardwon.errors import UsageError
from hardwon.memory.bank.place import open_bank
from hardwon.runs.journal import Key
from hardwon.runs.settings import sha256
from hardwon.suites.registry import suites
from hardwon.view.changeable import Made, all_text

_SAMPLING = (("temperature", "--temperature"), ("max_tokens", "--max-tokens"))
_COMMANDS = ("solve", "fix")
"""What they check is not in their run folder."""


def command_for(
    config: Mapping[str, Any],
    folder: Path,
    key: Key,
    made: Made,
    *,
    settings: Mapping[str, str],
    model: str | None = None,
    budget: str | None = None,
) -> list[str]:
    """The command, without `--out`. Raises UsageError for a run of which a task can not be run again by itself."""
    known, about = config["settings"], config.get("about", {})
    suite, data = str(known.get("suite")), about.get("data")
    if data is None and suite in _COMMANDS:
        raise UsageError(
            f"{folder.name}: was made by hardwon {suite}, and its check is not in the run folder; only tasks of "
            "hardwon run and hardwon compare can be branched"
        )
    if suite.startswith("-"):
        raise UsageError(f"{suite}: is no suite")
    _check_data(data, about.get("data_sha256"))
    named = suite in suites()
    command = [sys.executable, "-m", "hardwon", "run", suite if named else str(data or suite)]
    if named and data is not None:
        command += ["--data", str(data)]
    command += ["--model", model or made.model, "--strategy", made.strategy, "--seed", str(key.seed)]
    command += ["--select", f"^{re.escape(key.task_id)}$", "--workers", "1"]
    if known.get("feedback") in ("visible", "generated", "oracle"):
        command += ["--feedback", known["feedback"]]
    if known.get("require_trust") is not None:
        command += ["--require-trust", str(known["require_trust"])]
    if about.get("prompts"):
        command += ["--prompts", str(about["prompts"])]
    if limits := made.budget if budget is None else budget:
        command += ["--budget", limits]
    for name, option in _SAMPLING:
        if name in known.get("sampling", {}):
            command += [option, str(known["sampling"][name])]
    for name, value in {**all_text(made), **settings}.items():
        command += ["--set", f"{name}={value}"]
    return command


def bank_options(config: Mapping[str, Any], arm: str, place: str | None) -> list[str]:
    """The options with which a task has again what its arm recalled from the reasoning bank; none where it had none.

    Raises UsageError where the bank at `place` is another one.
    """
    had = config["settings"].get("bank")
    if not isinstance(had, Mapping) or not had.get("recall") or arm not in (had.get("arms") or (arm,)):
        return []
    bank = open_bank(place, make=False)
    try:
        if bank.id != had.get("id"):
            raise UsageError(
                f"{bank.name}: is not the reasoning bank that the run had; start hardwon view with --bank and that one"
            )
    finally:
        bank.close()
    most = had.get("limits", {}).get("most", 1)
    return ["--recall", str(most), "--withhold", str(had.get("withhold", 0.0)), "--embedder", "none"]


def _check_data(data: str | None, digest: str | None) -> None:
    if data is None:
        return
    path = Path(data)
    if not path.exists():
        raise UsageError(
            f"{data}: the run's data is not there; start hardwon view in the folder the run was started in"
        )
    if digest is not None and path.is_file() and sha256(path) != digest:
        raise UsageError(f"{data}: has changed since the run was made, so its tasks can not be branched")
