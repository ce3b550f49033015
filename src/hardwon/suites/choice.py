"""Which tasks of a suite are worked: those asked for by id, the first so many, and no id twice."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from difflib import get_close_matches
from typing import TypeVar

from hardwon.errors import UsageError
from hardwon.suites.protocol import SuiteOptions
from hardwon.suites.read import Row

T = TypeVar("T")


def need_unique(items: Iterable[tuple[Row, str]]) -> None:
    """Raises UsageError that names the second row of an id and the line of its first."""
    first: dict[str, Row] = {}
    for row, task_id in items:
        earlier = first.setdefault(task_id, row)
        if earlier is not row:
            line = earlier.place.rpartition(":")[2]
            raise row.wrong(f"the task id {task_id!r} is on line {line} already; give each task its own")


def choose(items: Sequence[T], id_of: Callable[[T], str], options: SuiteOptions) -> Sequence[T]:
    """The items that `options` ask for, in their order.

    Raises UsageError for an id that is asked for and not there, where nothing is left, and for a limit below 1.
    """
    if options.limit is not None and options.limit < 1:
        raise UsageError(f"--limit {options.limit}: want a number from 1")
    if options.ids is not None:
        known = [id_of(item) for item in items]
        if not options.ids:
            raise UsageError("--ids names no task; give ids with commas between them, or leave it out")
        for wanted in options.ids:
            if wanted not in known:
                raise UsageError(f"--ids {wanted}: no such task; {_hint(wanted, known)}")
        items = [item for item in items if id_of(item) in options.ids]
    return options.picking(items, id_of)[: options.limit]


def _hint(wanted: str, known: Sequence[str]) -> str:
    near = [name for name in known if name.rpartition("/")[2] == wanted] or get_close_matches(wanted, known, 1)
    if near:
        return f"did you mean {near[0]}?"
    return f"the {len(known)} ids here look like {known[0]}"
