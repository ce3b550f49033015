"""What a run did with its bank, counted; and how often a model judge was right where the grader knows better."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hardwon.errors import UsageError
from hardwon.evaluators.model_judge import JudgeCalibration, Judgement, calibrate
from hardwon.runs.bank import RUN
from hardwon.runs.journal import Journal, Key
from hardwon.runs.results import rows


@dataclass(frozen=True, slots=True)
class Overview:
    """`asked` tasks looked for items and `recalled` found any, of which `withheld` items were held back by chance.

    `taught` tasks gave `items`; `dropped` is what induction could not keep, by its `reasons`, most frequent first.
    `judge` is None where nothing was judged that is also graded.
    """

    bank: str
    snapshot: int
    asked: int
    recalled: int
    withheld: int
    taught: int
    items: int
    dropped: int
    reasons: tuple[tuple[str, int], ...]
    judge: JudgeCalibration | None

    def as_json(self) -> dict[str, Any]:
        counts = ("bank", "snapshot", "asked", "recalled", "withheld", "taught", "items", "dropped")
        judge = None if self.judge is None else self.judge.as_json()
        return {name: getattr(self, name) for name in counts} | {"reasons": dict(self.reasons), "judge": judge}


def overview(journal: Journal, run: Path) -> Overview:
    """Raises UsageError for a run without a bank."""
    begun = journal.record(RUN).get("bank", 0)
    if begun is None:
        raise UsageError(f"{run}: was run without a bank; run with --bank PATH --recall K")
    found = [payload["found"] for _, _, payload in journal.payloads("recall")]
    induced = {key: payload for key, _, payload in journal.payloads("induced")}
    reasons = Counter(reason for payload in induced.values() for reason in payload["dropped"])
    return Overview(
        bank=begun["bank"],
        snapshot=begun["snapshot"],
        asked=len(found),
        recalled=sum(1 for uses in found if uses),
        withheld=sum(use["withheld"] for uses in found for use in uses),
        taught=sum(1 for payload in induced.values() if payload["items"]),
        items=sum(len(payload["items"]) for payload in induced.values()),
        dropped=reasons.total(),
        reasons=tuple(reasons.most_common(5)),
        judge=_calibrated(journal, induced),
    )


def _calibrated(journal: Journal, induced: dict[Key, Any]) -> JudgeCalibration | None:
    graded = {Key(row.task_id, row.arm, row.seed): row.solved for row in rows(journal)}
    pairs = [
        (Judgement(**payload["judgement"]), solved)
        for key, payload in induced.items()
        if payload["judgement"] is not None and (solved := graded.get(key)) is not None
    ]
    return calibrate([judgement for judgement, _ in pairs], [solved for _, solved in pairs]) if pairs else None
