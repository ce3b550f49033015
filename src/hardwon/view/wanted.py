"""Which rows of a run a page lists: the reader's filter, order and place, kept in the address."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import islice
from typing import Any

from hardwon.runs.row import Row
from hardwon.view.rows import OUTCOMES, Rows, outcome, tokens

PAGE = 100
"""So many tasks are on a page."""

ORDERS: dict[str, str] = {
    "task": "task",
    "tokens": "most tokens",
    "trials": "most trials",
    "time": "longest",
    "lessons": "most lessons",
}
_BY: dict[str, Callable[[Row], float]] = {
    "tokens": tokens,
    "trials": lambda row: row.trials,
    "time": lambda row: row.wall_s,
    "lessons": lambda row: row.lessons,
}


@dataclass(frozen=True, slots=True)
class Wanted:
    """What to list: rows of this outcome, arm, reason to stop, whose id holds this text; in this order, this page."""

    outcome: str = ""
    arm: str = ""
    stop: str = ""
    find: str = ""
    order: str = "task"
    page: int = 1

    @classmethod
    def read(cls, query: Mapping[str, str]) -> Wanted:
        """From an address; what makes no sense there is as if it were not."""
        page = query.get("page", "1")
        order = query.get("order", "task")
        return cls(
            outcome=query.get("outcome", "") if query.get("outcome") in OUTCOMES else "",
            arm=query.get("arm", ""),
            stop=query.get("stop", ""),
            find=query.get("find", "")[:200].strip(),
            order=order if order in ORDERS else "task",
            page=max(1, int(page)) if page.isascii() and page.isdigit() and len(page) < 9 else 1,
        )

    def query(self, **changes: Any) -> dict[str, str]:
        """The address' query with changes; a new filter begins at the first page."""
        changed = replace(self, **{"page": 1, **changes})
        usual = asdict(Wanted())
        return {name: str(value) for name, value in asdict(changed).items() if value != usual[name]}

    @property
    def filtered(self) -> bool:
        return bool(self.outcome or self.arm or self.stop or self.find)

    def wants(self, row: Row) -> bool:
        return (
            (not self.arm or row.arm == self.arm)
            and (not self.stop or row.stop == self.stop)
            and (not self.outcome or outcome(row) == self.outcome)
            and (not self.find or self.find.casefold() in row.task_id.casefold())
        )


@dataclass(frozen=True, slots=True)
class Listed:
    """One page of tasks, of `count` that are wanted, on `pages` pages; each with its rows by arm and seed."""

    tasks: tuple[tuple[str, dict[tuple[str, int], Row]], ...]
    count: int
    page: int
    pages: int


def listed(rows: Rows, wanted: Wanted) -> Listed:
    """The page of tasks of which any row is wanted."""
    if wanted.order == "task":
        found: Sequence[str] = rows.tasks
        if wanted.filtered:
            keep = {row.task_id for row in rows.all if wanted.wants(row)}
            found = [task for task in rows.tasks if task in keep]
    else:
        most: dict[str, float] = {}
        for row in rows.all:
            if wanted.wants(row):
                most[row.task_id] = max(most.get(row.task_id, 0.0), _BY[wanted.order](row))
        place = {task: n for n, task in enumerate(rows.tasks)}
        found = sorted(most, key=lambda task: (-most[task], place[task]))
    pages = max(1, -(-len(found) // PAGE))
    page = min(wanted.page, pages)
    shown = islice(found, (page - 1) * PAGE, page * PAGE)
    return Listed(tuple((task, rows.by_task[task]) for task in shown), len(found), page, pages)
