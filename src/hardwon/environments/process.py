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


class _Child:
    """The process of one episode, and the channel to it: a line of JSON each way, apart from what the world prints.

    A step must cost little beside the world's own. Hence the loop watches the channel for as long as the episode goes
    on, and one timer follows the deadline of whatever is being waited for: neither is set up anew for each step.
    """

    def __init__(self, opener: str) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="hardwon-world-", ignore_cleanup_errors=True)
        self._printed = Path(self._folder.name) / "printed"
        here, there = socket.socketpair()
        here.setblocking(False)
        self.killed = False
        self._channel = here
        self._loop: asyncio.AbstractEventLoop | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._due: float | None = None
        self._received = b""
        self._answer: asyncio.Future[list[Any] | str] | None = None
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

    async def ask(self, request: Mapping[str, Any] | str, seconds: float) -> list[Any] | str:
        """What is answered to the opening, or to an action: an observation's fields in order, or an error's text.

        Raises OSError and ValueError where the process is gone or talks nonsense; it is ended after `seconds`."""
        loop = asyncio.get_running_loop()
        if loop is not self._loop:
            self._leave()
            self._loop = loop
            loop.add_reader(self._channel, self._readable)
        self._received, self._answer = b"", loop.create_future()
        self._expect(loop, loop.time() + seconds)
        try:
            await self._send(loop, json.dumps(request).encode() + b"\n")
            return await self._answer
        finally:
            self._due = self._answer = None

    async def _send(self, loop: asyncio.AbstractEventLoop, line: bytes) -> None:
        try:
            sent = self._channel.send(line)
        except BlockingIOError:
            sent = 0
        if sent < len(line):
            await loop.sock_sendall(self._channel, line[sent:])

    def _readable(self) -> None:
        """Takes in what has come; a whole line is the answer. What comes unasked is dropped."""
        answer = self._answer
        try:
            part = self._channel.recv(1 << 16)
            if not part:
                raise ConnectionError("the channel was closed")
            if answer is None or answer.done():
                return
            self._received += part
            if len(self._received) > _LONGEST_ANSWER:
                raise ConnectionError("the answer does not end")
            if part.endswith(b"\n"):
                answer.set_result(json.loads(self._received.decode()))
        except BlockingIOError:
            return
        except OSError as error:
            self._leave()
            if answer is not None and not answer.done():
                answer.set_exception(error)
        except ValueError as error:
            assert answer is not None
            answer.set_exception(error)

    def _expect(self, loop: asyncio.AbstractEventLoop, due: float) -> None:
        """Sees that the process is ended if it has not answered by `due`, by the loop's clock."""
        self._due = due
        if self._timer is None or self._timer.when() > due:
            self._stop_timer()
            self._timer = loop.call_at(due, self._look, loop)

    def _look(self, loop: asyncio.AbstractEventLoop) -> None:
        self._timer = None
        if self._due is None:
            return
        if loop.time() < self._due:
            self._expect(loop, self._due)
        else:
            self.kill()  # which closes the channel

    def _leave(self) -> None:
        """Lets go of the loop: the channel is no longer watched, and what is asked next watches it anew."""
        self._stop_timer()
        if self._loop is not None:
            self._loop.remove_reader(self._channel)
            self._loop = None

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

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
        self._leave()
        self._channel.close()
        self.kill()
        self._process.wait()
        self._folder.cleanup()
