"""A batch of two instances, watched as `hardwon run` does; started by the tests. Usage: watched_batch.py FOLDER."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path

from tests.suites.instances import PATCH, instance, make_checkout

from hardwon.cli.watch_batch import watching
from hardwon.models.scripted import ScriptedModel
from hardwon.runs.folder import open_folder
from hardwon.runs.runner import Arm, Runner
from hardwon.sandbox.choose import open_sandbox
from hardwon.strategies.single import Single
from hardwon.suites import swebench
from hardwon.suites.protocol import SuiteOptions

FOLDER = Path(sys.argv[1])
ACT = [f"```bash\ngit apply <<'END'\n{PATCH}END\nsleep 1\n```", "```bash\nsubmit\n```"]


async def main() -> None:
    mapping, data = make_checkout(FOLDER), FOLDER / "instances.jsonl"
    data.write_text("".join(json.dumps(instance(FOLDER, n)) + "\n" for n in (1, 2)))
    sandbox = open_sandbox(workers=1)
    tasks = swebench.load(SuiteOptions(data=data, checkouts=mapping, feedback="oracle"), sandbox)
    await sandbox.close()
    with open_folder(FOLDER / "run", {"settings": {}}) as journal, watching(journal, tasks, show=False) as watcher:
        model = ScriptedModel.from_replies({"*": {"act": ACT}})
        await Runner(journal, model, workers=2, observer=watcher).run(tasks, [Arm("single", Single())])


asyncio.run(main())
