"""One sitting of a batch over instances, with a scripted model; started by the tests of batches and a proof.

Usage: python killed_batch.py FOLDER INSTANCES CHECKOUTS WORK [--bank FILE] [--workers N] [--kill-at N]. Every call of
the model, check and grading appends a line to WORK. `--kill-at` kills it with SIGKILL at its n-th step: the beginning
of a call, check or grading, or the moment after a trial, a lesson or a row was journalled.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import signal
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal

from tests.suites.instances import PATCH

from hardwon.memory.bank.sqlite import SqliteBank
from hardwon.models.protocol import Completion, Request
from hardwon.models.scripted import ScriptedModel
from hardwon.runs.bank import BankSettings, RunBank
from hardwon.runs.folder import open_folder
from hardwon.runs.results import write_results
from hardwon.runs.row import Row
from hardwon.runs.runner import Arm, Runner
from hardwon.sandbox.choose import open_sandbox
from hardwon.session import Happening
from hardwon.strategies.reflexion import Reflexion
from hardwon.suites import swebench
from hardwon.suites.protocol import SuiteOptions
from hardwon.task import Ask, Evaluator, Task
from hardwon.trial import Feedback, Source, Trajectory


def turn(command: str) -> str:
    return f"Next.\n\n```bash\n{command}\n```"


def insight(number: str) -> str:
    return (
        f"Title: Read what the name of a function promises ({number})\n"
        "Description: The builtin that was called did something else than the name says.\n"
        "Content: Hold the builtin against the name of the function first, since a near one passes small tests.\n"
        "Evidence: trial 1"
    )


MEND = turn(f"git apply <<'END'\n{PATCH}END")
WRONG = MEND.replace("sum(", "min(")
TRIED = turn("date +%N; python -m unittest -v")
BEHIND = turn("sleep 300 & (trap '' TERM; sleep 300) & date +%N")
SUBMIT = turn("submit")
LESSON = "The smallest number is not the total of the numbers; add them up with the builtin for that."
WAYS: tuple[tuple[str, ...], ...] = (
    (BEHIND, MEND, TRIED, SUBMIT),
    (WRONG, TRIED, SUBMIT, MEND, SUBMIT),
    (TRIED, MEND, SUBMIT),
    (turn("ls"), turn("ls")),
    (WRONG, SUBMIT),
)
"""How instance n goes, by n modulo 5: solved, at the second trial, solved, never anything handed in, never solved."""


def replies(task_id: str) -> dict[str, list[str]]:
    number = task_id.rpartition("-")[2]
    return {"act": list(WAYS[int(number) % len(WAYS)]), "reflect": [LESSON], "induce": [insight(number)]}


class Work:
    """Writes down what is begun, and ends the process at one of its steps."""

    def __init__(self, path: Path, kill_at: int) -> None:
        self._path = path
        self._left = kill_at

    def begin(self, task_id: str, kind: str, index: int = 0) -> None:
        self.step()
        with self._path.open("a") as file:
            file.write(f"{task_id} {kind} {index}\n")

    def step(self) -> None:
        self._left -= 1
        if self._left == 0:
            os.kill(os.getpid(), signal.SIGKILL)


class Paid:
    name = "script:batch"
    parallel = 8
    price_known = True

    def __init__(self, tasks: Sequence[Task], work: Work) -> None:
        self._scripted = ScriptedModel.from_replies({task.id: replies(task.id) for task in tasks})
        self._work = work

    async def generate(self, request: Request) -> Completion:
        self._work.begin(request.task_id, request.role, request.index)
        return await self._scripted.generate(request)

    async def close(self) -> None: ...


class Told:
    """An evaluator whose every check is written down, as `check` or `grade`."""

    def __init__(self, task_id: str, kind: Literal["check", "grade"], evaluator: Evaluator, work: Work) -> None:
        self._task_id = task_id
        self._kind = kind
        self._evaluator = evaluator
        self._work = work

    @property
    def source(self) -> Source:
        return self._evaluator.source

    async def check(self, trajectory: Trajectory, ask: Ask | None = None) -> Feedback:
        self._work.begin(self._task_id, self._kind)
        return await self._evaluator.check(trajectory, ask)


class Watcher:
    def __init__(self, work: Work) -> None:
        self._work = work

    def begin(self, total: int, done: Sequence[Row]) -> None: ...
    def start(self, task_id: str, arm: str) -> None: ...

    def happen(self, task_id: str, arm: str, happening: Happening) -> None:
        self._work.step()

    def finish(self, row: Row) -> None:
        self._work.step()


def told(task: Task, work: Work) -> Task:
    assert task.feedback is not None
    assert task.grader is not None
    return replace(
        task,
        feedback=Told(task.id, "check", task.feedback, work),
        grader=Told(task.id, "grade", task.grader, work),
    )


async def main() -> None:
    parser = argparse.ArgumentParser()
    for name in ("folder", "instances", "checkouts", "work"):
        parser.add_argument(name, type=Path)
    parser.add_argument("--bank", type=Path)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--kill-at", type=int, default=0)
    options = parser.parse_args()
    work = Work(options.work, options.kill_at)
    sandbox = open_sandbox(workers=1)
    loaded = swebench.load(SuiteOptions(options.instances, "oracle", checkouts=options.checkouts), sandbox)
    await sandbox.close()
    tasks = [told(task, work) for task in loaded]
    bank = None if options.bank is None else RunBank(SqliteBank(options.bank), BankSettings("batch", learn=True))
    with open_folder(options.folder, {"settings": {"model": Paid.name}}) as journal:
        watcher = Watcher(work)
        runner = Runner(journal, Paid(tasks, work), workers=options.workers, observer=watcher, bank=bank)
        await runner.run(tasks, [Arm("reflexion", Reflexion(trials=2))])
        write_results(options.folder, journal)
    if bank is not None:
        bank.close()


if __name__ == "__main__":
    asyncio.run(main())
