"""What the first trial came to and what the last did: for each arm of a run, tasks won and lost in between.

    python proofs/first_and_last.py RUN_FOLDER [RUN_FOLDER…] [--beside ARM]

Prints Markdown tables. `hurt` are tasks whose first trial was right and whose submission was not; `won` the other way
round. `again` is the share of later trials that failed exactly as an earlier one had: the same wrong answer, the same
actions. An arm whose loop saw the hidden answer's verdict is marked "(oracle)". With `--beside` a second table holds
the arms against that one, task by task.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from hardwon.runs.journal import FILE, Journal, Key
from hardwon.runs.results import read_rows
from hardwon.runs.row import Row
from hardwon.statistics import mcnemar, wilson

HEAD = "| run | arm | graded | first trial | last trial | won | hurt | trials | again | tokens a task |"
BESIDE = "| run | arm | beside | won | lost | p (exact) |"


def first_solved(row: Row) -> bool:
    """Whether the first trial, handed in at once, would have been right."""
    return bool(row.curve[0].solved) if row.curve else bool(row.solved) and row.trials == 1


def repeats(folder: Path) -> dict[str, tuple[int, int]]:
    """For each arm, how many later trials failed as an earlier one of their task had, and how many failed in all."""
    journal = Journal(folder / FILE, read_only=True)
    acted = {(key, index): _actions(episode) for key, index, episode in journal.payloads("episode")}
    seen: dict[Key, set[str]] = {}
    counts: dict[str, list[int]] = {}
    for key, index, feedback in journal.payloads("check"):
        if feedback["verdict"] != "fail":
            continue
        failed = f"{[check['error'] for check in feedback['checks']]} {acted.get((key, index), '')}"
        before = seen.setdefault(key, set())
        if before:
            count = counts.setdefault(key.arm, [0, 0])
            count[0] += failed in before
            count[1] += 1
        before.add(failed)
    journal.close()
    return {arm: (again, later) for arm, (again, later) in counts.items()}


def _actions(episode: Mapping[str, Any]) -> str:
    return "" if episode["output"] is not None else "\n".join(step["action"] for step in episode["steps"])


def beside(run: str, arm: str, rows: Sequence[Row], other: str, others: Sequence[Row]) -> str:
    known = {(row.task_id, row.seed): bool(row.solved) for row in others}
    pairs = [(bool(row.solved), known[row.task_id, row.seed]) for row in rows if (row.task_id, row.seed) in known]
    won, lost = pairs.count((True, False)), pairs.count((False, True))
    return f"| {run} | {arm} | {other} | {won} | {lost} | {mcnemar(won, lost):.2f} |"


def line(run: str, arm: str, rows: Sequence[Row], again: tuple[int, int]) -> str:
    first, last = [first_solved(row) for row in rows], [bool(row.solved) for row in rows]
    oracle = " (oracle)" if any(row.feedback == "oracle" for row in rows) else ""
    won = sum(now and not then for then, now in zip(first, last, strict=True))
    hurt = sum(then and not now for then, now in zip(first, last, strict=True))
    trials = sum(row.trials for row in rows) / len(rows)
    tokens = sum(row.tokens_in + row.tokens_out for row in rows) / len(rows)
    cells = [run, arm + oracle, str(len(rows)), share(first), share(last), str(won), str(hurt)]
    repeated = f"{again[0]} of {again[1]}" if again[1] else ""
    return f"| {' | '.join(cells)} | {trials:.2f} | {repeated} | {tokens:,.0f} |"


def share(solved: Sequence[bool]) -> str:
    low, high = wilson(sum(solved), len(solved))
    return f"{sum(solved)} = {sum(solved) / len(solved):.1%} ({low:.0%} to {high:.0%})"


def tables(folders: Iterable[Path], other: str | None) -> list[str]:
    lines, compared = [HEAD, _rule(HEAD)], ["", BESIDE, _rule(BESIDE)]
    for folder in folders:
        arms: dict[str, list[Row]] = {}
        for row in read_rows(folder):
            if row.solved is not None:
                arms.setdefault(row.arm, []).append(row)
        again = repeats(folder)
        lines += [line(folder.name, arm, rows, again.get(arm, (0, 0))) for arm, rows in arms.items()]
        if other in arms:
            others = arms.pop(other)
            compared += [beside(folder.name, arm, rows, other, others) for arm, rows in arms.items()]
    return lines + compared * (other is not None)


def _rule(head: str) -> str:
    return "| --- " * (head.count("|") - 1) + "|"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--beside", metavar="ARM")
    options = parser.parse_args()
    print("\n".join(tables(options.folders, options.beside)))


if __name__ == "__main__":
    main()
