"""TextWorld games of a chosen size, made from seeds; `--data` may name a small file of settings.

The settings are whole numbers: how many `games`, their `rooms`, `objects` and the length of their `quest`, the first
`seed`, and the most `steps` of an episode. A game is known by its size and seed, so that more games leave the others as
they are. Games are kept in `$HARDWON_CACHE/games`, else in `games` in the platform's cache folder.
"""

from __future__ import annotations

import json
import os
from functools import partial
from importlib.metadata import version
from pathlib import Path

from hardwon.environments.textworld import TOOLS, textworld_game
from hardwon.environments.textworld_making import GameSize, make_games, read_game
from hardwon.sandbox.protocol import Sandbox
from hardwon.suites.choice import choose
from hardwon.suites.games import game_task, need_extra, read_settings, refuse_generated
from hardwon.suites.protocol import SuiteOptions
from hardwon.task import Problem, Task

SETTINGS = {"games": 10, "rooms": 3, "objects": 6, "quest": 4, "seed": 1, "steps": 30}
MOST = {"games": 1000, "rooms": 50, "objects": 100, "quest": 30, "steps": 1000}
"""Making larger games takes minutes."""

NEEDED = ("textworld",)
"""Modules of the extra `games`."""


def load(options: SuiteOptions, sandbox: Sandbox) -> tuple[Task, ...]:
    """Makes the games that are not there yet, about a second each.

    Raises UsageError for what is wrong with settings and ids, and where the extra `games` is not installed.
    """
    settings = read_settings(options.data, SETTINGS, MOST)
    refuse_generated(options)
    need_extra("textworld", *NEEDED)
    return tuple(
        game_task(
            Problem(task_id, objective, "game"),
            partial(textworld_game, game),
            content,
            feedback="oracle" if options.feedback == "oracle" else "grounded",
            told=True,
            steps=settings["steps"],
            tools=TOOLS,
        )
        for task_id, game, objective, content in _games(settings, options)
    )


def solutions(options: SuiteOptions) -> dict[str, str]:
    """None: a game is won by an episode, and no text is one. `walkthroughs` has the actions."""
    return {}


def walkthroughs(options: SuiteOptions) -> dict[str, tuple[str, ...]]:
    """The actions that win each game, as TextWorld's maker knows them, by task id. Raises UsageError."""
    settings = read_settings(options.data, SETTINGS, MOST)
    found = _games(settings, options)
    return {task_id: tuple(read_game(game)["metadata"]["walkthrough"]) for task_id, game, _, _ in found}


def games_folder() -> Path:
    """Where games are kept that this version of TextWorld made."""
    chosen = os.environ.get("HARDWON_CACHE")
    if chosen:
        cache = Path(chosen).expanduser()
    else:
        from platformdirs import user_cache_dir

        cache = Path(user_cache_dir("hardwon"))
    return cache / "games" / f"textworld-{version('textworld')}"


def _games(settings: dict[str, int], options: SuiteOptions) -> list[tuple[str, Path, str, str]]:
    """Id, file, objective and content of each chosen game."""
    size = GameSize(settings["rooms"], settings["objects"], settings["quest"])
    first = settings["seed"]
    seeds = {f"textworld/{size}/{seed}": seed for seed in range(first, first + settings["games"])}
    chosen = choose(list(seeds), str, options)
    games = make_games(games_folder(), size, [seeds[task_id] for task_id in chosen])
    found = []
    for task_id in chosen:
        game = read_game(games[seeds[task_id]])
        found.append((task_id, games[seeds[task_id]], game["objective"], json.dumps(game, sort_keys=True)))
    return found
