"""The reflector: from a confirmed failure to a lesson (the self-reflection model of Shinn et al. 2023)."""

from __future__ import annotations

from collections.abc import Sequence

from hardwon.actors.protocol import Generate
from hardwon.models.protocol import Message
from hardwon.prompts import render
from hardwon.reflection.guard import objection
from hardwon.task import Problem
from hardwon.trial import Check, Lesson, Trial

_ASKS = 2
_LONGEST = 1200
"""Characters of a lesson that are kept."""


async def reflect(problem: Problem, trial: Trial, earlier: Sequence[Lesson], generate: Generate) -> Lesson:
    """Writes the lesson of a failed trial, asking once more when the guard objects.

    When the guard objects again the lesson is made of the failing checks themselves. Raises ValueError for a trial
    that did not fail: what passed, or was not tested, is never reflected on (law 4).
    """
    if trial.feedback.verdict != "fail":
        raise ValueError(f"trial {trial.number} is no confirmed failure: {trial.feedback.verdict}")
    names = tuple(check.name for check in trial.feedback.failing)
    rejected: list[str] = []
    for _ in range(_ASKS):
        prompt = render(
            "reflection/lesson",
            problem=problem,
            trial=trial,
            earlier=earlier,
            rejected=rejected[-1] if rejected else None,
        )
        completion = await generate((Message("user", prompt),))
        text = completion.text.strip()[:_LONGEST]
        reason = objection(text, trial.feedback, earlier)
        if reason is None:
            return Lesson(text, names, "model", tuple(rejected))
        rejected.append(reason)
    return Lesson(_from_evidence(trial), names, "evidence", tuple(rejected))


def _from_evidence(trial: Trial) -> str:
    facts = "; ".join(_fact(check) for check in trial.feedback.failing[:3])
    return (
        f"Attempt {trial.number} was wrong: {facts or trial.feedback.text}. Take another approach that gets this right."
    )


def _fact(check: Check) -> str:
    if check.expected is not None and check.observed is not None:
        return f"{check.call or check.name} should give {check.expected}, not {check.observed}"
    return f"{check.call or check.name} ended in {check.error or 'failure'}"
