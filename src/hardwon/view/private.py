"""What an export leaves out: where things lie on the machine that made it."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from html import escape
from pathlib import Path
from typing import Any

import hardwon
from hardwon.errors import UsageError
from hardwon.runs.folder import read_config
from hardwon.view.branch import ORIGIN

_WHOLE = re.compile(r"(?:[a-z]+:)?(/.+)", re.DOTALL)
"""A value of a configuration that is a path, or names one behind what it is: `script:/place/file.json`."""

_BEFORE = r"(?:(?<![\w./-])|(?<=file://)|(?<=\[[0-9]m)|(?<=[0-9;][0-9]m)|(?<= -[A-Z]))"
"""What stands before a path: no other part of one, but the sign of an address, a colour or a compiler's option."""


def without_places(folders: Iterable[Path], places: Iterable[Path]) -> Callable[[str], str]:
    """What takes the places of this machine out of a page: of a path below one of them its last name is left.

    Places are the user's home, the working folder, where Hardwon and Python lie, the run `folders`, the `places` that
    the user named, and what the runs' configurations name (data, scripts). Other paths are left as they are: a program
    that opens `/dev/null` does so in the export too.
    """
    known = {Path.home(), Path.cwd(), Path(sys.prefix), Path(sys.base_prefix), Path(hardwon.__file__).parent.parent}
    for folder in folders:
        known |= {folder.parent, *(Path(text).parent for text in _paths(_told(folder)))}
    known |= {place.absolute().parent for place in places}
    names = sorted({text for place in known if (text := str(place)) != "/"}, key=len, reverse=True)
    below = "|".join(re.escape(escape(name)) for name in names)
    path = re.compile(rf"{_BEFORE}(?:{below})(?:/((?:[^\s<>&\"'`:;,()\[\]]*/)*)([^\s<>&\"'`:;,()\[\]/]*))?(?![\w-])")
    return lambda page: path.sub(lambda found: f"…/{found[2] or ''}", page)


def _told(folder: Path) -> list[Any]:
    """What a run folder says of itself, as far as it reads."""
    found: list[Any] = []
    with suppress(UsageError):
        found.append(read_config(folder))
    with suppress(OSError, ValueError):
        found.append(json.loads((folder / ORIGIN).read_text(encoding="utf-8")))
    return found


def _paths(value: object) -> Iterator[str]:
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        for one in value:
            yield from _paths(one)
    elif isinstance(value, str) and (found := _WHOLE.fullmatch(value)):
        yield found[1]
