"""Grading: the hidden evaluator's word on what a strategy handed in, after it has returned; each trial at most once."""

from __future__ import annotations

from hardwon.record import Record, feedback_from, feedback_payload
from hardwon.runs.row import Point, solved
from hardwon.session import Session
from hardwon.task import Task
from hardwon.trial import Feedback, Submission, Trial


async def grade(task: Task, submission: Submission, session: Session, record: Record) -> Feedback | None:
    """The grade of a submission; None where nothing was handed in or nothing can grade it."""
    if submission.trial is None:
        return None
    return await _grade(task, submission.trial, 0, session, record)


async def curve(
    task: Task, submission: Submission, graded: Feedback | None, session: Session, record: Record
) -> tuple[Point, ...]:
    """What would have been handed in after less spending, each with its grade.

    Nothing of it reaches a strategy: it has returned.
    """
    points = []
    known = {} if submission.trial is None else {submission.trial.number: graded}
    for standing in session.standings:
        trial = session.trials[standing.trial - 1]
        if trial.number not in known:
            known[trial.number] = await _grade(task, trial, trial.number, session, record)
        outcome = known[trial.number]
        points.append(Point(standing.calls, standing.tokens, standing.cost_usd, trial.number, solved(outcome)))
    return tuple(points)


async def _grade(task: Task, trial: Trial, index: int, session: Session, record: Record) -> Feedback | None:
    """The grade under `index` of the record: 0 for the submission, else the trial's number."""
    if task.grader is None:
        return trial.feedback if task.graded_on == "visible" else None
    saved = record.get("grade", index)
    if saved is not None:
        return feedback_from(saved)
    outcome = await task.grader.check(trial.trajectory)
    record.put("grade", index, feedback_payload(outcome), session.ledger.seconds)
    return outcome
