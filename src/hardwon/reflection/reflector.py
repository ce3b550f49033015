"""The reflector: from a confirmed failure to a lesson (the self-reflection model of Shinn et al. 2023)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from hardwon.actors.history import transcript
from hardwon.actors.protocol import Generate
from hardwon.evaluators.verdict import cut
from hardwon.models.protocol import Message
from hardwon.prompts import render
from hardwon.reflection.guard import objection
from hardwon.reflection.placebo import placebo
from hardwon.task import Problem
from hardwon.trial import NO_FEEDBACK, Check, Lesson, Trial

Form = Literal["lesson", "evidence", "blind", "critique", "placebo"]
"""`lesson`: advice in words, drawn from the checks. `evidence`: the failing checks themselves, no model is asked.
`blind`: advice without being told what the checks said. `critique`: a review of the program for its refinement, which
may show code. `placebo`: a lesson is written and paid for, and one of another task, as long, takes its place."""

_ASKS = 2
_LONGEST = 1200
"""Characters of a lesson that are kept."""
_LONGEST_CHANGE = 5000
"""Characters of a diff that are shown."""


async def reflect(
    problem: Problem, trial: Trial, earlier: Sequence[Lesson], generate: Generate, form: Form = "lesson"
) -> Lesson:
    """Writes the lesson of a failed trial, asking once more when the guard objects.

    When the guard objects again, the lesson is made of the failing checks themselves. Raises ValueError for a trial
    that did not fail: what passed, or was not tested, is never reflected on (law 4).
    """
    if trial.feedback.verdict != "fail":
        raise ValueError(f"trial {trial.number} is no confirmed failure: {trial.feedback.verdict}")
    if form == "placebo":
        return placebo(await reflect(problem, trial, earlier, generate), problem.id)
    if form == "evidence":
        return Lesson(_from_evidence(trial, form), tuple(check.name for check in trial.feedback.failing), "evidence")
    names = () if form == "blind" else tuple(check.name for check in trial.feedback.failing)
    told = NO_FEEDBACK if form == "blind" else trial.feedback
    rejected: list[str] = []
    for _ in range(_ASKS):
        prompt = _prompt(problem, trial, earlier, rejected[-1] if rejected else None, form)
        completion = await generate((Message("user", prompt),))
        text = completion.text.strip()[:_LONGEST]
        reason = objection(text, told, earlier, code=form == "critique")
        if reason is None:
            return Lesson(text, names, "model", tuple(rejected))
        rejected.append(reason)
    return Lesson(_from_evidence(trial, form), names, "evidence", tuple(rejected))


def _prompt(problem: Problem, trial: Trial, earlier: Sequence[Lesson], rejected: str | None, form: Form) -> str:
    """Programs have a prompt for each form; what reasons or acts is shown as the way it went, not as its result."""
    values = {"problem": problem, "trial": trial, "earlier": earlier, "rejected": rejected}
    if problem.kind in ("question", "game"):
        return render("reflection/attempt", form=form, attempt=transcript(trial.trajectory, opened=True), **values)
    if problem.kind == "repository":
        change = cut(trial.trajectory.output or "(nothing)", _LONGEST_CHANGE)
        return render("reflection/repository", form=form, attempt=transcript(trial.trajectory), change=change, **values)
    return render(f"reflection/{form}", **values)


def _from_evidence(trial: Trial, form: Form) -> str:
    facts = "" if form == "blind" else "; ".join(_fact(check) for check in trial.feedback.failing[:3])
    said = (facts or ("" if form == "blind" else trial.feedback.text)).rstrip(".")
    wrong = f"Attempt {trial.number} was wrong{f': {said}' if said else ''}."
    return f"{wrong} Take another approach that gets this right."


def _fact(check: Check) -> str:
    if check.expected is not None and check.observed is not None:
        return f"{check.call or check.name} should give {check.expected}, not {check.observed}"
    error = check.error or "failure"
    return f"{check.name}: {error}" if check.call is None else f"{check.call} ended in {error}"
