"""The `Environment` protocol: a world that answers actions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Observation:
    """What the world says after a reset or an action.

    `reward` is the score so far in 0..1. `done` says that no further action counts, `won` that the goal is reached in
    the world's own words: done is not won. `valid_actions` are all that the world would take now, None where it does
    not tell. `answer` is what the action handed in as the episode's answer, if it did.
    """

    text: str
    reward: float = 0.0
    done: bool = False
    won: bool = False
    valid_actions: tuple[str, ...] | None = None
    answer: str | None = None


def broken(game: str, error: Exception) -> str:
    """What to say of a game's file that could not be opened."""
    told = " ".join(f"{type(error).__name__}: {error}".split())
    return f"{game} is no game that can be played ({told[:200]}); make it again, or take it away"


class Environment(Protocol):
    """One episode at a time; the same seed gives the same world.

    Raises EnvironmentTrouble when the world itself fails: it crashed, hung, or could not be started (law 8). What an
    action did wrong is no trouble: the observation says it.
    """

    async def reset(self, seed: int) -> Observation: ...

    async def step(self, action: str) -> Observation: ...

    async def close(self) -> None: ...
