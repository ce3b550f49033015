"""Worlds that behave badly, or tell what they see; each runs in a process of its own."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

from hardwon.environments.protocol import Observation


class Echo:
    """Says what was done, counts it, and is won by `win`; a few words do harm."""

    def __init__(self, first: str = "begin") -> None:
        self._first = first
        self._count = 0

    def reset(self, seed: int) -> Observation:
        return Observation(f"{self._first} {seed}", valid_actions=("win",))

    def step(self, action: str) -> Observation:
        self._count += 1
        if action == "leave":
            os._exit(3)
        if action == "segfault":
            os.kill(os.getpid(), signal.SIGSEGV)
        if action == "hang":
            signal.pause()
        if action == "raise":
            raise ValueError("the door\nis stuck")
        if action == "nonsense":
            return Observation("x", valid_actions={"a": object()})  # type: ignore[arg-type]
        if action == "print":
            print("nobody asked for this" * 10_000, flush=True)
        if action == "long":
            return Observation("a" * 5000 + "b" * 5000)
        won = action == "win"
        return Observation(f"{self._count}: {action}", self._count / 100, won, won)


class Inside:
    """Tells its process number, its folder and its environment."""

    def reset(self, seed: int) -> Observation:
        return Observation(f"{os.getpid()}\n{Path.cwd()}\n{sorted(os.environ)}")

    def step(self, action: str) -> Observation:
        Path("left-behind").write_text("x")
        signal.pause()
        return Observation("")


class Meeting:
    """A step ends when so many worlds are in it at the same time."""

    def __init__(self, folder: str, expected: int) -> None:
        self._folder, self._expected = Path(folder), expected

    def reset(self, seed: int) -> Observation:
        return Observation("")

    def step(self, action: str) -> Observation:
        (self._folder / str(os.getpid())).touch()
        while sum(1 for _ in self._folder.iterdir()) < self._expected:
            time.sleep(0.01)
        return Observation("all are here", 1.0, True, True)


def hanging() -> Echo:
    signal.pause()
    return Echo()
