"""Carries a run out: the folder, the runner, what is shown, and `results.jsonl` whatever happens."""

from __future__ import annotations

import asyncio
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from hardwon.budget import Budget
from hardwon.cli.watch_batch import watching
from hardwon.errors import InfrastructureError, UsageError
from hardwon.models.protocol import Model
from hardwon.runs.bank import RunBank
from hardwon.runs.folder import CONFIG, open_folder, read_config
from hardwon.runs.journal import FILE, Journal
from hardwon.runs.results import rows, write_results
from hardwon.runs.row import Row
from hardwon.runs.runner import Arm, Runner
from hardwon.runs.settings import earlier_id, settings_id, sha256
from hardwon.task import Task


async def carry_out(
    config: dict[str, Any],
    out: Path,
    tasks: Sequence[Task],
    arms: Sequence[Arm],
    model: Model,
    *,
    workers: int,
    fresh: bool,
    show: bool,
    compared: bool = False,
    reuse: Path | None = None,
    bank: RunBank | None = None,
) -> list[Row]:
    """Runs `tasks` in every arm in the folder `out`; the rows that its journal then holds.

    Raises UsageError, JournalError, InfrastructureError; results are written first, and the message says how to go on.
    """
    if bank is not None and (fresh or not (out / FILE).exists()):  # of a run that goes on each task sees to it
        bank.need_writable()
    _say_changed_model(out, config, fresh)
    with _earlier(reuse, out, config) as earlier, open_folder(out, config, fresh=fresh) as journal:
        watcher = watching(journal, tasks, show=show, compared=compared)
        runner = Runner(journal, model, workers=workers, observer=watcher, compared=compared, reuse=earlier, bank=bank)
        print(f"run folder {out}", file=sys.stderr)
        try:
            with watcher:
                await runner.run(tasks, arms)
        except asyncio.CancelledError:
            print(f"stopped; the same command goes on from here (run folder {out})", file=sys.stderr)
            raise
        except InfrastructureError as error:
            raise type(error)(f"{error} (run folder {out}; the same command goes on from here)") from error
        finally:
            write_results(out, journal)
        return list(rows(journal))


@contextmanager
def _earlier(folder: Path | None, out: Path, config: dict[str, Any]) -> Iterator[list[Journal]]:
    """The journal whose calls are not to be paid again. Raises UsageError where another model answered them."""
    if folder is None:
        yield []
        return
    if folder.resolve() == out.resolve():
        raise UsageError(f"--reuse {folder}: is the folder of --out, which goes on by itself; leave --reuse out")
    theirs, ours = read_config(folder)["settings"].get("model"), config["settings"]["model"]
    if theirs != ours:
        raise UsageError(f"--reuse {folder}: its model is {theirs}, not {ours}; give a run of the same model")
    said, now = (each.get("about", {}).get("model_sha256") for each in (read_config(folder), config))
    if said != now:
        raise UsageError(f"--reuse {folder}: the file of {ours} has changed since; leave --reuse out")
    journal = Journal(folder / FILE, read_only=True)
    try:
        yield [journal]
    finally:
        journal.close()


def run_folder(config: dict[str, Any], arm: str) -> Path:
    """Where a run goes when the user names no folder: `runs/NAME`, the same for the same settings."""
    settings = config["settings"]
    known, earlier = (
        (Path(settings["suite"]).stem, arm, settings["model"].rpartition("/")[2], name)
        for name in (settings_id(config), earlier_id(config))
    )
    return next((place for place in map(_place, (known, earlier)) if place.exists()), _place(known))


def _place(parts: tuple[str, ...]) -> Path:
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
