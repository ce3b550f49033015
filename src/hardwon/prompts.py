"""Prompt texts: Jinja files beside their room in `prompts/`, strict about unknown names.

`render("actors/program", …)` reads `hardwon/actors/prompts/program.txt`, or the file of the same name in the folder
that the user chose with `use_folder`. The hash of every prompt is in a run's configuration.
"""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from hardwon.errors import UsageError

if TYPE_CHECKING:
    from jinja2 import Environment, Template

_PACKAGE = Path(__file__).parent
_ROOMS = ("actors", "evaluators", "memory", "reflection")
_APART = ("memory/", "actors/native_")
_chosen: Path | None = None


def use_folder(folder: Path | None) -> None:
    """Prefers the prompts in `folder` (laid out as `room/name.txt`) over the built-in ones; None undoes it.

    Raises UsageError for a folder that is not there, or a file in it that replaces no known prompt.
    """
    global _chosen
    if folder is not None:
        if not folder.is_dir():
            raise UsageError(f"--prompts {folder}: no such folder; give a folder laid out as ROOM/NAME.txt")
        known = set(names())
        for path in folder.rglob("*.txt"):
            name = path.relative_to(folder).with_suffix("").as_posix()
            if name not in known:
                raise UsageError(
                    f"{path}: replaces no prompt; the prompts are {', '.join(sorted(known))} (each with .txt)"
                )
    _chosen = folder
    _template.cache_clear()


def names() -> tuple[str, ...]:
    """The names of all prompts, as `room/name`."""
    return tuple(sorted(f"{room}/{path.stem}" for room in _ROOMS for path in _room_folder(room).glob("*.txt")))


def render(name: str, **values: object) -> str:
    """The prompt's text with `values` filled in.

    Raises UsageError for a prompt that does not exist, is not valid Jinja or names a value that is not given.
    """
    from jinja2 import TemplateError

    try:
        return _template(name).render(**values).strip()
    except TemplateError as error:
        raise UsageError(f"{_path(name)}: {error}; mend the prompt") from error


def hashes(*, bank: bool = False, native: bool = False) -> dict[str, str]:
    """SHA-256 of every prompt in force, by name: of the loop, of the reasoning bank (`bank`), of tool calls (`native`).

    Those of the bank and of tool calls are apart, so that a run without them is not a new one when they change.
    """
    part = "memory/" if bank else "actors/native_" if native else ""
    wanted = (name for name in names() if name.startswith(part or _APART) == bool(part))
    return {name: hashlib.sha256(_path(name).read_bytes()).hexdigest() for name in wanted}


def _room_folder(room: str) -> Path:
    return _PACKAGE / room / "prompts"


def _path(name: str) -> Path:
    room, _, stem = name.partition("/")
    if _chosen is not None and (_chosen / room / f"{stem}.txt").is_file():
        return _chosen / room / f"{stem}.txt"
    return _room_folder(room) / f"{stem}.txt"


@cache
def _environment() -> Environment:
    from jinja2 import Environment, StrictUndefined

    return Environment(undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, autoescape=False)


@cache
def _template(name: str) -> Template:
    path = _path(name)
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise UsageError(f"no prompt named {name}; the prompts are {', '.join(names())}") from None
    return _environment().from_string(text)
