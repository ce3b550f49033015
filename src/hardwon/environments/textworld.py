"""TextWorld (Côté et al. 2018): text games made from a seed, which know themselves when their goal is reached."""

from __future__ import annotations

import os
import re
import shutil
import unicodedata
from dataclasses import replace
from pathlib import Path
from typing import Any

from hardwon.environments.process import MOST_STEPS, ProcessWorld, WorldLimits
from hardwon.environments.protocol import Observation, broken

TOOLS = """\
look: describe the room again
inventory: list what you carry
go north, go south, go east, go west: walk through an exit
open X, close X: a door or a container
unlock X with Y, lock X with Y: with the key that fits
take X, take X from Y: pick a thing up, from a container or a supporter
drop X, put X on Y, insert X into Y: lay a thing down
examine X: look at a thing closely
eat X: some food"""

_OUTSIDE = {
    "save", "restore", "script", "unscript", "transcript", "recording", "replay", "restart", "quit", "q", "undo",
    "verify", "notify", "version",
}  # fmt: skip
"""Commands to the interpreter, not to the world: they would write files, or undo what happened."""
_STATUS_LINE = re.compile(r"\n>[ \t]*(?:-= [^\n]*)?\s*$")
_MENU = re.compile(r"\s*Would you like to RESTART, RESTORE.*\Z", re.DOTALL)
_GAP = re.compile(r"\n\s*\n")
_ONE_ACTION = re.compile(r"[.;\n]|,?\s+then\s+", re.IGNORECASE)


def textworld_game(game: Path, steps: int = MOST_STEPS) -> ProcessWorld:
    """The world of a game that was made (its .json); the playable file is compiled beside it when first needed."""
    return ProcessWorld(f"{__name__}:Game", {"game": str(game.absolute())}, WorldLimits(steps=steps))


class Game:
    """Plays one game; runs in a process of its own. Needs the extra `games`."""

    def __init__(self, game: str) -> None:
        import textworld

        infos = textworld.EnvInfos(
            admissible_commands=True, won=True, lost=True, score=True, max_score=True, objective=True
        )
        try:
            self._game = textworld.start(_compiled(Path(game)), infos)
        except Exception as error:
            raise ValueError(broken(game, error)) from error
        self._last = Observation("")

    def reset(self, seed: int) -> Observation:
        """The room the game begins in; a game is the same for every seed, since it was made from its own."""
        state = self._game.reset()
        # The banner goes, and so does the objective: that is the task.
        self._last = _seen(state, state["feedback"].partition(state["objective"])[2])
        return self._last

    def step(self, action: str) -> Observation:
        """One action; of several in one line the first is done."""
        plain = unicodedata.normalize("NFKD", action).encode("ascii", "ignore").decode().replace("\0", " ")
        command = _ONE_ACTION.split(plain.strip(), maxsplit=1)[0].strip()
        if not command or any(map(_is_outside, command.split(","))):  # "me, restart" restarts too
            return replace(self._last, text="That is no action of this world.")
        state, _, _ = self._game.step(command)
        self._last = _seen(state, state["feedback"])
        return self._last


def _is_outside(order: str) -> bool:
    """Whether an order is to the interpreter and not to the world."""
    verb = order.strip(" \t\"'").partition(" ")[0].lower()
    return verb in _OUTSIDE or verb.startswith("tw-")


def _seen(state: dict[str, Any], text: str) -> Observation:
    known = state.get  # as attributes these are several times as slow
    score = min(max((known("score") or 0) / (known("max_score") or 1), 0.0), 1.0)
    won = bool(known("won"))
    text = _STATUS_LINE.sub("", text)
    if "Would you like to RESTART" in text:  # found out at a tenth of what the pattern takes
        text = _MENU.sub("", text)
    return Observation(
        text=_GAP.sub("\n\n", text.strip()),
        reward=score,
        done=won or bool(known("lost")),
        won=won and score == 1.0,  # the first alone is read from the text
        valid_actions=tuple(state["admissible_commands"]),
    )


def _compiled(game: Path) -> str:
    """The playable file of a game, made if it is not there whole; two who make it at once are no trouble."""
    playable = game.with_suffix(".z8")
    if not _is_whole(playable):
        from textworld.generator import Game as Made
        from textworld.generator.inform7 import compile_inform7_game, generate_inform7_source

        here = Path.cwd() / playable.name
        compile_inform7_game(generate_inform7_source(Made.load(str(game))), str(here))
        beside = game.with_name(f".{playable.name}.{os.getpid()}")
        shutil.copyfile(here, beside)
        beside.replace(playable)
    return str(playable)


def _is_whole(playable: Path) -> bool:
    """Whether a story file is there with the length and checksum that its header tells (Z-Machine standard, 11.1)."""
    try:
        story = playable.read_bytes()
    except FileNotFoundError:
        return False
    length = 8 * int.from_bytes(story[0x1A:0x1C])
    return len(story) >= length > 0x40 and sum(story[0x40:length]) % 0x10000 == int.from_bytes(story[0x1C:0x1E])
