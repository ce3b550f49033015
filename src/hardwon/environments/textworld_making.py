"""Makes TextWorld games from seeds, in processes of their own, and keeps them in a folder."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict, astuple, dataclass
from pathlib import Path
from typing import Any

from hardwon.errors import EnvironmentTrouble, UsageError

_SOURCE = Path(__file__).parents[2]
_AT_ONCE = 2
_SECONDS_A_GAME = 120


@dataclass(frozen=True, slots=True)
class GameSize:
    """How large a game is: rooms, objects beside the doors, and the actions of its shortest solution."""

    rooms: int = 3
    objects: int = 6
    quest: int = 4

    def __str__(self) -> str:
        return "r{}-o{}-q{}".format(*astuple(self))


def make_games(folder: Path, size: GameSize, seeds: Sequence[int]) -> dict[int, Path]:
    """The game of each seed, as TextWorld's .json in `folder`; those that are there already are not made again.

    Raises UsageError for a folder that can not be written, EnvironmentTrouble when making fails.
    """
    games = {seed: folder / f"{size}-s{seed}.json" for seed in seeds}
    lacking = [seed for seed, path in games.items() if _read(path) is None]
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(
            f"{folder}: {error.strerror}, and games are kept there; set HARDWON_CACHE to a folder"
        ) from None
    if lacking:
        print(f"making {len(lacking)} games of TextWorld, kept in {folder}", file=sys.stderr, flush=True)
    shares = [share for n in range(_AT_ONCE) if (share := lacking[n::_AT_ONCE])]
    makers = [_maker(folder, size, share) for share in shares]
    told = []
    try:
        for maker, share in zip(makers, shares, strict=True):
            told.append(maker.communicate(timeout=_SECONDS_A_GAME * len(share))[1])
    except subprocess.TimeoutExpired:
        most = max(map(len, shares))
        raise EnvironmentTrouble(
            f"TextWorld did not make {most} games of size {size} within {_SECONDS_A_GAME * most} s; "
            "those that were made are kept, and the same command goes on"
        ) from None
    finally:
        for maker in makers:
            maker.kill()
            maker.communicate()
    for maker, err in zip(makers, told, strict=True):
        if maker.returncode != 0:
            last = err.strip().rpartition("\n")[2] or f"its process ended with status {maker.returncode}"
            raise EnvironmentTrouble(f"TextWorld could not make a game of size {size}: {last[:300]}")
    return games


def read_game(path: Path) -> dict[str, Any]:
    """The content of a game's .json; `objective` and `metadata` (with its `walkthrough`) are what concerns others.

    Raises UsageError for a file that is not there or is no game.
    """
    game = _read(path)
    if game is None:
        raise UsageError(f"{path}: not a game of TextWorld; give a .json that tw-make has written")
    return game


def _read(path: Path) -> dict[str, Any] | None:
    try:
        game = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    needed = {"objective", "world", "KB", "metadata"}
    return game if isinstance(game, dict) and needed <= game.keys() and isinstance(game["objective"], str) else None


def _maker(folder: Path, size: GameSize, seeds: Sequence[int]) -> subprocess.Popen[str]:
    order = {"folder": str(folder.absolute()), "size": asdict(size), "seeds": list(seeds)}
    return subprocess.Popen(
        [sys.executable, "-m", __name__, json.dumps(order)],
        env={**os.environ, "PYTHONPATH": str(_SOURCE), "PYTHONHASHSEED": "0"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )


def _main() -> None:
    from textworld import GameOptions
    from textworld.generator import make_game

    order = json.loads(sys.argv[1])
    size = GameSize(**order["size"])
    for seed in order["seeds"]:
        options = GameOptions()
        options.seeds = seed
        options.nb_rooms, options.nb_objects, options.quest_length = size.rooms, size.objects, size.quest
        game = make_game(options)
        path = Path(order["folder"]) / f"{size}-s{seed}.json"
        beside = path.with_name(f".{path.name}.{os.getpid()}")
        game.save(str(beside))
        beside.replace(path)


if __name__ == "__main__":
    _main()
