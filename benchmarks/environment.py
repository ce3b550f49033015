"""What a world's own process costs beside a TextWorld step, and whether several games at once use both cores.

    python benchmarks/environment.py [--steps N] [--json]

Of each step the world inside tells how long TextWorld itself took; the rest of the time until the observation is here
is ours: as processor time of both processes, and by the clock, which on a busy machine counts the work of others too.
Steps that ask TextWorld for all that it can tell alternate, in blocks, with steps that ask for what our agent is shown.
The game has the size that `tw-make custom` makes by default (5 rooms, 10 objects, a quest of 5). Medians of all steps.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import resource
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from hardwon.environments.process import ProcessWorld, WorldLimits
from hardwon.environments.protocol import Observation
from hardwon.environments.textworld import Game
from hardwon.environments.textworld_making import GameSize, make_games

SIZE = GameSize(rooms=5, objects=10, quest=5)
GAMES = 8
BLOCK = 25


@dataclass(frozen=True, slots=True)
class Step:
    """Seconds: of the whole step and of TextWorld's own part by the clock, and of what is ours by the processor."""

    whole: float
    plain: float
    ours: float


class TimedGame:
    """A game whose answer is what TextWorld's own step took: seconds, processor seconds, and those of the process.

    The fourth number is what this timing itself had taken until the step before: it is not ours, and is taken off.
    """

    def __init__(self, game: str) -> None:
        self._game = Game(game)
        self._plain = self._worked = self._timing = 0.0
        self._step, self._game._game.step = self._game._game.step, self._timed

    def reset(self, seed: int) -> Observation:
        return self._answered(self._game.reset(seed))

    def step(self, action: str) -> Observation:
        return self._answered(self._game.step(action))

    def _timed(self, command: str) -> Any:
        started, worked = time.perf_counter(), time.process_time()
        try:
            return self._step(command)
        finally:
            ended = time.perf_counter()
            self._plain, self._worked = ended - started, time.process_time() - worked
            self._timing += time.perf_counter() - ended

    def _answered(self, seen: Observation) -> Observation:
        started = time.perf_counter()
        told = replace(seen, answer=f"{self._plain} {self._worked} {time.process_time()} {self._timing}")
        self._timing += time.perf_counter() - started
        return told


class FullGame(TimedGame):
    """The same with all that TextWorld can tell of a game."""

    def __init__(self, game: str) -> None:
        super().__init__(game)
        known = {"policy_commands": True, "description": True, "inventory": True, "intermediate_reward": True}
        for name, value in known.items():
            setattr(self._game._game.request_infos, name, value)


class Walk:
    """A random walk through a game in a process of its own."""

    def __init__(self, game: Path, steps: int, kind: type[TimedGame] = TimedGame) -> None:
        opener = f"{Path(__file__).stem}:{kind.__name__}"
        self._world = ProcessWorld(opener, {"game": str(game)}, WorldLimits(steps=steps + 1))
        self._chance = random.Random(1)
        self._seen = Observation("", done=True)
        self._worked = self._timing = 0.0

    async def step(self) -> Step:
        if self._seen.done:
            self._seen = await self._world.reset(0)
            self._worked, self._timing = self._told()[2:]
        action = self._chance.choice(self._seen.valid_actions or ("look",))
        started, worked = time.perf_counter(), time.process_time()
        self._seen = await self._world.step(action)
        whole, ours = time.perf_counter() - started, time.process_time() - worked
        plain, theirs, so_far, timing = self._told()
        ours += so_far - self._worked - theirs - (timing - self._timing)
        whole -= timing - self._timing
        self._worked, self._timing = so_far, timing
        return Step(whole, plain, ours)

    async def close(self) -> None:
        await self._world.close()

    def _told(self) -> tuple[float, float, float, float]:
        plain, theirs, so_far, timing = map(float, (self._seen.answer or "0 0 0 0").split())
        return plain, theirs, so_far, timing


async def in_turn(walks: Sequence[Walk], steps: int) -> list[list[Step]]:
    """The steps of each walk, a block of each after the other, so that a change of the machine strikes all alike."""
    taken: list[list[Step]] = [[] for _ in walks]
    try:
        for start in range(0, steps, BLOCK):
            for walk, found in zip(walks, taken, strict=True):
                found += [await walk.step() for _ in range(min(BLOCK, steps - start))]
    finally:
        for walk in walks:
            await walk.close()
    return taken


async def measure(steps: int, folder: Path) -> dict[str, Any]:
    game = make_games(folder, SIZE, [1])[1]
    shown, told = await in_turn([Walk(game, steps), Walk(game, steps, FullGame)], steps)
    own, full = (statistics.median(step.plain for step in found) for found in (shown, told))
    ours = statistics.median(step.ours for step in shown)
    overhead = statistics.median(step.whole - step.plain for step in shown)
    before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    await asyncio.gather(*(in_turn([Walk(game, steps)], steps) for _ in range(GAMES)))
    after, seconds = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter() - started
    busy = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {
        "own_ms": own * 1000,
        "full_ms": full * 1000,
        "ours_us": ours * 1e6,
        "ours_share": ours / own,
        "overhead_us": overhead * 1e6,
        "share": overhead / own,
        "share_of_full": overhead / full,
        "cores": busy / seconds,
        "games": GAMES,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=500)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    sys.path.insert(0, str(Path(__file__).parent))  # the world's process finds TimedGame there
    with tempfile.TemporaryDirectory() as folder:
        found = asyncio.run(measure(options.steps, Path(folder)))
    if options.json:
        print(json.dumps(found))
        return
    print(f"a TextWorld step      {found['own_ms']:.2f} ms")
    print(f"a full one            {found['full_ms']:.2f} ms")
    print(f"ours, processor       {found['ours_us']:.0f} µs = {found['ours_share']:.1%} (target: under 5 %)")
    print(f"ours, by the clock    {found['overhead_us']:.0f} µs = {found['share']:.1%}, of a full step", end=" ")
    print(f"{found['share_of_full']:.1%}")
    print(f"{found['games']} games at once       {found['cores']:.2f} cores busy")


if __name__ == "__main__":
    main()
