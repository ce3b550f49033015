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

from pydantic_core import PydanticSerializationError, to_json

from hardwon.environments.protocol import Observation
from hardwon.evaluators.verdict import cut

_PR_SET_PDEATHSIG = 1
_LARGEST_FILE = 256 << 20


def main() -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    resource.setrlimit(resource.RLIMIT_FSIZE, (_LARGEST_FILE, _LARGEST_FILE))
    requests, answers = os.fdopen(int(sys.argv[1]), "rb"), int(sys.argv[2])
    opening = json.loads(requests.readline())
    sys.path[:] = opening["path"]
    characters = opening["characters"]
    try:
        module, _, function = opening["opener"].partition(":")
        world = getattr(import_module(module), function)(**opening["settings"])
        _answer(answers, world.reset(opening["seed"]), characters)
        for line in requests:
            _answer(answers, world.step(json.loads(line)), characters)
    except Exception as error:
        _say(answers, cut(f"{type(error).__name__}: {error}".strip().partition("\n")[0], 500))
        raise


def _answer(answers: int, seen: Observation, characters: int) -> None:
    _say(answers, [cut(seen.text, characters), seen.reward, seen.done, seen.won, seen.valid_actions, seen.answer])


def _say(answers: int, content: list[Any] | str) -> None:
    try:
        line = to_json(content)
    except PydanticSerializationError:  # what is no observation: an error; or half a character, which can not cross
        line = json.dumps(content, ensure_ascii=False).encode(errors="replace")
    rest = memoryview(line + b"\n")
    while rest:
        rest = rest[os.write(answers, rest) :]


if __name__ == "__main__":
    main()
