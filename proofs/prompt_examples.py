"""What the examples that prompts show are worth as tests: how many prompts have them, and how often they are wrong.

    python proofs/prompt_examples.py --data HumanEval.jsonl.gz --programs PROGRAMS.jsonl.gz [--programs …]
    python proofs/prompt_examples.py --data mbpp.jsonl.gz

Prints a Markdown table. `--data` takes HumanEval's own rows (`task_id, prompt, entry_point`) or MultiPL-E's (`name,
prompt, entry_point`); `--programs` rows of `task_id, program, solved`, where `solved` is the verdict of the hidden
tests. A false pass is a wrong program that passes all the examples of its prompt; a false fail a right one that does
not.
"""

from __future__ import annotations

import argparse
import asyncio
import gzip
import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from hardwon.evaluators.examples import Example, Form, find_examples
from hardwon.evaluators.unit import UnitTests
from hardwon.sandbox.choose import open_sandbox
from hardwon.sandbox.protocol import FunctionTests, Sandbox
from hardwon.trial import Trajectory

FORMS: dict[str, Callable[[set[Form]], bool]] = {
    "doctest": lambda forms: forms == {"doctest"},
    "prose": lambda forms: forms == {"prose"},
    "both forms": lambda forms: len(forms) == 2,
    "any": lambda forms: bool(forms),
}


def rows(path: Path) -> list[dict[str, Any]]:
    text = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    return [json.loads(line) for line in text.decode("utf-8").splitlines() if line.strip()]


def table(headers: list[str], lines: list[list[str]]) -> str:
    return "\n".join("| " + " | ".join(cells) + " |" for cells in (headers, ["---"] * len(headers), *lines))


async def verdicts(
    programs: list[dict[str, Any]],
    prompts: dict[str, dict[str, Any]],
    examples: dict[str, tuple[Example, ...]],
    sandbox: Sandbox,
) -> dict[str, str]:
    """The verdict of the prompt's examples on each program, by task."""
    slots = asyncio.Semaphore(2)

    async def verdict(row: dict[str, Any]) -> tuple[str, str]:
        task = row["task_id"]
        source = "\n".join(example.assertion for example in examples[task])
        async with slots:
            check = UnitTests(FunctionTests(prompts[task]["entry_point"], source), sandbox).check
            return task, (await check(Trajectory(row["program"]))).verdict

    return dict(await asyncio.gather(*(verdict(row) for row in programs if examples[row["task_id"]])))


async def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--programs", type=Path, action="append", default=[])
    arguments = parser.parse_args()
    prompts = {str(row.get("task_id", row.get("name"))): row for row in rows(arguments.data)}
    examples = {task: find_examples(row["prompt"], row["entry_point"]) for task, row in prompts.items()}
    forms = {task: {example.form for example in found} for task, found in examples.items()}

    print(f"Prompts of `{arguments.data.name}` that show examples:\n")
    shares = [
        [name, str(count), f"{100 * count / len(prompts):.1f} %"]
        for name, belongs in FORMS.items()
        for count in [sum(belongs(f) for f in forms.values())]
    ]
    print(table(["form", f"prompts of {len(prompts)}", "share"], shares))
    if not arguments.programs:
        return
    lines: list[list[str]] = []
    refused: list[str] = []
    sandbox = open_sandbox(workers=2)
    try:
        for path in arguments.programs:
            programs = [row for row in rows(path) if row["task_id"] in prompts]
            by_task = await verdicts(programs, prompts, examples, sandbox)
            for name, belongs in FORMS.items():
                count: Counter[tuple[bool, str]] = Counter(
                    (row["solved"], by_task[row["task_id"]]) for row in programs if belongs(forms[row["task_id"]])
                )
                wrong = sum(number for (solved, _), number in count.items() if not solved)
                right = count.total() - wrong
                cells = [f"{count[False, 'pass']} of {wrong}", f"{count[True, 'fail']} of {right}"]
                silent = sum(number for (_, verdict), number in count.items() if verdict == "no_evidence")
                lines.append([path.name, name, *cells, str(silent)])
            refused += [
                f"{r['task_id']} ({path.name})" for r in programs if r["solved"] and by_task.get(r["task_id"]) == "fail"
            ]
        reference = [
            {"task_id": task, "program": row["prompt"] + row["canonical_solution"]}
            for task, row in prompts.items()
            if "canonical_solution" in row
        ]
        outcomes = await verdicts(reference, prompts, examples, sandbox)
        flawed = [task for task, verdict in outcomes.items() if verdict != "pass"]
    finally:
        await sandbox.close()
    print("\nWhat they say of real programs:\n")
    print(table(["programs", "form", "false passes (of wrong)", "false fails (of right)", "no evidence"], lines))
    print(f"\nRight programs refused: {', '.join(refused) or 'none'}.")
    if reference:
        print(f"Prompts whose examples their reference solution fails: {', '.join(flawed) or 'none'}.")


if __name__ == "__main__":
    asyncio.run(main())
