"""Household tasks: the games of your ALFWorld data folder (`--data FOLDER`), or six small ones that come with Hardwon.

Shridhar et al., "ALFWorld", 2021. The goal is hidden in the game and the text never says that it is reached, so that a
loop on its reward has oracle feedback, as in the experiments of Reflexion; rows say so. `--feedback visible` has none.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from hardwon.environments.household import TOOLS, household_game, household_problem
from hardwon.environments.houses import Goal, House, pddl
from hardwon.errors import UsageError
from hardwon.sandbox.protocol import Sandbox
from hardwon.suites.choice import choose
from hardwon.suites.games import game_task, need_extra, refuse_generated
from hardwon.suites.protocol import SuiteOptions
from hardwon.task import Problem, Task
from hardwon.trial import Source

DATA = Path(__file__).parent / "data" / "households.toml"
STEPS = 50
"""As in the experiments of ReAct and Reflexion."""

NEEDED = ("textworld", "alfworld", "fast_downward")
"""Modules of the extra `games`."""

_SPLITS = {"train", "valid_train", "valid_seen", "valid_unseen"}
_GOAL = re.compile(r'Your task is to: ([^"\n]*?)\.?\s*"')


def load(options: SuiteOptions, sandbox: Sandbox) -> tuple[Task, ...]:
    """Raises UsageError that names the folder or game file that is wrong, or the extra that is missing."""
    refuse_generated(options)
    feedback: Source = "none" if options.feedback == "visible" else "oracle"
    need_extra("alfworld", *NEEDED)
    if options.data is not None:
        return _own(options, options.data, feedback)
    chosen = choose(list(houses().items()), lambda item: item[0], options)
    return tuple(
        game_task(
            Problem(task_id, f"Your task is to: {goal}.", "game"),
            partial(household_problem, problem),
            problem,
            feedback=feedback,
            told=False,
            steps=STEPS,
            tools=TOOLS,
        )
        for task_id, (goal, problem) in chosen
    )


def solutions(options: SuiteOptions) -> dict[str, str]:
    """None: a game is won by an episode, and no text is one."""
    return {}


def houses() -> dict[str, tuple[str, str]]:
    """The bundled games by task id: the goal in words, and the problem in PDDL."""
    found = {}
    for name, game in tomllib.loads(DATA.read_text(encoding="utf-8")).items():
        things = {place: tuple(inside) for place, inside in game["things"].items()}
        house = House(tuple(game["places"]), things, Goal(**game["goal"]))
        found[f"alfworld/{name}"] = (game["task"], pddl(house))
    return found


def _own(options: SuiteOptions, folder: Path, feedback: Source) -> tuple[Task, ...]:
    """The games under a folder, by their place; those that ALFWorld itself leaves out are left out."""
    if not folder.is_dir():
        raise UsageError(f"--data {folder}: no such folder; give the folder of ALFWorld's games (or a part)")
    files = {f"alfworld/{_place(path, folder)}": path for path in _game_files(folder)}
    if not files:
        raise UsageError(f"--data {folder}: holds no game.tw-pddl that can be played; alfworld-download brings them")
    games = {task_id: game for task_id, path in files.items() if (game := _read(path)).get("solvable", True)}
    if not games:
        raise UsageError(f"--data {folder}: none of its games can be solved; give another folder")
    chosen = choose(sorted(games), str, options)
    return tuple(
        game_task(
            Problem(task_id, f"Your task is to: {_goal(games[task_id], files[task_id])}.", "game"),
            partial(household_game, files[task_id]),
            json.dumps(games[task_id], sort_keys=True),
            feedback=feedback,
            told=False,
            steps=STEPS,
            tools=TOOLS,
        )
        for task_id in chosen
    )


def _place(path: Path, folder: Path) -> str:
    """Where a game lies, from the split on, so that it is the same task whichever part of the data is given (law 7).

    Outside of ALFWorld's own layout it is the path in the folder.
    """
    parts = path.parent.resolve().parts
    split = next((place for place in reversed(range(len(parts))) if parts[place] in _SPLITS), None)
    if split is not None:
        return "/".join(parts[split:])
    within = path.parent.relative_to(folder).as_posix()
    return folder.resolve().name if within == "." else within


def _game_files(folder: Path) -> Iterator[Path]:
    for path in folder.rglob("game.tw-pddl"):
        name = path.parent.relative_to(folder).as_posix()
        if "movable" not in name and "Sliced" not in name:
            yield path


def _read(path: Path) -> dict[str, Any]:
    try:
        game = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise UsageError(f"{path}: not a game of ALFWorld ({error}); make it again, or take it away") from None
    needed = ("pddl_domain", "pddl_problem", "grammar")
    if not isinstance(game, dict) or not all(isinstance(game.get(name), str) for name in needed):
        raise UsageError(f"{path}: not a game of ALFWorld ({', '.join(needed)} are needed); make it again")
    return game


def _goal(game: dict[str, Any], path: Path) -> str:
    found = _GOAL.search(game["grammar"])
    if found is None:
        raise UsageError(f"{path}: its grammar names no task ('Your task is to: …'); make the game again")
    return found[1].strip()
