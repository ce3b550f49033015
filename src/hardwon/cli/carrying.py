"""Carries a run out: the folder, the runner, what is shown, and `results.jsonl` whatever happens."""

from __future__ import annotations

import asyncio
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
from hardwon.runs.folder import open_folder
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
