"""How the instances of a batch ended: by which exit, and at which stage each stands."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

from hardwon.actors.shell_text import SUBMIT
from hardwon.errors import UsageError
from hardwon.record import Payload, trajectory_from
from hardwon.runs.journal import FILE, Journal, Key
from hardwon.runs.report_fold import fold, pairs
from hardwon.runs.row import Row
from hardwon.runs.stages import Stage, counted, delivered, latest

Exit = Literal[
    "submit",
    "limits",
    "empty",
    "set-up failure",
    "attempt failure",
    "grading failure",
    "learning failure",
    "unfinished",
]
"""`submit`: the agent handed its change in. `limits`: steps, mistakes or budget ended the attempt, and what was changed
until then was handed in. `empty`: there was no change. A failure is an infrastructure error, and where it struck:
before there was a workspace, in the attempt, in grading, or in what the bank was to learn. `unfinished`: still to do.
"""
_FAILED: dict[Stage, Exit] = {
    "queued": "set-up failure",
    "workspace ready": "attempt failure",
    "attempted": "attempt failure",
    "delivered": "grading failure",
}


@dataclass(frozen=True, slots=True)
class Exits:
    """The instances of one arm, all seeds together: how many stand at each stage, and how many ended by each exit."""

    arm: str
    stages: dict[Stage, int]
    ended: dict[Exit, int]

    @property
    def stages_said(self) -> str:
        return ", ".join(f"{stage} {count:,}" for stage, count in self.stages.items())

    @property
    def ended_said(self) -> str:
        return ", ".join(f"{exit_} {count:,}" for exit_, count in self.ended.items())

    def as_json(self) -> dict[str, Any]:
        return {"stages": self.stages, "ended_by": self.ended}


def read_exits(out: Path, rows: Sequence[Row]) -> list[Exits]:
    """The exits of the run in a folder, an entry for each arm; none for a suite without stages, or without a journal.

    Raises UsageError.
    """
    if not (out / FILE).is_file():
        return []
    journal = Journal(out / FILE, read_only=True)
    try:
        return exits(journal, rows)
    finally:
        journal.close()


def exits(journal: Journal, rows: Sequence[Row]) -> list[Exits]:
    """The exits of a run by its arms, in the order of their names."""
    stages = latest(journal)
    if not stages:
        return []
    found = {Key(row.task_id, row.arm, row.seed): row for row in rows}
    handed = dict(delivered(journal))
    submitted = set(_submitted(journal, handed))
    ended = {key: _exit(found.get(key), stage, key in submitted) for key, stage in stages.items()}
    return [
        Exits(
            arm,
            counted(stage for key, stage in stages.items() if key.arm == arm),
            _counted(exit_ for key, exit_ in ended.items() if key.arm == arm),
        )
        for arm in sorted({key.arm for key in stages})
    ]


def exit_lines(found: Sequence[Exits], width: int | None = None) -> list[str]:
    """The exits of several arms, to stand below a comparison, in lines of at most `width` columns (None: any)."""
    lines = []
    for each in found:
        told = pairs([("stage reached", each.stages_said), ("ended by", each.ended_said)], width and width - 2)
        lines += ["", *fold(each.arm, width), *(f"  {line}" for line in told)]
    return lines


def exit_items(found: Sequence[Exits]) -> list[str]:
    """The same as a Markdown list."""
    return [""] * bool(found) + [f"- {e.arm}: stage reached: {e.stages_said}; ended by: {e.ended_said}" for e in found]


def json_with_exits(text: str, found: Sequence[Exits]) -> str:
    """A report in JSON with the exits by arm, as `instances`."""
    report = {**json.loads(text), "instances": {each.arm: each.as_json() for each in found}}
    return json.dumps(report, indent=2, ensure_ascii=False, allow_nan=False)


def _exit(row: Row | None, stage: Stage, submitted: bool) -> Exit:
    if row is None:
        return "unfinished"
    if row.error is not None:
        return _FAILED.get(stage, "learning failure")
    return "empty" if row.submission is None else "submit" if submitted else "limits"


def _submitted(journal: Journal, handed: dict[Key, Payload]) -> Iterable[Key]:
    """Those whose agent ended the attempt that was handed in by itself."""
    for key, index, episode in journal.payloads("episode"):
        if key not in handed or handed[key].get("trial") != index + 1:
            continue
        try:
            steps = trajectory_from(episode).steps
        except (KeyError, TypeError) as error:
            raise UsageError(f"{journal.path}: task {key.task_id}: an attempt of another version ({error})") from error
        if steps and steps[-1].action == SUBMIT:
            yield key


def _counted(ended: Iterable[Exit]) -> dict[Exit, int]:
    count = Counter(ended)
    return {exit_: count[exit_] for exit_ in get_args(Exit) if count[exit_]}
