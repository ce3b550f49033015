"""A batch over two instances that kills itself with SIGKILL at its n-th step; started by the tests of batches.

Usage: python killed_batch.py FOLDER INSTANCES CHECKOUTS PAID KILL_AT (0: never). Every call appends a line to PAID.
A step is the beginning of a model call or of a grading, and the moment after a trial, a lesson or a row was journalled.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from tests.suites.instances import PATCH

from hardwon.models.protocol import Completion, Request
from hardwon.models.scripted import ScriptedModel
from hardwon.runs.folder import open_folder
from hardwon.runs.results import write_results
from hardwon.runs.row import Row
from hardwon.runs.runner import Arm, Runner
from hardwon.sandbox.choose import open_sandbox
from hardwon.session import Happening
from hardwon.strategies.reflexion import Reflexion
from hardwon.suites import swebench
from hardwon.suites.protocol import SuiteOptions
from hardwon.task import Ask, Evaluator
from hardwon.trial import Feedback, Source, Trajectory

FOLDER, INSTANCES, CHECKOUTS, PAID = map(Path, sys.argv[1:5])
KILL_AT = int(sys.argv[5])
steps = 0


def step() -> None:
    global steps
    steps += 1
    if steps == KILL_AT:
        os.kill(os.getpid(), signal.SIGKILL)


def turn(command: str) -> str:
    return f"Next.\n\n```bash\n{command}\n```"


MEND = f"git apply <<'END'\n{PATCH}END"
TRIED = "date +%N; python -m unittest -v"
SCRIPT = {
    "acme__totals-1": {
        "act": [turn(MEND.replace("sum(", "min(")), turn(TRIED), turn("submit"), turn(MEND), turn("submit")],
        "reflect": ["The smallest number is not the total of the numbers; add them up with the builtin for that."],
    },
    "acme__totals-2": {"act": [turn(TRIED), turn(MEND), turn("submit")]},
}


class Paid:
    name = "script:batch"
    parallel = 2
    price_known = True

    def __init__(self) -> None:
        self._scripted = ScriptedModel.from_replies(SCRIPT)

    async def generate(self, request: Request) -> Completion:
        step()
        completion = await self._scripted.generate(request)
        with PAID.open("a") as file:
            file.write(f"{request.task_id} {request.role} {request.index}\n")
        return completion

    async def close(self) -> None: ...


class Stepping:
    """An evaluator whose every check is a step."""

    def __init__(self, evaluator: Evaluator) -> None:
        self._evaluator = evaluator

    @property
    def source(self) -> Source:
        return self._evaluator.source

    async def check(self, trajectory: Trajectory, ask: Ask | None = None) -> Feedback:
        step()
        return await self._evaluator.check(trajectory, ask)


class Watcher:
    def begin(self, total: int, done: Sequence[Row]) -> None: ...
    def start(self, task_id: str, arm: str) -> None: ...

    def happen(self, task_id: str, arm: str, happening: Happening) -> None:
        step()

    def finish(self, row: Row) -> None:
        step()


async def main() -> None:
    sandbox = open_sandbox(workers=1)
    tasks = swebench.load(SuiteOptions(data=INSTANCES, checkouts=CHECKOUTS, feedback="oracle"), sandbox)
    await sandbox.close()
    tasks = tuple(
        replace(task, feedback=Stepping(task.feedback), grader=Stepping(task.grader))
        for task in tasks
        if task.feedback is not None and task.grader is not None
    )
    with open_folder(FOLDER, {"settings": {"model": "script:batch"}}) as journal:
        await Runner(journal, Paid(), workers=2, observer=Watcher()).run(tasks, [Arm("reflexion", Reflexion())])
        write_results(FOLDER, journal)


asyncio.run(main())
print(steps)
