"""The page that holds arms beside each other: those of one run, or of several runs on the same tasks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from hardwon.errors import UsageError
from hardwon.runs import comparison as c
from hardwon.runs.comparison.chart import chart
from hardwon.runs.comparison.tables import tables, title
from hardwon.runs.journal import Key
from hardwon.runs.row import Row
from hardwon.view.links import Links
from hardwon.view.reader import Look, Reader, readable
from hardwon.view.render import page

_WON = 100
"""So many tasks are named that one arm solved and the other did not."""


def compare_page(readers: Sequence[Reader], links: Links, baseline: str | None = None) -> str:
    """The arms of one run, or of several runs on the same tasks, at equal budget: the same numbers as the command's.

    Raises UsageError where there is nothing to compare.
    """
    looks = []
    for reader in readers:
        with readable(reader.path):
            looks.append((reader, reader.look()))
    with readable(readers[0].path):
        return _compare_page(readers, looks, links, baseline)


def _compare_page(
    readers: Sequence[Reader], looks: Sequence[tuple[Reader, Look]], links: Links, baseline: str | None
) -> str:
    rows, origin = _together(looks)
    arms = list(dict.fromkeys(row.arm for row in rows))
    if len(arms) < 2:
        raise UsageError("There are no two arms with finished tasks to compare here yet.")
    config = looks[0][1].config
    usual = config.get("about", {}).get("baseline")
    chosen = baseline if baseline in arms else usual if usual in arms else arms[0]
    store = looks[0][1].rows.memory if len(looks) == 1 else {}
    compared = store.get(f"beside {chosen}")
    if compared is None:
        compared = store[f"beside {chosen}"] = c.compare(rows, chosen, config["settings"].get("budget", {}))
    return page(
        "compare",
        links,
        readers=readers,
        look=looks[0][1],
        title=title(config, compared),
        comparison=compared,
        chart=chart(compared),
        tables=tables(compared),
        arms=arms,
        chosen=chosen,
        apart=_apart(rows, chosen, origin),
    )


def _together(looks: Sequence[tuple[Reader, Look]]) -> tuple[list[Row], dict[str, tuple[str, str]]]:
    """The rows of several runs under names of their arms that do not clash; and whose arm each name is."""
    names = Counter(arm for _, look in looks for arm in look.rows.arms)
    rows: list[Row] = []
    origin: dict[str, tuple[str, str]] = {}
    for reader, look in looks:
        for arm in look.rows.arms:
            name = arm if names[arm] == 1 else f"{arm} · {reader.name}"
            origin[name if name not in origin else f"{name} {reader.id[:4]}"] = (reader.id, arm)
        new = {arm: name for name, (run, arm) in origin.items() if run == reader.id}
        rows += [row if new[row.arm] == row.arm else replace(row, arm=new[row.arm]) for row in look.rows.sorted]
    return rows, origin


def _apart(rows: Sequence[Row], baseline: str, origin: Mapping[str, tuple[str, str]]) -> list[dict[str, Any]]:
    """For each other arm the tasks that it alone solved, and that the baseline alone solved."""
    by_side = {(row.arm, row.task_id, row.seed): row for row in rows}
    found: dict[str, dict[str, Any]] = {}
    for row in rows:
        base = by_side.get((baseline, row.task_id, row.seed))
        if row.arm == baseline or base is None or None in (row.solved, base.solved):
            continue
        sides = found.setdefault(row.arm, {"arm": row.arm, "won": [], "lost": []})
        if row.solved != base.solved:
            run, arm = origin[row.arm]
            sides["won" if row.solved else "lost"].append((run, Key(row.task_id, arm, row.seed)))
    return [{**sides, "most": _WON} for sides in found.values()]
