"""What runs in a world's process: opens the world, answers one request after the other, ends with its parent."""

from __future__ import annotations

import ctypes
import json
import os
import resource
import signal
import sys
from importlib import import_module
from typing import Any

from hardwon.environments.protocol import Observation
from hardwon.evaluators.verdict import cut

_PR_SET_PDEATHSIG = 1
_LARGEST_FILE = 256 << 20


def main() -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    resource.setrlimit(resource.RLIMIT_FSIZE, (_LARGEST_FILE, _LARGEST_FILE))
    channel = int(sys.argv[1])
    requests = open(channel, "rb")  # noqa: SIM115  (a plain file of the socket: nothing of Python's between)
    opening = json.loads(requests.readline())
    sys.path[:] = opening["path"]
    characters = opening["characters"]
    try:
        module, _, function = opening["opener"].partition(":")
        world = getattr(import_module(module), function)(**opening["settings"])
        _answer(channel, world.reset(opening["seed"]), characters)
        for line in requests:
            _answer(channel, world.step(json.loads(line)), characters)
    except Exception as error:
        _say(channel, cut(f"{type(error).__name__}: {error}".strip().partition("\n")[0], 500))
        raise


def _answer(channel: int, seen: Observation, characters: int) -> None:
    _say(channel, [cut(seen.text, characters), seen.reward, seen.done, seen.won, seen.valid_actions, seen.answer])


def _say(channel: int, content: list[Any] | str) -> None:
    line = memoryview(json.dumps(content).encode() + b"\n")
    while line:
        line = line[os.write(channel, line) :]


if __name__ == "__main__":
    main()
