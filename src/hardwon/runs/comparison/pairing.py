"""Which rows of two arms belong together: those of the same task and seed, graded in both."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from hardwon.runs.row import Row


@dataclass(frozen=True, slots=True)
class Paired:
    """The rows (arm's, baseline's) of each pair that is graded in both, and how many are in one of them only."""

    pairs: tuple[tuple[Row, Row], ...]
    left_out: int


def paired(rows: Iterable[Row], arm: str, baseline: str) -> Paired:
    """Pairs two arms' rows by task and seed, in the order of the arm's rows."""
    found: dict[str, dict[tuple[str, int], Row]] = {arm: {}, baseline: {}}
    for row in rows:
        if row.arm in found:
            found[row.arm][row.task_id, row.seed] = row
    both = [(row, found[baseline][key]) for key, row in found[arm].items() if key in found[baseline]]
    pairs = tuple((a, b) for a, b in both if a.solved is not None and b.solved is not None)
    return Paired(pairs, len(found[arm].keys() | found[baseline].keys()) - len(pairs))


def differences(pairs: Sequence[tuple[Row, Row]]) -> dict[str, list[int]]:
    """For each task, one difference a seed: 1 where only the arm solved it, -1 where only the baseline did, else 0."""
    tasks: dict[str, list[int]] = {}
    for a, b in pairs:
        tasks.setdefault(a.task_id, []).append(int(bool(a.solved)) - int(bool(b.solved)))
    return tasks
