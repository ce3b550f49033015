"""A small run that kills itself with SIGKILL at its n-th step; started by the resume tests as a process of its own.

Usage: python interrupted.py FOLDER PAID KILL_AT. Every model call appends a line to PAID. A step is the beginning of a
model call, of a visible check, or of a grading, or the moment after a trial, a lesson or a row was journalled.
"""

import asyncio
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

from hardwon.actors.program import ProgramActor
from hardwon.evaluators.function import FunctionCheck
from hardwon.models.protocol import Completion, Request
from hardwon.models.scripted import ScriptedModel
from hardwon.runs.folder import open_folder
from hardwon.runs.results import write_results
from hardwon.runs.row import Row
from hardwon.runs.runner import Arm, Runner
from hardwon.session import Happening
from hardwon.strategies.reflexion import Reflexion
from hardwon.task import Problem, Task

FOLDER, PAID, KILL_AT = Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])
steps = 0


def step() -> None:
    global steps
    steps += 1
    if steps == KILL_AT:
        os.kill(os.getpid(), signal.SIGKILL)


def program(n: int) -> str:
    return f"```python\ndef f():\n    return {n}\n```"


SCRIPT = {
    "a": {"act": [program(1), program(5)], "reflect": ["One is never enough here, five was wanted instead."]},
    "b": {
        "act": [program(2), program(3), program(4)],
        "reflect": ["Two lies below the wanted constant, go upward.", "", "Three too is small; jump further ahead."],
    },
    "c": {"act": [program(5)]},
}


class Paid:
    name = "script:interrupted"
    parallel = 2
    price_known = True

    def __init__(self) -> None:
        self.scripted = ScriptedModel.from_replies(SCRIPT)

    async def generate(self, request: Request) -> Completion:
        step()
        completion = await self.scripted.generate(request)
        with PAID.open("a") as file:
            file.write(f"{request.task_id} {request.role} {request.index}\n")
        return completion

    async def close(self) -> None: ...


class Watcher:
    def begin(self, total: int, done: Sequence[Row]) -> None: ...
    def start(self, task_id: str, arm: str) -> None: ...

    def happen(self, task_id: str, arm: str, happening: Happening) -> None:
        step()

    def finish(self, row: Row) -> None:
        step()


async def visible(text: str) -> tuple[bool, str]:
    step()
    return "return 5" in text, "want 5"


async def hidden(text: str) -> tuple[bool, str]:
    step()
    return "return 5" in text, "want 5"


async def main() -> None:
    tasks = [
        Task(Problem(name, "Write f.", "function", "f"), FunctionCheck(visible), FunctionCheck(hidden), name)
        for name in SCRIPT
    ]
    with open_folder(FOLDER, {"settings": {"suite": "interrupted"}}) as journal:
        runner = Runner(journal, Paid(), ProgramActor(), workers=2, observer=Watcher())
        await runner.run(tasks, [Arm("reflexion", Reflexion())])
        write_results(FOLDER, journal)


asyncio.run(main())
print(steps)
