"""The pages: what each of them shows, from a look at run folders. The live view and the export share them."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from hardwon.errors import UsageError
from hardwon.runs.journal import Key
from hardwon.runs.report import remarks
from hardwon.runs.report import title as run_title
from hardwon.runs.row import Row
from hardwon.runs.summary import Summary
from hardwon.view import figures
from hardwon.view.branch import origin_of
from hardwon.view.branching import said
from hardwon.view.change import Line, changes
from hardwon.view.changeable import Made, Setting, changeable, made_with
from hardwon.view.folders import Shelf
from hardwon.view.links import Links
from hardwon.view.reader import Look, Reader, readable
from hardwon.view.render import page
from hardwon.view.story import Attempt, Story, told
from hardwon.view.text import without_passwords
from hardwon.view.wanted import ORDERS, Wanted, listed

_CELLS = 1200
"""A picture of all rows has so many cells at most; larger runs show the bars alone."""


@dataclass(frozen=True, slots=True)
class Found:
    """A run in the list of runs: a look at it, or why there is none; `top` is the arm that solved most."""

    reader: Reader
    look: Look | None
    trouble: str = ""
    top: Summary | None = None
    bar: Sequence[figures.Part] = ()
    tokens: int = 0


def runs_page(shelf: Shelf, links: Links, find: str = "", order: str = "newest") -> str:
    """All runs that were found, those that can not be read with the reason."""
    found = [_found(reader) for reader in shelf.readers()]
    if find:
        found = [run for run in found if find.casefold() in _described(run).casefold()]
    if order == "rate":
        found.sort(key=lambda run: -(run.top.rate if run.top else -1.0))
    elif order == "name":
        found.sort(key=lambda run: run.reader.name)
    return page("runs", links, found=found, find=find, order=order)


def run_page(reader: Reader, links: Links, wanted: Wanted) -> str:
    """One run: its arms, their curves, what the tokens went for, and its tasks."""
    with readable(reader.path):
        return _run_page(reader, links, wanted)


def _run_page(reader: Reader, links: Links, wanted: Wanted) -> str:
    look = reader.look()
    rows = look.rows
    now: list[tuple[Key, str, float]] = []
    if look.state == "running":
        done = {(row.task_id, row.arm, row.seed) for row in rows.all}
        now = [k for k in reader.events().recent() if (k[0].task_id, k[0].arm, k[0].seed) not in done][:12]
    sides = sorted({(row.arm, row.seed) for row in rows.all}, key=lambda side: (_place(look, side[0]), side[1]))
    if wanted.arm:
        sides = [side for side in sides if side[0] == wanted.arm]
    return page(
        "run",
        links,
        reader=reader,
        look=look,
        title=run_title(look.config),
        wanted=wanted,
        orders=ORDERS,
        listed=listed(rows, wanted),
        sides=sides,
        several=len({row.arm for row in rows.all}) > 1,
        seeds=len({row.seed for row in rows.all}) > 1,
        chart=_chart(look),
        cells=_cells(look) if len(rows.all) <= _CELLS else [],
        stops=_stops(look),
        roles=_roles(look),
        summaries=sorted(rows.summaries, key=lambda s: _place(look, s.arm)),
        remarks=remarks(rows.summaries),
        now=now,
        outcome_bar=figures.outcome_bar,
        settings=settings_text(look.config),
        about=settings_text({k: look.config.get(k) for k in ("about", "versions")}),
    )


def task_page(reader: Reader, links: Links, key: Key) -> str:
    """One task in one arm: its trials side by side. Raises LookupError for a task that was never begun."""
    with readable(reader.path):
        return _task_page(reader, links, key)


def _task_page(reader: Reader, links: Links, key: Key) -> str:
    look = reader.look()
    newest = reader.events().newest(key)  # before the events are read: what comes between is then told anew
    story = _story(reader, key)
    tasks = look.rows.tasks
    place = tasks.index(key.task_id) if key.task_id in look.rows.by_task else None
    before = after = None
    if place is not None:
        before = _beside(look, tasks[place - 1], key) if place else None
        after = _beside(look, tasks[place + 1], key) if place + 1 < len(tasks) else None
    return page(
        "task",
        links,
        reader=reader,
        look=look,
        key=key,
        story=story,
        attempts=_with_changes(story.attempts),
        origin=_origin(reader, key),
        what_if=partial(_what_if, look, key.arm) if links.live else None,
        sides=reader.events().sides(key.task_id),
        side_rows=look.rows.by_task.get(key.task_id, {}),
        before=before,
        after=after,
        newest=newest,
    )


def _what_if(look: Look, arm: str, trial: int) -> tuple[Made, list[Setting]] | None:
    """What can be changed after a trial; None where the run's configuration does not tell what it was made with."""
    try:
        made = made_with(look.config, arm)
        return made, changeable(made, trial)
    except UsageError:
        return None


def _with_changes(attempts: Sequence[Attempt]) -> list[tuple[Attempt, list[Line] | None]]:
    """Each attempt with what changed in its program since the one before; None for the first and for episodes."""
    return [
        (attempt, None if earlier is None or attempt.steps else changes(earlier.output or "", attempt.output or ""))
        for earlier, attempt in zip((None, *attempts), attempts, strict=False)
    ]


def _origin(reader: Reader, key: Key) -> dict[str, Any] | None:
    """Of a branch the attempts of the run that it came from, after the trial where they part."""
    found = origin_of(reader.path)
    if found is None or found["task"] != key.task_id:
        return None
    before = Reader(Path(str(found["run"])))
    origin = Key(key.task_id, str(found["arm"]), int(found["seed"]))
    try:
        story = _story(before, origin)
    except (UsageError, LookupError):
        return None
    finally:
        before.close()
    attempts = [pair for pair in _with_changes(story.attempts) if pair[0].number > int(found["trial"])]
    ended = said(reader.path) if reader.look().state == "stopped" else ""
    return {
        "id": before.id,
        "key": origin,
        "trial": int(found["trial"]),
        "attempts": attempts,
        "changed": found,
        "ended": ended,
    }


def calls_page(reader: Reader, links: Links, key: Key) -> str:
    """The exact prompts and replies of a task. Raises LookupError for a task that was never begun."""
    with readable(reader.path):
        return page("calls", links, reader=reader, look=reader.look(), key=key, story=_story(reader, key))


def message_page(links: Links, heading: str, text: str) -> str:
    """A page that says in words why there is nothing else to show."""
    return page("message", links, heading=heading, text=text)


def settings_text(config: Mapping[str, Any]) -> str:
    """The settings as JSON, without passwords in addresses."""
    return without_passwords(json.dumps(config, indent=2, ensure_ascii=False))


def _found(reader: Reader) -> Found:
    try:
        with readable(reader.path):
            look = reader.look()
            if look.state != "running":
                reader.close()  # hundreds of journals that nobody writes in need not stay open
            top = max(look.rows.summaries, key=lambda s: s.rate, default=None)
            return Found(
                reader,
                look,
                top=top,
                bar=figures.outcome_bar(look.rows.outcomes[top.arm]) if top else (),
                tokens=sum(s.tokens_in + s.tokens_out for s in look.rows.summaries),
            )
    except UsageError as error:
        return Found(reader, None, trouble=str(error))


def _described(run: Found) -> str:
    """What a run is found by."""
    return f"{run.reader.path} {run_title(run.look.config) if run.look else ''}"


def _story(reader: Reader, key: Key) -> Story:
    events = reader.events().of(key)
    if not events:
        raise LookupError(key.task_id)
    try:
        return told(events)
    except UsageError as error:
        raise UsageError(f"{reader.path}: task {key.task_id}: {error}") from error
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise UsageError(
            f"The events of {key.task_id} do not read ({type(error).__name__}: {error}): the journal is damaged, or of"
            " another version."
        ) from error


def _place(look: Look, arm: str) -> int:
    return look.arms.index(arm)


def _beside(look: Look, task: str, key: Key) -> Key:
    """The same arm and seed of another task, or what there is of it."""
    sides = look.rows.by_task[task]
    arm, seed = (key.arm, key.seed) if (key.arm, key.seed) in sides else next(iter(sides))
    return Key(task, arm, seed)


def _chart(look: Look) -> Any:
    store = look.rows.memory
    if "chart" not in store:
        store["chart"] = figures.run_chart(look.rows, look.arms, look.config)
    return store["chart"]


def _cells(look: Look) -> list[tuple[str, list[Row]]]:
    """For each arm its rows in the order of tasks."""
    lanes: dict[str, list[Row]] = {arm: [] for arm in look.arms}
    for row in look.rows.sorted:
        lanes[row.arm].append(row)
    return [(arm, rows) for arm, rows in lanes.items() if rows]


def _stops(look: Look) -> list[tuple[str, dict[str, int], int]]:
    """For each reason to stop, how often in each arm, and in all."""
    counted: dict[str, Counter[str]] = {}
    for summary in look.rows.summaries:
        for stop, count in summary.stops.items():
            counted.setdefault(stop, Counter())[summary.arm] += count
    return [(stop, dict(found), found.total()) for stop, found in sorted(counted.items())]


def _roles(look: Look) -> list[tuple[str, list[figures.Part], int]]:
    """For each arm the parts of its tokens by what they were for."""
    most = max((s.tokens_in + s.tokens_out for s in look.rows.summaries), default=0)
    return [
        (s.arm, figures.bar(list(s.tokens_by_role.items()), most), s.tokens_in + s.tokens_out)
        for s in sorted(look.rows.summaries, key=lambda s: _place(look, s.arm))
    ]
