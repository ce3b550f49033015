"""A blocking world in a process of its own, one for each episode: it may crash or hang, and the run goes on."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

from hardwon.environments.child import Child
from hardwon.environments.protocol import Observation
from hardwon.errors import EnvironmentTrouble

MOST_STEPS = 1000
"""Of an episode that whoever acts in it bounds."""


class World(Protocol):
    """What runs inside: plain blocking code, which may raise whatever it likes."""

    def reset(self, seed: int) -> Observation: ...

    def step(self, action: str) -> Observation: ...


@dataclass(frozen=True, slots=True)
class WorldLimits:
    """Bounds of an episode.

    Seconds until the first observation and until each further one, the most actions, and the characters of an
    observation; what is left out of a longer one is said in its place.
    """

    start_seconds: float = 120.0
    step_seconds: float = 20.0
    steps: int = 200
    characters: int = 4000


class ProcessWorld:
    """An `Environment` around the blocking world that `opener` makes, as "module:function", from `settings`.

    Settings are plain JSON values. Each reset starts a new process, in an empty folder that goes with it; `close` ends
    it and never waits for the world. What is done stays done: further actions are answered by the last observation.
    """

    def __init__(self, opener: str, settings: Mapping[str, Any], limits: WorldLimits = WorldLimits()) -> None:
        self._opener = opener
        self._settings = dict(settings)
        self._limits = limits
        self._child: Child | None = None
        self._last: Observation | None = None
        self._acted = 0

    async def reset(self, seed: int) -> Observation:
        """Raises EnvironmentTrouble."""
        await self.close()
        self._child = Child(self._opener)
        opening = {
            "path": [str(Path(entry).absolute()) for entry in sys.path],
            "opener": self._opener,
            "settings": self._settings,
            "characters": self._limits.characters,
            "seed": seed,
        }
        self._acted = 0
        self._last = await self._ask(opening, self._limits.start_seconds)
        return self._last

    async def step(self, action: str) -> Observation:
        """Raises EnvironmentTrouble, also where no episode is going on."""
        if self._last is None:
            raise EnvironmentTrouble(f"{self._opener}: no episode is going on; reset the world first")
        if self._last.done:
            return self._last
        self._acted += 1
        self._last = await self._ask(action, self._limits.step_seconds)
        if self._acted >= self._limits.steps and not self._last.done:
            text = f"{self._last.text}\n[The episode ends here: {self._acted} actions are the most of one.]"
            self._last = replace(self._last, text=text, done=True)
        return self._last

    async def close(self) -> None:
        child, self._child, self._last = self._child, None, None
        if child is not None:
            child.end()

    async def _ask(self, request: Mapping[str, Any] | str, seconds: float) -> Observation:
        child = self._child
        assert child is not None
        try:
            answer = await child.ask(request, seconds)
            if isinstance(answer, str):
                raise EnvironmentTrouble(f"{self._opener}: {answer}")
            text, reward, done, won, valid, said = answer
            return Observation(text, reward, done, won, None if valid is None else tuple(valid), said)
        except (OSError, ValueError, TypeError) as error:
            late = f"gave no answer within {seconds:g} seconds and was ended"
            told = late if child.killed else child.last_words()
            await self.close()
            raise EnvironmentTrouble(f"{self._opener}: the world's process {told}") from error
        except BaseException:
            await self.close()  # a conversation that broke off can not be taken up again
            raise
