"""A small run with a bank, in this process or one that kills itself with SIGKILL at its n-th step.

Usage: python working.py FOLDER BANK PAID KILL_AT. Every model call appends a line to PAID. A step is the beginning of a
model call or of a check, an admission's beginning or end, or the moment after a trial or a row was journalled.
"""

import asyncio
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

from hardwon.actors.program import ProgramActor
from hardwon.evaluators.function import FunctionCheck
from hardwon.memory.bank.item import Item
from hardwon.memory.bank.sqlite import SqliteBank
from hardwon.memory.bank.store import Episode, Use
from hardwon.models.protocol import Completion, Request
from hardwon.models.scripted import ScriptedModel
from hardwon.runs.bank import BankSettings, RunBank
from hardwon.runs.folder import open_folder
from hardwon.runs.results import write_results
from hardwon.runs.row import Row
from hardwon.runs.runner import Arm, Runner
from hardwon.session import Happening
from hardwon.strategies.reflexion import Reflexion
from hardwon.task import Problem, Task

PROMPTS = {
    "a": "Write a graph traversal that counts the cycles of a graph.",
    "b": "Traverse a graph and find whether it has cycles.",
    "c": "Search a graph for a traversal without cycles.",
}


def program(n: int) -> str:
    return f"```python\ndef f():\n    return {n}\n```"


def insight(name: str) -> str:
    return (
        f"Title: Mark visited nodes ({name})\nDescription: A visited set ends every traversal.\n"
        "Content: Keep a visited set in each graph traversal, since cycles never end it otherwise.\nEvidence: trial 1"
    )


SCRIPT = {
    "a": {
        "act": [program(1), program(5)],
        "reflect": ["One is never enough here, five was wanted instead."],
        "induce": [insight("first")],
    },
    "b": {"act": [program(5)], "induce": ["No insight at all.", insight("second")]},
    "c": {"act": [program(3)], "reflect": ["Three too is small; jump further ahead."], "induce": [insight("third")]},
}


async def right(text: str) -> tuple[bool, str]:
    return "return 5" in text, "want 5"


TASKS = [
    Task(Problem(name, prompt, "function", "f"), FunctionCheck(right), FunctionCheck(right), name)
    for name, prompt in PROMPTS.items()
]


class Steps:
    """Counts steps and ends the process at one of them."""

    def __init__(self, kill_at: int) -> None:
        self.count = 0
        self._kill_at = kill_at

    def __call__(self) -> None:
        self.count += 1
        if self.count == self._kill_at:
            os.kill(os.getpid(), signal.SIGKILL)


class Paid:
    name = "script:working"
    parallel = 2
    price_known = True

    def __init__(self, step: Steps, paid: Path) -> None:
        self._scripted = ScriptedModel.from_replies(SCRIPT)
        self._step = step
        self._paid = paid

    async def generate(self, request: Request) -> Completion:
        self._step()
        completion = await self._scripted.generate(request)
        with self._paid.open("a") as file:
            file.write(f"{request.task_id} {request.role} {request.index}\n")
        return completion

    async def close(self) -> None: ...


class Watcher:
    def __init__(self, step: Steps) -> None:
        self._step = step

    def begin(self, total: int, done: Sequence[Row]) -> None: ...
    def start(self, task_id: str, arm: str) -> None: ...

    def happen(self, task_id: str, arm: str, happening: Happening) -> None:
        self._step()

    def finish(self, row: Row) -> None:
        self._step()


class SteppedBank(SqliteBank):
    """The bank, whose admissions count as steps."""

    def __init__(self, path: Path, step: Steps) -> None:
        self._step = step
        super().__init__(path)

    def admit(self, episode: Episode, items: Sequence[Item], uses: Sequence[Use]) -> bool:
        self._step()
        new = super().admit(episode, items, uses)
        self._step()
        return new


async def main(folder: Path, bank: Path, paid: Path, kill_at: int) -> None:
    step = Steps(kill_at)
    used = RunBank(SteppedBank(bank, step), BankSettings("own", learn=True, withhold=0.0))
    with open_folder(folder, {"settings": {"suite": "working"}}) as journal:
        runner = Runner(journal, Paid(step, paid), ProgramActor(), workers=2, observer=Watcher(step), bank=used)
        await runner.run(TASKS, [Arm("reflexion", Reflexion(trials=2))])
        write_results(folder, journal)
    used.close()
    print(step.count)


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), Path(sys.argv[2]), Path(sys.argv[3]), int(sys.argv[4])))
