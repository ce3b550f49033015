"""A pilot: a finished or unfinished run whose rows and calls say what to expect of a larger one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

from hardwon.errors import UsageError
from hardwon.models.protocol import Role
from hardwon.runs.folder import read_config
from hardwon.runs.journal import FILE, Journal
from hardwon.runs.results import rows as rows_of
from hardwon.runs.row import Row
from hardwon.runs.runner import Arm
from hardwon.strategies.registry import settings_of


@dataclass(frozen=True, slots=True)
class Pilot:
    """What a run folder tells.

    `tokens_out` is the mean length of a reply by role, `chars_a_token` that of a prompt's token, `seconds_a_token` the
    wall time of a task for each token that was written for it. Calls that an arm took over from another do not count.
    """

    folder: Path
    settings: Mapping[str, Any]
    workers: int | None
    rows: tuple[Row, ...]
    tokens_out: Mapping[Role, int]
    chars_a_token: float | None
    seconds_a_token: float | None

    @property
    def compared(self) -> bool:
        """Whether it has arms to hold against each other."""
        return len(self.settings.get("arms", {})) > 1

    def passed(self, *, first: bool, arm: str | None = None) -> float | None:
        """The share of first (else of later) trials that passed their visible checks, of those that were shown any."""
        rows = [row for row in self.rows if arm is None or row.arm == arm]
        verdicts = [v for row in rows for v in (row.trial_verdicts[:1] if first else row.trial_verdicts[1:])]
        decided = [v for v in verdicts if v != "no_evidence"]
        return sum(v == "pass" for v in decided) / len(decided) if decided else None

    @property
    def rejected(self) -> float:
        """The share of reflections that the guard refused."""
        written = sum(row.calls_by_role.get("reflect", 0) for row in self.rows)
        return min(1.0, sum(row.lessons_rejected for row in self.rows) / written) if written else 0.0


def read_pilot(folder: Path, arms: Sequence[Arm]) -> Pilot:
    """Reads the pilot in a run folder.

    Raises UsageError for a folder that holds no run, a run without a finished task, or a comparison of other arms.
    """
    if not folder.is_dir():
        raise UsageError(f"--pilot {folder}: no such folder; give the folder of a run or a comparison")
    config = read_config(folder)
    settings, about = config["settings"], config.get("about", {})
    _same_arms(folder, settings, arms)
    journal = Journal(folder / FILE, read_only=True)
    try:
        rows = tuple(row for row in rows_of(journal) if row.error is None)
        calls = [call for role in get_args(Role) for call in _calls(journal, role)]
    finally:
        journal.close()
    if not rows:
        raise UsageError(f"--pilot {folder}: no task of it has finished; let it finish some, or leave the pilot out")
    written = sum(call.tokens_out for call in calls)
    read = sum(call.tokens_in for call in calls)
    return Pilot(
        folder=folder,
        settings=settings,
        workers=about.get("workers") if isinstance(about, dict) else None,
        rows=rows,
        tokens_out=_means(calls),
        chars_a_token=sum(call.characters for call in calls) / read if read else None,
        seconds_a_token=sum(row.wall_s for row in rows) / written if written else None,
    )


@dataclass(frozen=True, slots=True)
class _Call:
    role: Role
    characters: int
    tokens_in: int
    tokens_out: int


def _calls(journal: Journal, role: Role) -> Iterable[_Call]:
    for _, _, payload in journal.payloads(role):
        if not payload.get("shared"):
            usage = payload["completion"]["usage"]
            characters = sum(len(text) for _, text in payload["messages"])
            yield _Call(role, characters, usage["tokens_in"], usage["tokens_out"])


def _means(calls: Sequence[_Call]) -> dict[Role, int]:
    lengths: dict[Role, list[int]] = {}
    for call in calls:
        lengths.setdefault(call.role, []).append(call.tokens_out)
    return {role: max(1, round(sum(found) / len(found))) for role, found in lengths.items()}


def _same_arms(folder: Path, settings: Mapping[str, Any], arms: Sequence[Arm]) -> None:
    """A comparison must have the arms that are planned, set alike; a run of one arm tells of calls only."""
    known = settings.get("arms", {})
    if not isinstance(known, dict) or len(known) < 2:
        return
    for arm in arms:
        if arm.name not in known:
            raise UsageError(
                f"--pilot {folder}: has no arm {arm.name}, only {', '.join(known)}; plan those, or give another pilot"
            )
        if known[arm.name] != {"strategy": arm.strategy.name, **settings_of(arm.strategy)}:
            raise UsageError(f"--pilot {folder}: its arm {arm.name} had other settings; give another pilot")
