"""What if: a new run that has one task's journal up to a trial, and goes on from there with a change."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hardwon.errors import InfrastructureError, UsageError
from hardwon.record import Payload, feedback_from, lesson_from
from hardwon.reflection.guard import objection
from hardwon.runs.folder import read_config
from hardwon.runs.journal import FILE, Journal, Key
from hardwon.strategies.registry import make_strategy, settings_of
from hardwon.suites.registry import suites
from hardwon.trial import Lesson
from hardwon.view.events import Event, Events

ORIGIN = "what-if.json"
"""The file in a branch's folder that says what it branched from."""

_NOT_CARRIED = ("row", "error", "grade", "stage", "admitted", "induced")
_SAMPLING = (("temperature", "--temperature"), ("max_tokens", "--max-tokens"))


@dataclass(frozen=True, slots=True)
class Change:
    """What is to be different after trial number `trial`: its lesson (None: as it was), settings of the strategy."""

    trial: int
    lesson: str | None
    settings: Mapping[str, str]


def branch(folder: Path, key: Key, change: Change) -> tuple[Path, list[str], Key]:
    """Makes the folder of a branch beside `folder`, and the command that runs it; and what its task is known by.

    Nothing is run yet. Raises UsageError for a change that can not be made, or a run that can not be branched.
    """
    config = read_config(folder)
    name, settings = _strategy(config, key.arm, change.settings)
    command = _command(config, folder, key, name, settings)
    events = Events(folder)
    try:
        kept = _kept(events.of(key), change)
    finally:
        events.close()
    out = _free(folder)
    made = Key(key.task_id, name, key.seed)
    origin = {"run": str(folder), "task": key.task_id, "arm": key.arm, "seed": key.seed}
    origin |= {"trial": change.trial, "lesson": change.lesson, "settings": dict(change.settings)}
    try:
        out.mkdir()
        journal = Journal(out / FILE)
        for event in kept:
            journal.append(made, event.kind, event.index, event.payload, event.elapsed)
        journal.close()
        (out / ORIGIN).write_text(json.dumps(origin, indent=2) + "\n", encoding="utf-8")
    except OSError as error:
        raise InfrastructureError(f"{out}: {error.strerror}; a branch is made beside its run") from error
    return out, [*command, "--out", str(out)], made


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
    return {**payload, "completion": {**payload["completion"], "text": text, "finish": "stop"}}


def _strategy(config: Mapping[str, Any], arm: str, changes: Mapping[str, str]) -> tuple[str, dict[str, str]]:
    """The arm's strategy, and the settings in which it is not the usual one, as text; changes make it another."""
    made = config["settings"].get("arms", {}).get(arm)
    if not isinstance(made, Mapping) or "strategy" not in made:
        raise UsageError(f"{arm}: the run's configuration does not tell its strategy")
    name = str(made["strategy"])
    usual = settings_of(make_strategy(name))
    found = {key: _text(value) for key, value in made.items() if key in usual and usual[key] != value}
    settings = {**found, **changes}
    make_strategy(name, settings)
    return name, settings


def _text(value: object) -> str:
    return "all" if value is None else str(value).lower() if isinstance(value, bool) else str(value)


def _command(config: Mapping[str, Any], folder: Path, key: Key, strategy: str, chosen: Mapping[str, str]) -> list[str]:
    settings, about = config["settings"], config.get("about", {})
    if settings.get("bank") or settings.get("require_trust") is not None or about.get("picked"):
        raise UsageError(f"{folder.name}: runs with a bank, an audit or a picked order can not be branched yet")
    suite, data = str(settings.get("suite")), about.get("data")
    if suite.startswith("-"):
        raise UsageError(f"{suite}: is no suite")
    if data is not None and not Path(data).exists():
        raise UsageError(
            f"{data}: the run's data is not there; start hardwon view in the folder the run was started in"
        )
    limits = {name: value for name, value in settings.get("budget", {}).items() if value is not None}
    named = suite in suites()
    command = [sys.executable, "-m", "hardwon", "run", suite if named else str(data or suite)]
    if named and data is not None:
        command += ["--data", str(data)]
    command += ["--model", str(settings.get("model")), "--strategy", strategy, "--seed", str(key.seed)]
    command += ["--select", f"^{re.escape(key.task_id)}$", "--workers", "1"]
    if settings.get("feedback") in ("visible", "generated", "oracle"):
        command += ["--feedback", settings["feedback"]]
    if limits:
        command += ["--budget", ",".join(f"{name}={value}" for name, value in limits.items())]
    for name, option in _SAMPLING:
        if name in settings.get("sampling", {}):
            command += [option, str(settings["sampling"][name])]
    for name, value in chosen.items():
        command += ["--set", f"{name}={value}"]
    return command


def _free(folder: Path) -> Path:
    for number in range(1, 1000):
        out = folder.with_name(f"{folder.name}-what-if-{number}")
        if not out.exists():
            return out
    raise UsageError(f"{folder}: has a thousand branches; remove some")
