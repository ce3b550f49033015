"""Carries a run out: the folder, the runner, what is shown, and `results.jsonl` whatever happens."""

from __future__ import annotations

import asyncio
import hashlib
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hardwon.actors.program import ProgramActor
from hardwon.budget import Budget
from hardwon.cli.progress import Watching
from hardwon.errors import InfrastructureError, UsageError
from hardwon.models.protocol import Model
from hardwon.runs.folder import CONFIG, open_folder, read_config
from hardwon.runs.journal import FILE
from hardwon.runs.results import rows, write_results
from hardwon.runs.runner import Arm, Runner
from hardwon.runs.settings import settings_id
from hardwon.runs.summary import Summary, summarise
from hardwon.task import Task


async def carry_out(
    config: dict[str, Any],
    out: Path,
    tasks: Sequence[Task],
    arm: Arm,
    model: Model,
    *,
    workers: int,
    fresh: bool,
    show: bool,
) -> list[Summary]:
    """Runs `tasks` in the folder `out` and summarises what its journal then holds.

    Raises UsageError, JournalError, InfrastructureError; results are written first, and the message says how to go on.
    """
    _say_changed_model(out, config, fresh)
    with open_folder(out, config, fresh=fresh) as journal:
        watching = Watching(show=show)
        runner = Runner(journal, model, ProgramActor(), workers=workers, observer=watching)
        print(f"run folder {out}", file=sys.stderr)
        try:
            with watching:
                await runner.run(tasks, [arm])
        except asyncio.CancelledError:
            print(f"stopped; the same command goes on from here (run folder {out})", file=sys.stderr)
            raise
        except InfrastructureError as error:
            raise type(error)(f"{error} (run folder {out}; the same command goes on from here)") from error
        finally:
            write_results(out, journal)
        return summarise(rows(journal))


def run_folder(config: dict[str, Any], arm: str) -> Path:
    """Where a run goes when the user names no folder: `runs/NAME`, the same for the same settings."""
    settings = config["settings"]
    parts = (Path(settings["suite"]).stem, arm, settings["model"].rpartition("/")[2], settings_id(config))
    return Path("runs") / "-".join(re.sub(r"[^\w.]+", "-", part).strip("-") for part in parts)


def need_price(budget: Budget, model: Model) -> None:
    """Raises UsageError for a dollar budget on a model whose price is not known (law 9)."""
    if budget.usd is not None and not model.price_known:
        raise UsageError(f"--budget usd: the price of {model.name} is not known; limit tokens or calls instead")


def about_model(name: str) -> dict[str, Any]:
    """What is recorded of a model that answers from a file: the file's digest, since its name says nothing of it."""
    kind, _, place = name.partition(":")
    path = Path(place)
    if kind == "replay" and path.is_dir():
        path = path / FILE
    return {"model_sha256": sha256(path)} if kind in ("script", "replay") and path.is_file() else {}


def sha256(path: Path) -> str:
    """The SHA-256 of a file. Raises UsageError when it can not be read."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}; give a file that can be read") from error


def _say_changed_model(out: Path, config: dict[str, Any], fresh: bool) -> None:
    """A script or journal that was edited is another model by the same name; what it said before stays as it was."""
    if fresh or not (out / CONFIG).is_file():
        return
    before = read_config(out).get("about", {})
    now = config.get("about", {})
    if isinstance(before, dict) and before.get("model_sha256") != now.get("model_sha256"):
        print(
            f"the file of {config['settings']['model']} has changed since this run began; finished steps stay as they "
            "are (--fresh starts anew)",
            file=sys.stderr,
        )
