"""What a strategy decided on each task, and why, as its journal holds it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from hardwon.runs.folder import json_line
from hardwon.runs.journal import FILE, Journal
from hardwon.runs.results import natural


def told(folder: Path, *, as_json: bool = False) -> Iterator[str]:
    """A line for each decision, by task, arm and seed in the order they were made. Raises UsageError for no journal."""
    journal = Journal(folder / FILE, read_only=True)
    try:
        found = sorted(journal.payloads("decide"), key=lambda d: (natural(d[0].task_id), d[0].arm, d[0].seed, d[1]))
    finally:
        journal.close()
    for key, _, made in found:
        if as_json:
            yield json_line({"task_id": key.task_id, "arm": key.arm, "seed": key.seed, **made}).rstrip("\n")
        else:
            place = f"{key.task_id} · {key.arm} · seed {key.seed} · after trial {made.get('trials', '?')}"
            yield f"{place}: {made.get('action', '?')} ({made.get('reason', '?')})"
    if not found and not as_json:
        yield "The strategies of this run took no decisions of their own."
