"""The reasoning bank of a run: what each task recalls from it, what it teaches, and its admission, each exactly once.

A run reads a snapshot that is frozen when it begins. In streaming mode a task also reads what the tasks before it in
the run's order have taught in the same arm and seed, and waits for them. Neither depends on the timing of workers.
"""

from __future__ import annotations

import asyncio
import uuid
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from typing import Any

from hardwon import prompts
from hardwon.budget import BudgetExhausted
from hardwon.errors import UsageError
from hardwon.evaluators.model_judge import Judgement, ModelJudge, Opinion
from hardwon.memory.bank.embedding import Embedder
from hardwon.memory.bank.induction import MOST_TOKENS, Induced, induce, label_of
from hardwon.memory.bank.item import Item, Label, Labeller, Provenance, Scope, problem_digest
from hardwon.memory.bank.retrieval import Index, Limits
from hardwon.memory.bank.store import Bank, Episode
from hardwon.record import Payload, Record
from hardwon.runs.journal import Key
from hardwon.runs.recall import query_of, recalled, repository_of, used, uses
from hardwon.runs.row import BankUse
from hardwon.session import Session
from hardwon.task import Task
from hardwon.trial import Submission

_LABELS: dict[Opinion, tuple[Label, Labeller]] = {
    "yes": ("success", "judge"),
    "no": ("failure", "judge"),
    "unsure": ("unknown", "judge"),
}
RUN = Key("", "", 0)
"""Whose events those of the run as a whole are."""


@dataclass(frozen=True, slots=True)
class BankSettings:
    """How a run uses its bank: at most `limits.most` items a task where `recall`, each withheld with chance `withhold`.

    `learn` admits what tasks teach; with `stream` later tasks of the same arm and seed have it at once, else the next
    run. `suites` limits what is recalled to these. `arms` names the arms that have the bank (None: every one). With
    `shuffle` each seed works the tasks in an order of its own. With `judge` a task that nothing verified gets its label
    from a model judge, for learning alone: credit counts only what was verified. `by_text` is for tasks whose ids mean
    nothing outside of their run: the bank then knows them by what they ask.
    """

    suite: str
    recall: bool = True
    learn: bool = False
    stream: bool = False
    withhold: float = 0.1
    limits: Limits = field(default_factory=Limits)
    suites: tuple[str, ...] = ()
    arms: tuple[str, ...] | None = None
    shuffle: bool = False
    judge: bool = False
    by_text: bool = False

    def __post_init__(self) -> None:
        if not 0 <= self.withhold < 1:
            raise UsageError(f"--withhold {self.withhold:g}: want a share from 0 to below 1")
        if self.stream and not (self.learn and self.recall):
            raise UsageError("--learn stream: later tasks have nothing of it without --recall; give --recall K too")


class RunBank:
    """The bank as one run uses it. Raises UsageError, BankError, ModelError (the embedder)."""

    def __init__(self, bank: Bank, settings: BankSettings, embedder: Embedder | None = None) -> None:
        self.settings = settings
        self._bank = bank
        self._embedder = embedder
        self._index: Index | None = None
        self._run = ""
        self._snapshot = self._episodes = 0
        self._recalls: dict[Key, Payload] = {}
        self._taught: defaultdict[tuple[str, int], dict[int, tuple[Item, ...]]] = defaultdict(dict)
        self._lessons: dict[Key, tuple[Item, ...]] = {}
        self._changed = asyncio.Condition()

    def as_settings(self) -> dict[str, Any]:
        """What of it a run is known by. The snapshot is in the journal: a run that goes on keeps its own."""
        embedder = None if self._embedder is None else self._embedder.name
        chosen = asdict(self.settings) | {"arms": self.settings.arms and list(self.settings.arms)}
        if not self.settings.by_text:
            del chosen["by_text"]  # as in runs that were begun before there was a choice
        return {"id": self._bank.id, "embedder": embedder, **chosen, "prompts": prompts.hashes(bank=True)}

    @property
    def snapshot(self) -> int:
        return self._snapshot

    def begin(self, record: Record, finished: Iterable[tuple[int, Key, Record]] = ()) -> None:
        """Freezes the snapshot, or takes that of the earlier sittings, which `record` (of the run as a whole) has.

        `finished` are tasks done then, by position, with what their own records have.
        """
        saved = record.get("bank", 0)
        if saved is None:
            at = {"snapshot": self._bank.head(), "episodes": self._bank.counts()[0]}
            saved = {"run": uuid.uuid4().hex[:12], "bank": self._bank.id, **at}
            record.put("bank", 0, saved, 0.0)
        if saved["bank"] != self._bank.id:
            raise UsageError(f"--bank {self._bank.name}: this run began with another bank; give that, or --fresh")
        self._run, self._snapshot, self._episodes = saved["run"], saved["snapshot"], saved["episodes"]
        if self.settings.stream:
            for position, key, done in finished:
                self._taught[key.arm, key.seed][position] = _items(done.get("induced", 0))

    def need_writable(self) -> None:
        """Raises UsageError for a bank that can only be read: what was recalled is kept in it too, for its effect."""
        self._bank.need_writable()

    def close(self) -> None:
        self._bank.close()

    def used_by(self, arm: str) -> bool:
        return self.settings.arms is None or arm in self.settings.arms

    async def recall(self, task: Task, key: Key, position: int, record: Record) -> str:
        """The block of advice for a task, in a later sitting the same; empty where nothing is relevant.

        Raises UsageError where the bank could not take the task in afterwards: nothing is paid for it then.
        """
        if not self.used_by(key.arm):
            return ""
        if record.get("admitted", 0) is None:
            self.need_writable()
        if not self.settings.recall:
            return ""
        saved = record.get("recall", 0)
        if saved is None:
            saved = await self._recalled(task, key, await self._index_for(key, position))
            record.put("recall", 0, saved, 0.0)
        self._recalls[key] = saved
        return str(saved["advice"])

    async def learn(self, task: Task, key: Key, submission: Submission, session: Session, record: Record) -> BankUse:
        """Draws items from a finished task, if asked to, and admits them with the uses of what it recalled."""
        if not self.used_by(key.arm):
            return BankUse()
        labelled = label_of(task.problem, submission)
        won = None if labelled[0] == "unknown" else labelled[0] == "success"
        episode = Episode(self._run, self._name(task), key.arm, key.seed, won, session.ledger.tokens)
        items: tuple[Item, ...] = ()
        if self.settings.learn:
            items = self._lessons[key] = _items(await self._induced(task, key, submission, labelled, session, record))
        recall = self._recalls.pop(key, None)
        if record.get("admitted", 0) is None:
            new = self._bank.admit(episode, items, uses(recall))
            record.put("admitted", 0, {"items": [item.id for item in items], "new": new}, session.ledger.seconds)
        return used(recall, [item.id for item in items])

    async def finish(self, key: Key, position: int) -> None:
        """A task is done, or an error has ended it: tasks that wait for it may go on."""
        taught = self._lessons.pop(key, ())
        if self.settings.stream:
            async with self._changed:
                self._taught[key.arm, key.seed][position] = taught
                self._changed.notify_all()

    async def _index_for(self, key: Key, position: int) -> Index:
        if self.settings.stream:
            taught = self._taught[key.arm, key.seed]
            async with self._changed:
                await self._changed.wait_for(lambda: all(n in taught for n in range(position)))
            own = [item for n in range(position) for item in taught[n]]
            return Index(self._bank, self._snapshot, self._embedder, own)
        if self._index is None:
            self._index = Index(self._bank, self._snapshot, self._embedder)
        return self._index

    def _name(self, task: Task) -> str:
        """What the bank knows a task by."""
        return f"{task.id}/{problem_digest(task.problem.prompt)[:8]}" if self.settings.by_text else task.id

    async def _recalled(self, task: Task, key: Key, index: Index) -> Payload:
        name, chosen = self._name(task), self.settings
        asked = await asyncio.to_thread(index.embedded, task.problem.prompt)  # a hosted embedder takes its time
        found = index.search(query_of(task, name, chosen.suites), chosen.limits, asked)
        draw = f"{key.seed} {self._episodes}"  # a later run of the same tasks draws anew
        return {
            "bank": self._bank.id,
            "snapshot": self._snapshot,
            **recalled(found, draw, name, chosen.withhold),
        }

    async def _induced(
        self,
        task: Task,
        key: Key,
        submission: Submission,
        labelled: tuple[Label, Labeller],
        session: Session,
        record: Record,
    ) -> Payload:
        saved = record.get("induced", 0)
        if saved is not None:
            session.calls.recall(saved["asked"])
            return saved
        answered = session.calls.answered
        origin = Provenance(self._run, self._name(task), key.arm, key.seed)
        scope = Scope(self.settings.suite, task.problem.kind, repository_of(task))
        judgement: Judgement | None = None
        try:
            if labelled[0] == "unknown" and self.settings.judge:
                judgement = await _judged(task, submission, session)
                labelled = _LABELS[judgement.opinion] if judgement else labelled
            generate = session.calls.door("induce", session.sampling.reflect_temperature, MOST_TOKENS)
            induced = await induce(
                task.problem, session.trials, session.lessons, submission, labelled, origin, scope, generate
            )
        except BudgetExhausted as spent:
            induced = Induced(*labelled, dropped=(str(spent),))
        saved = {
            "label": induced.label,
            "labelled_by": induced.labelled_by,
            "items": [item.as_json() for item in induced.items],
            "dropped": list(induced.dropped),
            "judgement": judgement and asdict(judgement),
            "asked": sorted(session.calls.answered - answered),
        }
        record.put("induced", 0, saved, session.ledger.seconds)
        return saved


async def _judged(task: Task, submission: Submission, session: Session) -> Judgement | None:
    """A model's opinion on what was handed in; None where that is nothing to judge."""
    trial = submission.trial
    if trial is None or not trial.trajectory.output:
        return None
    return await ModelJudge(task.problem).judge(trial.trajectory.output, session.calls.ask)


def _items(payload: Payload | None) -> tuple[Item, ...]:
    return tuple(Item.from_json(values) for values in payload["items"]) if payload else ()
