"""The runner: works tasks through strategies, a few at a time, and grades what they hand in.

It alone knows the graders. A strategy gets a problem and a session, and returns; then its submission is graded once.
"""

from __future__ import annotations

import asyncio
import traceback
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import Protocol

from hardwon.actors.protocol import Actor
from hardwon.budget import Budget, BudgetExhausted
from hardwon.errors import HardwonError, InfrastructureError, JournalError, ModelRefused, UsageError
from hardwon.models.protocol import Model
from hardwon.record import feedback_from, feedback_payload
from hardwon.runs.journal import Journal, JournalRecord, Key
from hardwon.runs.row import Row, make_row
from hardwon.session import Happening, Sampling, Session
from hardwon.strategies.protocol import Strategy
from hardwon.task import Task
from hardwon.trial import Feedback, Submission

_TROUBLE = 5
"""This many infrastructure errors in a row, with nothing finished in between, end the run: the world is down."""


@dataclass(frozen=True, slots=True)
class Arm:
    """A strategy with its settings, budget, sampling and seed, as one side of a comparison."""

    name: str
    strategy: Strategy
    budget: Budget = field(default_factory=Budget)
    sampling: Sampling = field(default_factory=Sampling)
    seed: int = 0


class Observer(Protocol):
    """Whoever watches a run. Called on the runner's loop; must not block."""

    def begin(self, total: int, done: Sequence[Row]) -> None: ...
    def start(self, task_id: str, arm: str) -> None: ...
    def happen(self, task_id: str, arm: str, happening: Happening) -> None: ...
    def finish(self, row: Row) -> None: ...


class Silent:
    """Watches and says nothing."""

    def begin(self, total: int, done: Sequence[Row]) -> None: ...
    def start(self, task_id: str, arm: str) -> None: ...
    def happen(self, task_id: str, arm: str, happening: Happening) -> None: ...
    def finish(self, row: Row) -> None: ...


class Runner:
    """Runs every task in every arm over one journal; what the journal has finished is not run again."""

    def __init__(
        self,
        journal: Journal,
        model: Model,
        actor: Actor,
        *,
        workers: int = 4,
        observer: Observer | None = None,
    ) -> None:
        self._journal = journal
        self._model = model
        self._actor = actor
        self._workers = workers
        self._observer: Observer = observer or Silent()
        self._trouble = 0
        self._answered = False

    async def run(self, tasks: Sequence[Task], arms: Sequence[Arm]) -> None:
        """Raises UsageError, JournalError or InfrastructureError when the run as a whole can not go on.

        A single task's error is recorded in its row and does not end the run; a later run tries that task again.
        """
        self._check_tasks(tasks)
        finished = {key: Row.from_json(row) for key, _, row in self._journal.payloads("row")}
        jobs = [(task, arm) for task in tasks for arm in arms]
        done = [finished[k] for task, arm in jobs if (k := Key(task.id, arm.name, arm.seed)) in finished]
        self._observer.begin(len(jobs), done)
        todo = iter([job for job in jobs if Key(job[0].id, job[1].name, job[1].seed) not in finished])
        del finished, done
        workers = [asyncio.create_task(self._work(todo)) for _ in range(self._workers)]
        try:
            await asyncio.gather(*workers)
        finally:
            for worker in workers:
                worker.cancel()
            await asyncio.gather(*workers, return_exceptions=True)

    def _check_tasks(self, tasks: Sequence[Task]) -> None:
        known = {key.task_id: payload["digest"] for key, _, payload in self._journal.payloads("task")}
        for task in tasks:
            if known.get(task.id, task.digest) != task.digest:
                raise UsageError(f"{task.id}: has changed since this run began; give another --out, or --fresh")

    async def _work(self, todo: Iterator[tuple[Task, Arm]]) -> None:
        for task, arm in todo:
            row = await self._one(task, arm)
            self._observer.finish(row)

    async def _one(self, task: Task, arm: Arm) -> Row:
        key = Key(task.id, arm.name, arm.seed)
        record = self._journal.record(key)
        if record.get("task", 0) is None:
            record.put("task", 0, {"digest": task.digest, **asdict(task.problem)}, 0.0)
        self._observer.start(task.id, arm.name)
        session = Session(
            task.problem,
            self._model,
            self._actor,
            task.feedback,
            budget=arm.budget,
            sampling=arm.sampling,
            record=record,
            watch=partial(self._observer.happen, task.id, arm.name),
        )
        try:
            submission = await solve(arm.strategy, session)
            grade = await self._grade(task, submission, session, record)
        except Exception as error:
            return self._failed(task, arm, session, record, error)
        self._trouble = 0
        self._answered = True
        row = make_row(session, arm.name, arm.seed, submission=submission, grade=grade, graded_on=task.graded_on)
        record.put("row", 0, row.as_json(), session.ledger.seconds)
        return row

    async def _grade(
        self, task: Task, submission: Submission, session: Session, record: JournalRecord
    ) -> Feedback | None:
        if submission.trial is None:
            return None
        if task.grader is None:
            return submission.trial.feedback if task.graded_on == "visible" else None
        saved = record.get("grade", 0)
        if saved is not None:
            return feedback_from(saved)
        grade = await task.grader.check(submission.trial.trajectory)
        record.put("grade", 0, feedback_payload(grade), session.ledger.seconds)
        return grade

    def _failed(self, task: Task, arm: Arm, session: Session, record: JournalRecord, error: Exception) -> Row:
        """Records a task's error and decides whether the run can go on."""
        self._answered = self._answered or session.ledger.calls > 0
        if isinstance(error, JournalError) or (
            isinstance(error, UsageError) and not (isinstance(error, ModelRefused) and self._answered)
        ):
            raise error
        known = isinstance(error, HardwonError)
        text = str(error) if known else f"{type(error).__name__}: {error}"
        details = {"error": text, "traceback": None if known else traceback.format_exc()}
        row = make_row(session, arm.name, arm.seed, submission=None, grade=None, graded_on=task.graded_on, error=text)
        record.put("error", record.count("error"), details | {"row": row.as_json()}, session.ledger.seconds)
        self._trouble = self._trouble + 1 if isinstance(error, InfrastructureError) else 0
        if self._trouble >= _TROUBLE:
            raise InfrastructureError(f"{self._trouble} tasks in a row could not be worked on; the last: {text}")
        return row


async def solve(strategy: Strategy, session: Session) -> Submission:
    """Lets a strategy spend its budget; when that ends mid-way the best trial so far is handed in."""
    try:
        return await strategy.solve(session.problem, session)
    except BudgetExhausted:
        return session.submit("budget")
