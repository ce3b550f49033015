"""Household worlds (ALFWorld, Shridhar et al. 2021): tasks about things and places, written in PDDL, played as text.

A game file of ALFWorld brings its own logic and grammar, and the grammar holds expressions that are evaluated: play
only files that you trust. They are evaluated in the world's own process, without your environment variables.
"""

from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from hardwon.environments.process import MOST_STEPS, ProcessWorld, WorldLimits
from hardwon.environments.protocol import Observation, broken

TOOLS = """\
look: look around
inventory: what you carry (one thing at most)
go to PLACE: walk to a place, such as cabinet 1
open PLACE, close PLACE: places that can be closed, where you are
take THING from PLACE, move THING to PLACE: where you are
examine THING, examine PLACE: look at it closely
clean THING with PLACE: at a sink basin, with the thing in your hand
heat THING with PLACE: at a microwave, with the thing in your hand
cool THING with PLACE: at a fridge, with the thing in your hand
slice THING with THING: with a knife in your hand
use THING: turn a lamp on"""


def household_game(game: Path, steps: int = MOST_STEPS) -> ProcessWorld:
    """The world of a game file of ALFWorld (game.tw-pddl)."""
    return ProcessWorld(f"{__name__}:from_file", {"game": str(game.absolute())}, WorldLimits(steps=steps))


def household_problem(problem: str, steps: int = MOST_STEPS) -> ProcessWorld:
    """The world of a problem in PDDL, over the logic files that the package `alfworld` carries."""
    return ProcessWorld(f"{__name__}:from_problem", {"problem": problem}, WorldLimits(steps=steps))


def logic_folder() -> Path | None:
    """Where the package `alfworld` keeps its logic files; None where it is not installed. Imports nothing."""
    spec = find_spec("alfworld")
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        if (Path(folder) / "data" / "alfred.pddl").is_file():
            return Path(folder) / "data"
    return None


def from_file(game: str) -> Household:
    """Raises ValueError that names the file."""
    try:
        return Household(json.loads(Path(game).read_text(encoding="utf-8")))
    except ImportError:
        raise
    except Exception as error:
        raise ValueError(broken(game, error)) from error


def from_problem(problem: str, planned: bool = False) -> Household:
    folder = logic_folder()
    if folder is None:
        raise FileNotFoundError("the logic files of the package alfworld are not there")
    domain, grammar = ((folder / name).read_text(encoding="utf-8") for name in ("alfred.pddl", "alfred.twl2"))
    return Household({"pddl_domain": domain, "grammar": grammar, "pddl_problem": problem}, planned)


class Household:
    """Plays one game; runs in a process of its own. Needs the extra `games`."""

    def __init__(self, game: dict[str, Any], planned: bool = False) -> None:
        import textworld
        from textworld.envs.pddl.pddl import PddlEnv

        infos = textworld.EnvInfos(admissible_commands=True, won=True, policy_commands=planned)
        self._game = PddlEnv(infos)
        self._game.load(game)
        _name(self._game._entity_infos)

    def reset(self, seed: int) -> Observation:
        """The room as it is before anything was done; the game is the same for every seed."""
        state = self._game.reset()
        # The banner goes, and so does the goal: that is the task.
        return _seen(state, state.feedback.partition("\n\n")[2].rpartition("Your task is to:")[0])

    def step(self, action: str) -> Observation:
        state, _, _ = self._game.step(" ".join(action.strip().rstrip(".").lower().split()))
        return _seen(state, state.feedback)

    def plan(self) -> list[str]:
        """The planner's way from here to the goal, if the world was made `planned`; empty where there is none."""
        return list(self._game.state.policy_commands)


def _seen(state: Any, text: str) -> Observation:
    won = bool(state.won)
    return Observation(text.strip(), float(won), won, won, tuple(state.admissible_commands))


def _name(entities: dict[str, Any]) -> None:
    """Names as ALFWorld gives them: the kind and a number, counted down over the sorted ids of the kind."""
    kinds: dict[str, list[str]] = {}
    for entity in sorted(entities):
        head, bar, _ = entity.partition("_bar_")
        if bar:
            kinds.setdefault(head + "basin" if "basin" in entity else head, []).append(entity)
    for kind, ids in kinds.items():
        for number, entity in enumerate(reversed(ids), 1):
            entities[entity].name = f"{kind} {number}"
