"""Works one question of `multi-hop` and kills itself with SIGKILL before its n-th model call; see test_hotpotqa.py.

Usage: python killed_episode.py FOLDER PAID KILL_AT. Every model call appends a line to PAID.
"""

import asyncio
import os
import signal
import sys
from pathlib import Path

from hardwon.models.protocol import Completion, Request
from hardwon.models.scripted import ScriptedModel
from hardwon.runs.folder import open_folder
from hardwon.runs.results import write_results
from hardwon.runs.runner import Arm, Runner
from hardwon.sandbox.choose import open_sandbox
from hardwon.strategies.reflexion import Reflexion
from hardwon.suites.multi_hop import load
from hardwon.suites.protocol import SuiteOptions

FOLDER, PAID, KILL_AT = Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])
SCRIPT = {
    "*": {
        "act": [
            "Thought: the place first\nAction: Search[Orvane Observatory]",
            "Thought: not here\nAction: Lookup[metres]",
            "Action: Finish[412]",
            "Thought: the mountain\nAction: Search[Mount Hale]",
            "Action: Lookup[high]",
            "Action: Finish[2,914]",
        ],
        "reflect": ["A guess from memory was handed in; read the paragraph of the mountain itself."],
    }
}


class Paid:
    name = "script:killed"
    parallel = 1
    price_known = True

    def __init__(self) -> None:
        self.scripted = ScriptedModel.from_replies(SCRIPT)
        self.calls = 0

    async def generate(self, request: Request) -> Completion:
        self.calls += 1
        if self.calls == KILL_AT:
            os.kill(os.getpid(), signal.SIGKILL)
        with PAID.open("a") as file:
            file.write(f"{request.role} {request.index}\n")
        return await self.scripted.generate(request)

    async def close(self) -> None: ...


async def main() -> None:
    options = SuiteOptions(feedback="oracle", ids=("multi-hop/observatory-height",))
    sandbox = open_sandbox(workers=1)
    try:
        with open_folder(FOLDER, {"settings": {"suite": "killed"}}) as journal:
            await Runner(journal, Paid(), workers=1).run(load(options, sandbox), [Arm("reflexion", Reflexion())])
            write_results(FOLDER, journal)
    finally:
        await sandbox.close()


asyncio.run(main())
