"""Hardwon's own time for each act + check + journal step, and its memory over 10,000 of them.

    python benchmarks/engine.py [--steps N] [--json]

The model is scripted and answers at once; the check is a function that returns at once, so what is timed is the engine:
prompt, ledger, extraction, evaluator call, journal commits, trial. Each task has ten steps and a results row.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import resource
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from hardwon import FunctionCheck, Problem, ScriptedModel, Session, Submission, Task
from hardwon.actors.program import ProgramActor
from hardwon.runs.folder import open_folder
from hardwon.runs.results import write_results
from hardwon.runs.runner import Arm, Runner

STEPS_A_TASK = 10
PROMPT = 'def add(a: int, b: int) -> int:\n    """Adds two numbers.\n\n    >>> add(1, 2)\n    3\n    """\n'
REPLY = "Here it is:\n\n```python\ndef add(a: int, b: int) -> int:\n    return a - b\n```\n"


@dataclass(frozen=True)
class Steps:
    """Takes a fixed number of steps, whatever comes of them."""

    name: ClassVar[str] = "steps"
    needs_feedback: ClassVar[bool] = True

    async def solve(self, problem: Problem, session: Session) -> Submission:
        for _ in range(STEPS_A_TASK):
            await session.attempt()
        return session.submit("trials")


async def wrong(text: str) -> tuple[bool, str]:
    return False, "add(1, 2) should give 3, not -1"


async def run(steps: int) -> dict[str, float]:
    problem = [Problem(f"task/{n}", PROMPT, "function", "add") for n in range(steps // STEPS_A_TASK)]
    tasks = [Task(p, FunctionCheck(wrong), FunctionCheck(wrong), p.id) for p in problem]
    model = ScriptedModel.from_replies({"*": {"act": [REPLY]}})
    before = _peak_mib()
    with tempfile.TemporaryDirectory() as folder, open_folder(Path(folder) / "run", {"settings": {}}) as journal:
        runner = Runner(journal, model, ProgramActor(), workers=4)
        started = time.perf_counter()
        await runner.run(tasks, [Arm("steps", Steps())])
        seconds = time.perf_counter() - started
        write_results(Path(folder) / "run", journal)
    return {
        "steps": steps,
        "ms_a_step": 1000 * seconds / steps,
        "peak_mib_before": before,
        "peak_mib_after": _peak_mib(),
    }


def _peak_mib() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=10_000)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    asyncio.run(run(100))
    found = asyncio.run(run(options.steps))
    if options.json:
        print(json.dumps(found))
        return
    print(f"steps                 {options.steps:,}")
    print(f"own time a step       {found['ms_a_step']:.3f} ms (target: under 1 ms)")
    print(f"peak memory           {found['peak_mib_after']:.0f} MiB (target: under 150 MB)")


if __name__ == "__main__":
    main()
