"""A blocking world in a process of its own, one for each episode: it may crash or hang, and the run goes on."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

from hardwon.environments.protocol import Observation
from hardwon.errors import EnvironmentTrouble

_SOURCE = Path(__file__).parents[2]
_LONGEST_ANSWER = 4 << 20
_PASSED_ON = ("PATH", "LANG", "LC_ALL", "TZ", "LD_LIBRARY_PATH", "PYTHONDONTWRITEBYTECODE")
"""What of our environment a world is given: nothing that could be a secret."""


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
        self._child: _Child | None = None
        self._last: Observation | None = None
        self._acted = 0

    async def reset(self, seed: int) -> Observation:
        """Raises EnvironmentTrouble."""
        await self.close()
        self._child = _Child(self._opener)
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
        # cheaper than asyncio.timeout, and a killed process closes the channel
        timer = asyncio.get_running_loop().call_later(seconds, child.kill)
        try:
            answer = await child.ask(request)
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
        finally:
            timer.cancel()


class _Child:
    """The process of one episode, and the channel to it: a line of JSON each way, apart from what the world prints."""

    def __init__(self, opener: str) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="hardwon-world-", ignore_cleanup_errors=True)
        self._printed = Path(self._folder.name) / "printed"
        here, there = socket.socketpair()
        here.setblocking(False)
        self.killed = False
        self._channel = here
        place = self._folder.name
        environment = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
        environment |= {"HOME": place, "TMPDIR": place, "PYTHONPATH": str(_SOURCE)}
        environment["PYTHONHASHSEED"] = "0"  # the same seed gives the same world, whatever goes through a set
        try:
            with there, self._printed.open("wb") as printed:
                self._process = subprocess.Popen(
                    [sys.executable, "-m", "hardwon.environments.inside", str(there.fileno())],
                    cwd=place,
                    env=environment,
                    stdin=subprocess.DEVNULL,
                    stdout=printed,
                    stderr=printed,
                    pass_fds=(there.fileno(),),
                    start_new_session=True,
                )
        except OSError as error:
            here.close()
            self._folder.cleanup()
            raise EnvironmentTrouble(f"{opener}: no process could be started for the world: {error}") from error

    async def ask(self, request: Mapping[str, Any] | str) -> list[Any] | str:
        """What is answered to the opening, or to an action: an observation's fields in order, or an error's text.

        Raises OSError and ValueError where the process is gone or talks nonsense."""
        loop = asyncio.get_running_loop()
        await loop.sock_sendall(self._channel, json.dumps(request).encode() + b"\n")
        received = b""
        while not received.endswith(b"\n"):
            part = await loop.sock_recv(self._channel, 1 << 16)
            received += part
            if not part or len(received) > _LONGEST_ANSWER:
                raise ConnectionError("the channel was closed" if not part else "the answer does not end")
        answer: list[Any] | str = json.loads(received.decode())
        return answer

    def last_words(self) -> str:
        """How the process ended, with the last line that it printed."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(0.5)
        status = self._process.poll()
        if status is None:
            how = "answered with what is no observation"
        elif status < 0:
            how = f"was ended by signal {signal.Signals(-status).name}"
        else:
            how = f"left with status {status}"
        with self._printed.open("rb") as printed:
            printed.seek(max(0, self._printed.stat().st_size - 2000))
            lines = printed.read().decode(errors="replace").split("\n")
        last = next((line.strip() for line in reversed(lines) if line.strip()), "")
        return f"{how}: {last[:300]}" if last else how

    def kill(self) -> None:
        """Ends the process and all that it started."""
        self.killed = True
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)

    def end(self) -> None:
        """Ends the process, waits until it has gone, and removes its folder."""
        self._channel.close()
        self.kill()
        self._process.wait()
        self._folder.cleanup()
