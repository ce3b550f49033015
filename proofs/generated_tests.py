"""How good were the tests that a model wrote in a run? Each kept test is tried on the task's reference solution.

    python proofs/generated_tests.py RUN_FOLDER --data HumanEval.jsonl.gz

Reads the model's texts from the run's journal, vets them again, and prints a Markdown table.
"""

from __future__ import annotations

import argparse
import asyncio
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hardwon import FunctionTests, GeneratedTests, open_sandbox
from hardwon.runs.folder import read_config
from hardwon.runs.journal import FILE, Journal
from hardwon.suites.humaneval import function_task
from hardwon.suites.read import read_rows


@dataclass
class Found:
    """Counts over the run's tasks; `spoilt` is the tasks with at least one wrong test kept."""

    tasks: int = 0
    without: int = 0
    kept: int = 0
    right: int = 0
    spoilt: int = 0
    tokens: int = 0
    dropped: Counter[str] = field(default_factory=Counter)


def replies(folder: Path) -> dict[str, dict[str, Any]]:
    journal = Journal(folder / FILE, read_only=True)
    try:
        found: dict[str, dict[str, Any]] = {}
        for key, index, payload in journal.payloads("tests"):
            found.setdefault(key.task_id, {})[f"tests:{index}"] = payload["completion"]
        return found
    finally:
        journal.close()


async def measure(folder: Path, data: Path) -> Found:
    read_config(folder)
    said = replies(folder)
    sandbox = open_sandbox()
    found = Found()
    try:
        for row in read_rows(data):
            answers = said.get(row.fields["task_id"])
            if answers is None:
                continue
            await one(found, row, answers, sandbox)
    finally:
        await sandbox.close()
    return found


async def one(found: Found, row: Any, answers: dict[str, Any], sandbox: Any) -> None:
    item = function_task(row, "task_id")
    evaluator = GeneratedTests(item.problem, sandbox, prelude=item.prelude)

    async def ask(role: str, prompt: str, *, key: str, **settings: object) -> str:
        return str(answers[key]["text"]) if key in answers else ""

    vetted = await evaluator.vetted(ask)
    solution = row.fields["prompt"] + row.fields["canonical_solution"]
    entry_point = item.problem.entry_point or ""
    right = 0
    for claim in vetted.kept:
        checks = await sandbox.run_function(solution, FunctionTests(entry_point, claim.assertion, item.prelude))
        right += [check.status for check in checks] == ["pass"]
    found.tasks += 1
    found.without += not vetted.kept
    found.kept += len(vetted.kept)
    found.right += right
    found.spoilt += right < len(vetted.kept)
    found.tokens += sum(a["usage"]["tokens_in"] + a["usage"]["tokens_out"] for a in answers.values())
    found.dropped += vetted.dropped


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--data", type=Path, required=True)
    options = parser.parse_args()
    f = asyncio.run(measure(options.folder, options.data))
    share = f"{f.right / f.kept:.1%}" if f.kept else "-"
    print("| generated tests | |\n| --- | --- |")
    print(f"| tasks that tests were asked for | {f.tasks} |")
    print(f"| tests kept | {f.kept} ({f.kept / max(f.tasks, 1):.2f} a task; none for {f.without} tasks) |")
    print(f"| kept tests that the reference solution passes | {f.right} of {f.kept} = {share} |")
    print(f"| tasks with a wrong test kept | {f.spoilt} |")
    print(f"| tokens a task, in and out | {f.tokens / max(f.tasks, 1):,.0f} |")
    print(f"| dropped | {', '.join(f'{reason} {count}' for reason, count in f.dropped.most_common())} |")


if __name__ == "__main__":
    main()
