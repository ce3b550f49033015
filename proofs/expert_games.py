"""The scripted expert wins every game through the agent's own action path.

    python proofs/expert_games.py [--games 94] [--workers 2]

TextWorld's walkthrough plays the games of the suite `textworld`, the planner's path the six of `alfworld`: each action
is a model's reply that the acting agent reads and does in a world of its own. Leaves with 1 if a game is not won.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from hardwon import ScriptedModel, Session
from hardwon.actors.choose import actor_for
from hardwon.environments.household import from_problem
from hardwon.sandbox.choose import open_sandbox
from hardwon.suites import alfworld, textworld
from hardwon.suites.protocol import SuiteOptions
from hardwon.task import Task


async def won(task: Task, actions: Sequence[str], workers: asyncio.Semaphore) -> bool:
    model = ScriptedModel.from_replies({"*": {"act": [f"Thought: I know the way.\nAction: {a}" for a in actions]}})
    async with workers:
        trial = await Session(task.problem, model, actor_for(task), task.feedback).attempt()
    passed = trial.feedback.verdict == "pass" and len(trial.trajectory.steps) == len(actions)
    print(f"{task.id}: {'won' if passed else 'NOT WON'} in {len(trial.trajectory.steps)} actions", flush=True)
    return passed


async def play(tasks: Sequence[Task], ways: dict[str, Sequence[str]], workers: int) -> list[bool]:
    at_once = asyncio.Semaphore(workers)
    return await asyncio.gather(*(won(task, ways[task.id], at_once) for task in tasks))


def planned() -> dict[str, Sequence[str]]:
    ways: dict[str, Sequence[str]] = {}
    for task_id, (_, problem) in alfworld.houses().items():
        world = from_problem(problem, planned=True)
        world.reset(0)
        ways[task_id] = world.plan()
    return ways


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--games", type=int, default=94, help="of TextWorld")
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args()
    sandbox = open_sandbox(workers=1)  # no program is run: loaders want one
    with tempfile.TemporaryDirectory() as folder:
        settings = Path(folder) / "settings.json"
        settings.write_text(json.dumps({"games": options.games}))
        chosen = SuiteOptions(settings)
        tasks = [*textworld.load(chosen, sandbox), *alfworld.load(SuiteOptions(), sandbox)]
        ways = {**textworld.walkthroughs(chosen), **planned()}
    outcomes = asyncio.run(play(tasks, ways, options.workers))
    print(f"{sum(outcomes)} of {len(outcomes)} games won by the scripted expert")
    return 0 if all(outcomes) else 1


if __name__ == "__main__":
    sys.exit(main())
