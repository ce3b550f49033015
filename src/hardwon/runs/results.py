"""Results: queries over the journal, and the `results.jsonl` that is made from them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

from hardwon.errors import UsageError
from hardwon.runs.folder import RESULTS, json_line, write_text
from hardwon.runs.journal import FILE, Journal, Key
from hardwon.runs.row import Row


def rows(journal: Journal) -> Iterator[Row]:
    """The row of every task that finished, or that an error ended, in the order of `natural`.

    Raises UsageError, with the file and the task, for a row of another version.
    """
    latest: dict[Key, object] = {key: payload.get("row") for key, _, payload in journal.payloads("error")}
    latest |= {key: payload for key, _, payload in journal.payloads("row")}
    for key in sorted(latest, key=lambda k: (natural(k.task_id), k.arm, k.seed)):
        try:
            row = Row.from_json(latest[key])
        except UsageError as error:
            raise UsageError(f"{journal.path}: task {key.task_id}: {error}") from error
        yield row


def natural(text: str) -> list[tuple[bool, int, str]]:
    """A sort key under which `HumanEval/2` comes before `HumanEval/10`."""
    parts = re.split(r"([0-9]+)", text)
    return [
        (n % 2 == 0, len(part.lstrip("0")) if n % 2 else 0, part.lstrip("0") or part) for n, part in enumerate(parts)
    ]


def write_results(out: Path, journal: Journal) -> None:
    """Writes `results.jsonl`, sorted by task, whole or not at all."""
    lines = (json_line(row.as_json()) for row in rows(journal))
    write_text(out / RESULTS, "".join(lines))


def read_rows(out: Path) -> list[Row]:
    """The rows of the run in a folder, finished or not. Raises UsageError when there is no run to read."""
    if (out / FILE).is_file():
        journal = Journal(out / FILE, read_only=True)
        try:
            return list(rows(journal))
        finally:
            journal.close()
    path = out / RESULTS
    if not path.is_file():
        raise UsageError(f"{out}: no run folder (it has no {FILE}); give the folder that `hardwon run` made")
    try:
        lines = path.read_text(encoding="utf-8").split("\n")
    except (OSError, ValueError) as error:
        raise UsageError(f"{path}: does not read ({error}); give another run folder") from error
    return [_row(line, f"{path}:{number}") for number, line in enumerate(lines, 1) if line.strip()]


def _row(line: str, place: str) -> Row:
    try:
        return Row.from_json(json.loads(line))
    except UsageError as error:
        raise UsageError(f"{place}: {error}") from error
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{place}: does not read ({error}); give another run folder") from error
