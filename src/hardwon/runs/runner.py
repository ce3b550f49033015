"""The runner: works tasks through strategies, a few at a time, and grades what they hand in.

It alone knows the graders. A strategy gets a problem and a session, and returns; then its submission is graded once.
"""

from __future__ import annotations

import asyncio
import hashlib
import traceback
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, astuple, dataclass, field
from functools import partial
from typing import Protocol

from hardwon.actors.choose import actor_for
from hardwon.actors.protocol import Actor
from hardwon.budget import Budget, BudgetExhausted
from hardwon.calls import Common, Sampling
from hardwon.errors import HardwonError, InfrastructureError, JournalError, ModelError, ModelRefused, UsageError
from hardwon.models.protocol import Model
from hardwon.runs.bank import RUN, RunBank
from hardwon.runs.grading import curve, grade
from hardwon.runs.journal import Journal, JournalRecord, Key
from hardwon.runs.learning import Learning
from hardwon.runs.row import BankUse, Row, make_row
from hardwon.runs.stages import Stages, clear_up, queue
from hardwon.session import Happening, Session
from hardwon.strategies.protocol import Strategy, learns
from hardwon.task import Task
from hardwon.trial import Submission, Tally

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


@dataclass(frozen=True, slots=True)
class _Job:
    """A task in an arm; `position` is the task's place in the run."""

    position: int
    task: Task
    arm: Arm

    @property
    def key(self) -> Key:
        return Key(self.task.id, self.arm.name, self.arm.seed)


class Runner:
    """Runs every task in every arm over one journal; what the journal has finished is not run again.

    `actor` works every task; None chooses one by what the task asks for. With `compared`, the arms
    share identical model calls of a task and seed, those of the journals to `reuse` too, and rows carry their curve.
    `bank` is the reasoning bank that tasks recall from and are admitted to.
    """

    def __init__(
        self,
        journal: Journal,
        model: Model,
        actor: Actor | None = None,
        *,
        workers: int = 4,
        observer: Observer | None = None,
        compared: bool = False,
        reuse: Sequence[Journal] = (),
        bank: RunBank | None = None,
    ) -> None:
        self._journal = journal
        self._model = model
        self._actor = actor
        self._workers = workers
        self._observer: Observer = observer or Silent()
        self._compared = compared
        self._reuse = reuse
        self._bank = bank
        self._common: dict[tuple[str, int], Common] = {}
        self._arms_left: Counter[tuple[str, int]] = Counter()
        self._learning: dict[tuple[str, int], Learning] = {}
        self._trouble = 0
        self._answered = False

    async def run(self, tasks: Sequence[Task], arms: Sequence[Arm]) -> None:
        """Raises UsageError, JournalError or InfrastructureError when the run as a whole can not go on.

        A single task's error is recorded in its row and does not end the run; a later run tries that task again.
        """
        self._check_tasks(tasks)
        await clear_up(tasks)
        finished = {key: Row.from_json(row) for key, _, row in self._journal.payloads("row")}
        shuffled = self._bank is not None and self._bank.settings.shuffle
        jobs = _in_order(tasks, arms, self._workers, shuffled=shuffled)
        done = [finished[job.key] for job in jobs if job.key in finished]
        if self._bank is not None:
            over = [(job.position, job.key) for job in jobs if job.key in finished]
            self._bank.begin(self._journal.record(RUN), ((n, key, self._journal.record(key)) for n, key in over))
        self._observer.begin(len(jobs), done)
        self._learning = {
            (arm.name, arm.seed): Learning(
                {
                    job.position: finished[job.key].notes
                    for job in jobs
                    if job.key in finished and (job.arm.name, job.arm.seed) == (arm.name, arm.seed)
                }
            )
            for arm in arms
            if learns(arm.strategy)
        }
        left = [job for job in jobs if job.key not in finished]
        queue(self._journal, ((job.task, job.key) for job in left))
        self._arms_left = Counter((job.task.id, job.arm.seed) for job in left)
        todo = iter(left)
        del finished, done
        workers = [asyncio.create_task(self._work(todo)) for _ in range(self._workers)]
        try:
            await asyncio.gather(*workers)
        finally:
            for worker in workers:
                worker.cancel()
            await asyncio.gather(*workers, return_exceptions=True)

    def _check_tasks(self, tasks: Sequence[Task]) -> None:
        known: dict[str, str] = {}
        for key, _, payload in self._journal.payloads("task"):
            if "digest" not in payload:
                raise UsageError(
                    f"{self._journal.path}: {key.task_id} is of another version; give another --out, or --fresh"
                )
            known[key.task_id] = payload["digest"]
        for task in tasks:
            if known.get(task.id, task.digest) != task.digest:
                raise UsageError(f"{task.id}: has changed since this run began; give another --out, or --fresh")

    async def _work(self, todo: Iterator[_Job]) -> None:
        for job in todo:
            row = await self._one(job)
            learning = self._learning.get((job.arm.name, job.arm.seed))
            if learning is not None:
                await learning.finish(job.position, row.notes if row.error is None else ())
            if self._bank is not None:
                await self._bank.finish(job.key, job.position)
            self._arms_left[job.task.id, job.arm.seed] -= 1
            if not self._arms_left[job.task.id, job.arm.seed]:
                self._common.pop((job.task.id, job.arm.seed), None)
            self._observer.finish(row)

    def _session(
        self, job: _Job, record: JournalRecord, stages: Stages, experience: dict[str, Tally], advice: str
    ) -> Session:
        task, arm = job.task, job.arm
        return Session(
            task.problem,
            self._model,
            stages.watch(self._actor or actor_for(task)),
            task.feedback,
            behaviour=task.behaviour,
            budget=arm.budget,
            sampling=arm.sampling,
            record=record.for_session(),
            watch=partial(self._observer.happen, task.id, arm.name),
            common=self._in_common(job),
            experience=experience,
            advice=advice,
        )

    async def _one(self, job: _Job) -> Row:
        task, arm = job.task, job.arm
        record = self._journal.record(job.key)
        if record.get("task", 0) is None:
            record.put("task", 0, {"digest": task.digest, **asdict(task.problem)}, 0.0)
        experience = await self._experience(job, record)
        stages = Stages(task, record)
        advice, trouble = "", None
        if self._bank is not None:
            try:
                advice = await self._bank.recall(task, job.key, job.position, record)
            except (ModelError, ModelRefused) as error:  # the embedder's
                trouble = error
        self._observer.start(task.id, arm.name)
        session = self._session(job, record, stages, experience, advice)
        if trouble is not None:
            return self._failed(task, arm, session, record, trouble)
        try:
            submission = await solve(arm.strategy, session)
            stages.deliver(submission)
            graded = await grade(task, submission, session, record)
            stages.reach("graded", verdict=graded.verdict if graded else None)
            points = await curve(task, submission, graded, session, record) if self._compared else ()
            bank_use = BankUse()
            if self._bank is not None:
                bank_use = await self._bank.learn(task, job.key, submission, session, record)
                stages.reach("lessons induced")
                stages.reach("admitted")
        except Exception as error:
            return self._failed(task, arm, session, record, error)
        self._trouble = 0
        self._answered = True
        row = make_row(
            session,
            arm.name,
            arm.seed,
            submission=submission,
            grade=graded,
            graded_on=task.graded_on,
            curve=points,
            trust=task.trust,
            bank=bank_use,
        )
        record.put("row", 0, row.as_json(), session.ledger.seconds)
        return row

    async def _experience(self, job: _Job, record: JournalRecord) -> dict[str, Tally]:
        """What a learning strategy knew of earlier tasks when this one began: in a later sitting the same."""
        learning = self._learning.get((job.arm.name, job.arm.seed))
        if learning is None:
            return {}
        saved = record.get("experience", 0)
        if saved is None:
            tallies = await learning.before(job.position)
            record.put("experience", 0, {key: list(astuple(tally)) for key, tally in tallies.items()}, 0.0)
            return tallies
        return {key: Tally(*numbers) for key, numbers in saved.items()}

    def _in_common(self, job: _Job) -> Common | None:
        """The calls made on this task and seed by other arms, in earlier sittings, and in the runs to reuse."""
        if not self._compared:
            return None
        place = (job.task.id, job.arm.seed)
        if place not in self._common:
            common = self._common[place] = Common()
            for journal in (self._journal, *self._reuse):
                for role, index, payload in journal.calls(*place):
                    common.made(role, index, payload)
        return self._common[place]

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
        row = make_row(
            session,
            arm.name,
            arm.seed,
            submission=None,
            grade=None,
            graded_on=task.graded_on,
            error=text,
            trust=task.trust,
        )
        record.put("error", record.count("error"), details | {"row": row.as_json()}, session.ledger.seconds)
        if not session.calls.shared_failure:  # one failure is one trouble, however many arms it strikes
            self._trouble = self._trouble + 1 if isinstance(error, InfrastructureError) else 0
        if self._trouble >= _TROUBLE:
            raise InfrastructureError(f"{self._trouble} tasks in a row could not be worked on; the last: {text}")
        return row


def _in_order(tasks: Sequence[Task], arms: Sequence[Arm], abreast: int, *, shuffled: bool = False) -> list[_Job]:
    """Every task in every arm, some tasks abreast: workers then seldom wait for a call that arms have in common.

    With `shuffled` each seed has an order of its own, which depends on seed and ids alone.
    """
    if shuffled:
        seeds = dict.fromkeys(arm.seed for arm in arms)
        orders = {seed: sorted(tasks, key=partial(_shuffled, seed)) for seed in seeds}
        return [job for seed in seeds for job in _in_order(orders[seed], [a for a in arms if a.seed == seed], abreast)]
    placed = list(enumerate(tasks))
    blocks = [placed[start : start + abreast] for start in range(0, len(placed), abreast)]
    return [_Job(position, task, arm) for block in blocks for arm in arms for position, task in block]


def _shuffled(seed: int, task: Task) -> bytes:
    return hashlib.sha256(f"{seed} {task.id}".encode()).digest()


async def solve(strategy: Strategy, session: Session) -> Submission:
    """Lets a strategy spend its budget; when that ends mid-way the best trial so far is handed in."""
    try:
        return await strategy.solve(session.problem, session)
    except BudgetExhausted:
        return session.submit("budget")
