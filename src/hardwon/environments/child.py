"""The process of one episode, from the outside: started, asked, watched, ended."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic_core import from_json

from hardwon.errors import EnvironmentTrouble

_SOURCE = Path(__file__).parents[2]
_LONGEST_ANSWER = 4 << 20
_PASSED_ON = ("PATH", "LANG", "LC_ALL", "TZ", "LD_LIBRARY_PATH", "PYTHONDONTWRITEBYTECODE")
"""What of our environment a world is given: nothing that could be a secret."""


class Child:
    """The process of one episode, and the pipes to it: a line of JSON each way, apart from what the world prints.

    A step must cost little beside the world's own. Hence the loop watches the answers for as long as the episode goes
    on, and one timer follows the deadline of whatever is being waited for: neither is set up anew for each step. A
    pipe wakes the other side sooner than a socket does.
    """

    def __init__(self, opener: str) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="hardwon-world-", ignore_cleanup_errors=True)
        self._printed = Path(self._folder.name) / "printed"
        self.killed = False
        (its_requests, requests), (answers, its_answers) = os.pipe(), os.pipe()
        self._requests, self._answers = os.fdopen(requests, "wb", 0), os.fdopen(answers, "rb", 0)
        os.set_blocking(requests, False)
        os.set_blocking(answers, False)
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
            with (
                os.fdopen(its_requests, "rb", 0),
                os.fdopen(its_answers, "wb", 0),
                self._printed.open("wb") as printed,
            ):
                self._process = subprocess.Popen(
                    [sys.executable, "-m", "hardwon.environments.inside", str(its_requests), str(its_answers)],
                    cwd=place,
                    env=environment,
                    stdin=subprocess.DEVNULL,
                    stdout=printed,
                    stderr=printed,
                    pass_fds=(its_requests, its_answers),
                    start_new_session=True,
                )
        except OSError as error:
            self._requests.close()
            self._answers.close()
            self._folder.cleanup()
            raise EnvironmentTrouble(f"{opener}: no process could be started for the world: {error}") from error

    async def ask(self, request: Mapping[str, Any] | str, seconds: float) -> list[Any] | str:
        """What is answered to the opening, or to an action: an observation's fields in order, or an error's text.

        Raises OSError and ValueError where the process is gone or talks nonsense; it is ended after `seconds`."""
        loop = asyncio.get_running_loop()
        if loop is not self._loop:
            self._leave()
            self._loop = loop
            loop.add_reader(self._answers, self._readable)
        self._received, self._answer = b"", loop.create_future()
        self._expect(loop, loop.time() + seconds)
        try:
            await self._send(loop, json.dumps(request).encode() + b"\n")
            return await self._answer
        finally:
            self._due = self._answer = None

    async def _send(self, loop: asyncio.AbstractEventLoop, line: bytes) -> None:
        sent = self._requests.write(line) or 0
        while sent < len(line):
            room = asyncio.Event()
            loop.add_writer(self._requests, room.set)
            try:
                await room.wait()
            finally:
                loop.remove_writer(self._requests)
            sent += self._requests.write(line[sent:]) or 0

    def _readable(self) -> None:
        """Takes in what has come; a whole line is the answer. What comes unasked is dropped."""
        answer = self._answer
        try:
            part = self._answers.read(1 << 16)
            if part is None:
                return
            if not part:
                raise ConnectionError("the pipe was closed")
            if answer is None or answer.done():
                return
            self._received += part
            if len(self._received) > _LONGEST_ANSWER:
                raise ConnectionError("the answer does not end")
            if part.endswith(b"\n"):
                answer.set_result(from_json(self._received))
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
            self.kill()  # which closes the pipes

    def _leave(self) -> None:
        """Lets go of the loop: the answers are no longer watched, and what is asked next watches it anew."""
        self._stop_timer()
        if self._loop is not None:
            self._loop.remove_reader(self._answers)
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
        self._requests.close()
        self._answers.close()
        self.kill()
        self._process.wait()
        self._folder.cleanup()
