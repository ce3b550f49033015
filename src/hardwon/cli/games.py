"""What `hardwon doctor` looks at for the suites of games."""

from __future__ import annotations

import os
import shlex
import shutil
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import Any

_PACKAGES = ("textworld", "alfworld")
_COMPILERS = ("cc", "gcc", "clang")


@dataclass(frozen=True, slots=True)
class GamesState:
    """Versions of the packages of the extra `games` (None: not installed), and where a C compiler is.

    The compiler builds them where they are installed; playing needs none.
    """

    packages: dict[str, str | None]
    compiler: str | None

    def as_json(self) -> dict[str, Any]:
        return {**asdict(self), "installed": None not in self.packages.values()}

    def as_lines(self) -> list[str]:
        missing = "not found; to install the extra games it takes one: as root, apt-get install build-essential"
        found = [(name, number or 'needs: pip install "hardwon[games]"') for name, number in self.packages.items()]
        return [
            "games",
            *(f"  {name:<10}  {what}" for name, what in (*found, ("C compiler", self.compiler or missing))),
        ]


def games_state() -> GamesState:
    """Looks at what is installed; imports nothing."""
    return GamesState({name: _version(name) for name in _PACKAGES}, _compiler())


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _compiler() -> str | None:
    """What $CC names, else the first of the usual names that is there."""
    named = shlex.split(os.environ.get("CC", ""))[:1]
    return next((found for name in (*named, *_COMPILERS) if (found := shutil.which(name))), None)
