"""What if: a new run that has one task's journal up to a trial, and goes on from there with a change."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hardwon.errors import InfrastructureError, UsageError
from hardwon.record import Payload, feedback_from, lesson_from
from hardwon.reflection.guard import objection
from hardwon.runs.bank import RUN
from hardwon.runs.folder import read_config
from hardwon.runs.journal import FILE, Journal, Key
from hardwon.trial import Lesson
from hardwon.view.again import bank_options, command_for
from hardwon.view.changeable import Made, changed, made_with
from hardwon.view.events import Event, Events
from hardwon.view.text import without_passwords

ORIGIN = "what-if.json"
"""The file in a branch's folder that says what it branched from."""

_NOT_CARRIED = ("row", "error", "grade", "stage", "admitted", "induced")


@dataclass(frozen=True, slots=True)
class Change:
    """What is to be different after trial number `trial`: its lesson, settings of the strategy by name, the model, the
    budget; None, or a value that it has already, is as it was."""

    trial: int
    lesson: str | None = None
    settings: Mapping[str, str] = field(default_factory=dict)
    model: str | None = None
    budget: str | None = None


def branch(folder: Path, key: Key, change: Change, bank: str | None = None) -> tuple[Path, list[str], Key]:
    """Makes the folder of a branch beside `folder`, and the command that runs it; and what its task is known by.

    Nothing is run yet. `bank` is the place of the reasoning bank (None: the usual one), for runs that had one. Raises
    UsageError for a change that can not be made, or a run that can not be branched.
    """
    config = read_config(folder)
    made = made_with(config, key.arm)
    asked = _asked(made, change)
    command = command_for(config, folder, key, made, settings=asked.settings, model=asked.model, budget=asked.budget)
    recalls = bank_options(config, key.arm, bank)
    events = Events(folder)
    try:
        of_task, of_run = events.of(key), events.of(RUN)
    finally:
        events.close()
    kept = _kept(of_task, asked)
    if any(event.kind == "episode" for event in of_task):  # however the model now is asked by itself
        command += ["--tools", str(config["settings"].get("tools", "text"))]
    _check_room(made, asked, of_task)
    out = _free(folder)
    mine = Key(key.task_id, made.strategy, key.seed)
    origin = {"run": str(folder), "task": key.task_id, "arm": key.arm, "seed": key.seed}
    others = {name: value for name, value in (("model", asked.model), ("budget", asked.budget)) if value is not None}
    shown = {name: without_passwords(value) for name, value in {**asked.settings, **others}.items()}
    origin |= {"trial": asked.trial, "lesson": asked.lesson, "settings": shown}
    try:
        out.mkdir()
        journal = Journal(out / FILE)
        for event in of_run:
            if event.kind == "bank":
                journal.append(RUN, event.kind, event.index, event.payload, event.elapsed)
        for event in kept:
            journal.append(mine, event.kind, event.index, event.payload, event.elapsed)
        if recalls:  # what was only tried out is no episode of the bank
            journal.append(mine, "admitted", 0, {"items": [], "new": False})
        journal.close()
        (out / ORIGIN).write_text(json.dumps(origin, indent=2) + "\n", encoding="utf-8")
    except OSError as error:
        raise InfrastructureError(f"{out}: {error.strerror}; a branch is made beside its run") from error
    return out, [*command, *recalls, "--out", str(out)], mine


def origin_of(folder: Path) -> dict[str, Any] | None:
    """What the run in a folder branched from; None for a run of its own."""
    try:
        found = json.loads((folder / ORIGIN).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) and {"run", "task", "arm", "seed", "trial"} <= found.keys() else None


def _kept(events: Sequence[Event], change: Change) -> list[Event]:
    """The events up to the end of the trial, with its lesson as it is to be."""
    checks = [event for event in events if event.kind == "check"]
    if not 1 <= change.trial <= len(checks):
        raise UsageError(f"trial {change.trial}: the task has no such trial that was checked")
    feedback = feedback_from(checks[change.trial - 1].payload)
    if feedback.verdict != "fail":
        raise UsageError(f"trial {change.trial}: only after a trial that failed there is another")
    start = checks[change.trial - 1].seq
    following = next((e.seq for e in events if e.seq > start and e.kind in ("act", "episode")), events[-1].seq + 1)
    kept = [e for e in events if e.seq < following and e.kind not in _NOT_CARRIED]
    if "lesson" in change.settings:  # made in another way: what was written after the trial is not
        if change.lesson is not None:
            raise UsageError("A lesson of your own and another way to make it: change one of them.")
        return [e for e in kept if not (e.seq > start and e.kind in ("lesson", "reflect"))]
    if change.lesson is None:
        return kept
    written = [e for e in kept if e.seq > start and e.kind == "lesson"]
    asked = [e for e in kept if e.seq > start and e.kind == "reflect"]
    if not written or not asked:
        raise UsageError(f"trial {change.trial}: no model wrote a lesson on it, so there is none to change")
    earlier = [lesson_from(e.payload) for e in kept if e.kind == "lesson" and e.seq < start]
    _check_lesson(change.lesson, feedback, earlier)
    again = {e.seq for e in (*asked[1:], *written)}
    return [
        Event(e.seq, e.kind, e.index, e.elapsed, _replied(e.payload, change.lesson)) if e is asked[0] else e
        for e in kept
        if e.seq not in again
    ]


def _check_lesson(text: str, feedback: Any, earlier: Sequence[Lesson]) -> None:
    """The guard's word on a lesson counts for a user's as for a model's. Raises UsageError."""
    reason = objection(text, feedback, earlier)
    if reason is not None:
        raise UsageError(f"The guard would refuse this lesson: it {reason}.")


def _replied(payload: Payload, text: str) -> Payload:
    completion = {name: value for name, value in payload["completion"].items() if name != "tool_calls"}
    return {**payload, "completion": {**completion, "text": text, "finish": "stop"}}


def _asked(made: Made, change: Change) -> Change:
    """The change without what is as it was. Raises UsageError for one that changes nothing, or can not be made."""
    model = change.model if change.model not in (None, "", without_passwords(made.model)) else None
    budget = change.budget if change.budget not in (None, made.budget) else None
    asked = Change(change.trial, change.lesson, changed(made, change.trial, change.settings), model, budget)
    if asked == Change(change.trial):
        raise UsageError("Nothing is changed: write another lesson, or another setting.")
    return asked


def _check_room(made: Made, asked: Change, events: Sequence[Event]) -> None:
    """Raises UsageError where the strategy would end at the trial, as it did before."""
    name, most = "trials", asked.settings.get("trials", made.settings.get("trials"))
    if most is not None and str(most).isdigit() and asked.trial >= int(str(most)):
        raise UsageError(f"trial {asked.trial}: is the last of {name}={most}; give more of them too")
    stop = next((event.payload.get("stop") for event in events if event.kind == "row"), None)
    checks = sum(event.kind == "check" for event in events)
    if stop == "plateau" and asked.trial == checks and "patience" in made.settings and "patience" not in asked.settings:
        raise UsageError(
            f"trial {asked.trial}: the strategy stopped there, at a plateau; give more patience than "
            f"{made.settings['patience']} too"
        )
    if stop == "budget" and asked.trial == checks and asked.budget is None:
        raise UsageError(f"trial {asked.trial}: the budget ended there; give a larger one than {made.budget} too")


def _free(folder: Path) -> Path:
    for number in range(1, 1000):
        out = folder.with_name(f"{folder.name}-what-if-{number}")
        if not out.exists():
            return out
    raise UsageError(f"{folder}: has a thousand branches; remove some")
