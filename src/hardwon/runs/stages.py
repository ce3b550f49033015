"""How far each instance of a batch has come, as events of the journal: `queued` to `graded`.

A stage is written once, when it is first reached, whatever number of sittings that takes. What makes each of them
resumable on its own are the effects beside it (calls, episodes, checks, the grade); `delivered` holds what was handed
in, so that it can be exported, judged and learned from even where a later stage failed.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Literal, get_args

from hardwon.actors.protocol import Actor, Generate, Hints
from hardwon.errors import UsageError
from hardwon.models.protocol import Completion, Message
from hardwon.models.tools import Tool
from hardwon.record import Payload, Record
from hardwon.runs.journal import Journal, Key
from hardwon.sandbox.workspaces.homes import sweep_once
from hardwon.task import Problem, Task
from hardwon.trial import Submission, Trajectory

Stage = Literal[
    "queued", "workspace ready", "attempted", "delivered", "graded", "judged", "lessons induced", "admitted"
]
ORDER: tuple[Stage, ...] = get_args(Stage)


def staged(task: Task) -> bool:
    """Whether the stages of a task are kept: those of work in a repository."""
    return task.problem.kind == "repository"


async def clear_up(tasks: Iterable[Task]) -> None:
    """Removes the workspaces that a killed run left behind, if any task needs workspaces."""
    if any(map(staged, tasks)):
        await asyncio.to_thread(sweep_once)


def queue(journal: Journal, tasks: Iterable[tuple[Task, Key]]) -> None:
    """Writes that these are waiting, of those whose stages are kept and that were not queued before."""
    known = set(journal.keys("stage"))
    for task, key in tasks:
        if staged(task) and key not in known:
            journal.append(key, "stage", 0, {"stage": ORDER[0]})


class Stages:
    """The stages of one task, on top of its record; of other tasks than work in a repository none are kept."""

    def __init__(self, task: Task, record: Record) -> None:
        self._record = record
        self._kept = staged(task)
        self._start = time.monotonic()
        self._reached = {stage for n, stage in enumerate(ORDER) if record.get("stage", n) is not None}

    def watch(self, actor: Actor) -> Actor:
        """The actor, whose first model call says that a workspace is ready, and whose trajectory that it attempted."""
        return _Watched(actor, self) if self._kept else actor

    def reach(self, stage: Stage, **details: object) -> None:
        """Writes a stage the first time it is reached. Raises JournalError."""
        if stage in self._reached or not self._kept:
            return
        elapsed = self._record.earlier_seconds + time.monotonic() - self._start
        self._record.put("stage", ORDER.index(stage), {"stage": stage, **details}, elapsed)
        self._reached.add(stage)

    def deliver(self, submission: Submission) -> None:
        """The strategy has returned: what it hands in, before anything else is done with it."""
        trial = submission.trial
        self.reach(
            "delivered",
            trial=trial.number if trial else None,
            submission=trial.trajectory.output if trial else None,
            stop=submission.stop,
        )


class _Watched:
    def __init__(self, actor: Actor, stages: Stages) -> None:
        self._actor = actor
        self._stages = stages

    async def act(self, problem: Problem, hints: Hints, generate: Generate) -> Trajectory:
        async def noted(
            messages: tuple[Message, ...],
            *,
            temperature: float | None = None,
            max_tokens: int | None = None,
            stop: tuple[str, ...] = (),
            tools: tuple[Tool, ...] = (),
        ) -> Completion:
            self._stages.reach("workspace ready")
            return await generate(messages, temperature=temperature, max_tokens=max_tokens, stop=stop, tools=tools)

        trajectory = await self._actor.act(problem, hints, noted)
        self._stages.reach("attempted", steps=len(trajectory.steps))
        return trajectory


def latest(journal: Journal) -> dict[Key, Stage]:
    """The last stage that each instance has reached. Raises UsageError for a journal of another version."""
    found: dict[Key, int] = {}
    for key, index, _ in journal.payloads("stage"):
        if not 0 <= index < len(ORDER):
            raise UsageError(f"{journal.path}: task {key.task_id}: a stage of another version; give another run")
        found[key] = max(index, found.get(key, 0))
    return {key: ORDER[index] for key, index in found.items()}


def counted(stages: Iterable[Stage]) -> dict[Stage, int]:
    """How many instances stand at each stage, in the order of the stages."""
    count = Counter(stages)
    return {stage: count[stage] for stage in ORDER if count[stage]}


def delivered(journal: Journal) -> Iterator[tuple[Key, Payload]]:
    """What each instance handed in, graded or not: `trial`, `submission` (a diff or None) and `stop`."""
    for key, index, payload in journal.payloads("stage"):
        if index == ORDER.index("delivered"):
            yield key, payload
