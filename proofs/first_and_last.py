"""What the first trial came to and what the last did: for each arm of a run, tasks won and lost in between.

    python proofs/first_and_last.py RUN_FOLDER [RUN_FOLDER…]

Reads `results.jsonl` alone and prints a Markdown table. `hurt` are tasks whose first trial was right and whose
submission was not; `won` the other way round. An arm whose loop saw the hidden answer's verdict is marked "(oracle)".
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from pathlib import Path

from hardwon.runs.results import read_rows
from hardwon.runs.row import Row
from hardwon.statistics import wilson

HEAD = "| run | arm | graded | first trial | last trial | won | hurt | trials | tokens a task |"


def first_solved(row: Row) -> bool:
    """Whether the first trial, handed in at once, would have been right."""
    return bool(row.curve[0].solved) if row.curve else bool(row.solved) and row.trials == 1


def line(run: str, arm: str, rows: Sequence[Row]) -> str:
    first, last = [first_solved(row) for row in rows], [bool(row.solved) for row in rows]
    oracle = " (oracle)" if any(row.feedback == "oracle" for row in rows) else ""
    won = sum(now and not then for then, now in zip(first, last, strict=True))
    hurt = sum(then and not now for then, now in zip(first, last, strict=True))
    trials = sum(row.trials for row in rows) / len(rows)
    tokens = sum(row.tokens_in + row.tokens_out for row in rows) / len(rows)
    cells = [run, arm + oracle, str(len(rows)), share(first), share(last), str(won), str(hurt)]
    return f"| {' | '.join(cells)} | {trials:.2f} | {tokens:,.0f} |"


def share(solved: Sequence[bool]) -> str:
    low, high = wilson(sum(solved), len(solved))
    return f"{sum(solved)} = {sum(solved) / len(solved):.1%} ({low:.0%} to {high:.0%})"


def table(folders: Iterable[Path]) -> list[str]:
    lines = [HEAD, "| --- " * (HEAD.count("|") - 1) + "|"]
    for folder in folders:
        arms: dict[str, list[Row]] = {}
        for row in read_rows(folder):
            if row.solved is not None:
                arms.setdefault(row.arm, []).append(row)
        lines += [line(folder.name, arm, rows) for arm, rows in arms.items()]
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path)
    print("\n".join(table(parser.parse_args().folders)))


if __name__ == "__main__":
    main()
