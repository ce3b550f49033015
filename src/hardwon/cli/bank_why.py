"""`hardwon bank why`: what a run or one of its tasks recalled, and what came of it, as the run's journal has it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import typer

from hardwon.cli.plain import one_line
from hardwon.errors import UsageError
from hardwon.runs.bank_overview import Overview, overview
from hardwon.runs.folder import read_config
from hardwon.runs.journal import FILE, Journal


def explain(run: Path, task: str | None, as_json: bool) -> None:
    """Of one task, or of the run as a whole. Raises UsageError for a folder without such a task, or without a bank."""
    read_config(run)
    journal = Journal(run / FILE, read_only=True)
    try:
        if task is None:
            _show_run(overview(journal, run), as_json)
            return
        told = _told(journal, run, task)
    finally:
        journal.close()
    if as_json:
        typer.echo(json.dumps(told, indent=2, ensure_ascii=False))
        return
    for entry in told:
        _show(entry)


def _show_run(found: Overview, as_json: bool) -> None:
    if as_json:
        typer.echo(json.dumps(found.as_json(), indent=2, ensure_ascii=False))
        return
    typer.echo(f"bank {found.bank} at snapshot {found.snapshot}")
    typer.echo(f"{found.recalled} of {found.asked} tasks recalled something; {found.withheld} items withheld by chance")
    typer.echo(f"{found.taught} tasks taught {found.items} items; {found.dropped} replies or items dropped")
    for reason, count in found.reasons:
        typer.echo(f"  {count} dropped: {one_line(reason)}")
    judge = found.judge
    if judge is not None:
        typer.echo(
            f"the model judge, beside the grader: yes was right {judge.yes.hits} of {judge.yes.of}, no "
            f"{judge.no.hits} of {judge.no.of}, unsure {judge.unsure.hits} of {judge.unsure.of}"
        )


def _told(journal: Journal, run: Path, task: str) -> list[dict[str, Any]]:
    keys = [key for key in journal.keys("task") if key.task_id == task]
    if not keys:
        raise UsageError(f"{run}: has no task {task}; see its results.jsonl")
    told = []
    for key in sorted(keys, key=lambda key: (key.arm, key.seed)):
        record = journal.record(key)
        recalled, induced, admitted = (record.get(kind, 0) for kind in ("recall", "induced", "admitted"))
        if recalled is not None or induced is not None:
            told.append(
                {"arm": key.arm, "seed": key.seed, "recalled": recalled, "taught": induced, "admitted": admitted}
            )
    if not told:
        raise UsageError(f"{run}: {task} was worked without a bank; run with --bank PATH --recall K")
    return told


def _show(entry: dict[str, Any]) -> None:
    typer.echo(f"{entry['arm']}, seed {entry['seed']}")
    recalled, taught = entry["recalled"], entry["taught"]
    if recalled is not None:
        typer.echo(f"  recalled from bank {recalled['bank']} at snapshot {recalled['snapshot']}:")
        for use in recalled["found"]:
            meaning = "" if use["meaning"] is None else f", meaning {use['meaning']:.2f}"
            held = " WITHHELD by chance" if use["withheld"] else ""
            words = ", ".join(use["words"])
            typer.echo(
                f"    {use['item']}  {use['score']:.2f} (words {use['by_words']:.2f}{meaning}: {words}){held}"
                f"  {one_line(use['title'], 70)}"
            )
        if not recalled["found"]:
            typer.echo("    nothing relevant")
    if taught is not None:
        typer.echo(f"  taught, as a {taught['label']} by {taught['labelled_by']}:")
        for item in taught["items"]:
            typer.echo(f"    {item['id']}  {one_line(item['title'], 70)}")
        for reason in taught["dropped"]:
            typer.echo(f"    dropped: {one_line(reason)}")
        if not taught["items"] and not taught["dropped"]:
            typer.echo("    nothing")
