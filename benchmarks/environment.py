"""What a world's own process costs beside a TextWorld step, and whether several games at once use both cores.

    python benchmarks/environment.py [--steps N] [--json]

The world inside reports how long its own step took; the rest of the time until the observation is here is overhead.
The game has the size that `tw-make custom` makes by default (5 rooms, 10 objects, a quest of 5). Our own game asks
TextWorld only for what an agent is shown; for a full step it also tracks the winning policy, description and inventory.
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
from dataclasses import replace
from pathlib import Path
from typing import Any

from hardwon.environments.process import ProcessWorld, WorldLimits
from hardwon.environments.protocol import Observation
from hardwon.environments.textworld import Game
from hardwon.environments.textworld_making import GameSize, make_games

SIZE = GameSize(rooms=5, objects=10, quest=5)
GAMES = 8


class TimedGame:
    """A game whose reward is the seconds that its own step took."""

    def __init__(self, game: str) -> None:
        self._game = Game(game)

    def reset(self, seed: int) -> Observation:
        return self._game.reset(seed)

    def step(self, action: str) -> Observation:
        started = time.perf_counter()
        seen = self._game.step(action)
        return replace(seen, reward=time.perf_counter() - started)


class FullGame(TimedGame):
    """The same with all that TextWorld can tell of a game."""

    def __init__(self, game: str) -> None:
        super().__init__(game)
        known = {"policy_commands": True, "description": True, "inventory": True, "intermediate_reward": True}
        for name, value in known.items():
            setattr(self._game._game.request_infos, name, value)


async def play(game: Path, steps: int, kind: type[TimedGame] = TimedGame) -> list[tuple[float, float]]:
    """Whole and own seconds of each step of a random walk."""
    opener = f"{Path(__file__).stem}:{kind.__name__}"
    world = ProcessWorld(opener, {"game": str(game)}, WorldLimits(steps=steps + 1))
    chance, taken = random.Random(1), []
    try:
        seen = await world.reset(0)
        for _ in range(steps):
            if seen.done:
                seen = await world.reset(0)
            action = chance.choice(seen.valid_actions or ("look",))
            started = time.perf_counter()
            seen = await world.step(action)
            taken.append((time.perf_counter() - started, seen.reward))
    finally:
        await world.close()
    return taken


async def measure(steps: int, folder: Path) -> dict[str, Any]:
    game = make_games(folder, SIZE, [1])[1]
    alone = await play(game, steps)
    own = statistics.median(inside for _, inside in alone)
    overhead = statistics.median(whole - inside for whole, inside in alone)
    full = statistics.median(inside for _, inside in await play(game, steps, FullGame))
    before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    await asyncio.gather(*(play(game, steps) for _ in range(GAMES)))
    after, seconds = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter() - started
    busy = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {
        "own_ms": own * 1000,
        "overhead_us": overhead * 1e6,
        "share": overhead / own,
        "full_ms": full * 1000,
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
    print(f"overhead              {found['overhead_us']:.0f} µs = {found['share']:.1%}, of a full step", end=" ")
    print(f"{found['share_of_full']:.1%} (target: under 5 %)")
    print(f"{found['games']} games at once       {found['cores']:.2f} cores busy")


if __name__ == "__main__":
    main()
