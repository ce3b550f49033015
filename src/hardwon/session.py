"""The session: the only handle a strategy holds. Every call goes through ledger and record."""

from __future__ import annotations

import asyncio
import hashlib
import math
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

from hardwon.actors.protocol import Actor, Generate, Hints
from hardwon.budget import Budget, Ledger
from hardwon.errors import UsageError
from hardwon.memory.episodic import window as sliding_window
from hardwon.models.protocol import Completion, Message, Model, Request, Role
from hardwon.record import (
    MemoryRecord,
    Payload,
    Record,
    completion_from,
    completion_payload,
    feedback_from,
    feedback_payload,
    lesson_payload,
)
from hardwon.reflection import reflect
from hardwon.task import Evaluator, Problem
from hardwon.trial import NO_FEEDBACK, Feedback, Lesson, Source, Stop, Submission, Trajectory, Trial, best

Happening = Trial | Lesson
"""What a session tells those who watch it."""


@dataclass(frozen=True, slots=True)
class Sampling:
    """How the model is asked: temperature and most tokens of an act and of a reflection, and the seed (or None)."""

    temperature: float = 0.0
    max_tokens: int = 1024
    reflect_temperature: float = 0.0
    reflect_max_tokens: int = 256
    seed: int | None = None


class Session:
    """One problem, one arm, one attempt at solving it.

    A session knows the problem and what the loop may use as feedback. It does not know the grader (law 1).
    """

    def __init__(
        self,
        problem: Problem,
        model: Model,
        actor: Actor,
        evaluator: Evaluator | None,
        *,
        budget: Budget = Budget(),  # noqa: B008  (frozen)
        sampling: Sampling = Sampling(),
        record: Record | None = None,
        watch: Callable[[Happening], None] | None = None,
    ) -> None:
        self.problem = problem
        self.sampling = sampling
        self.ledger = Ledger(budget)
        self.trials: list[Trial] = []
        self.lessons: list[Lesson] = []
        self._model = model
        self._actor = actor
        self._evaluator = evaluator
        self._record = record if record is not None else MemoryRecord()
        self._watch = watch
        self._next: defaultdict[str, int] = defaultdict(int)
        self._answers: dict[tuple[str, int], Completion] = {}
        self._asking: defaultdict[tuple[str, int], asyncio.Lock] = defaultdict(asyncio.Lock)
        self.ledger.spent_earlier(self._record.earlier_seconds)

    @property
    def feedback_source(self) -> Source:
        """What kind of evidence `check` can give at most; `none` where there is no evaluator."""
        return "none" if self._evaluator is None else self._evaluator.source

    async def act(
        self,
        lessons: tuple[Lesson, ...] = (),
        previous: Trial | None = None,
        temperature: float | None = None,
    ) -> Trajectory:
        """One trajectory. `temperature` overrides the sampling's. Raises BudgetExhausted, ModelError."""
        usual = self.sampling.temperature if temperature is None else temperature
        generate = self._door("act", usual, self.sampling.max_tokens)
        return await self._actor.act(self.problem, Hints(lessons, previous), generate)

    async def check(self, trajectory: Trajectory, *, free: bool = False) -> Feedback:
        """Checks a trajectory; with `free` only on evidence that costs no model call.

        Raises BudgetExhausted, ModelError, InfrastructureError.
        """
        if self._evaluator is None:
            return NO_FEEDBACK
        index = self._take("check")
        saved = self._record.get("check", index)
        if saved is not None:
            return feedback_from(saved)
        feedback = await self._evaluator.check(trajectory, None if free else self._ask)
        self._put("check", index, feedback_payload(feedback))
        return feedback

    async def attempt(
        self,
        lessons: tuple[Lesson, ...] = (),
        previous: Trial | None = None,
        temperature: float | None = None,
        *,
        free_check: bool = False,
    ) -> Trial:
        """Acts, checks, and keeps the trial. What was produced is kept even if the budget ends before its check."""
        trajectory = await self.act(lessons, previous, temperature)
        number = len(self.trials) + 1
        self.trials.append(Trial(number, trajectory, NO_FEEDBACK))
        trial = Trial(number, trajectory, await self.check(trajectory, free=free_check))
        self.trials[number - 1] = trial
        self._tell(trial)
        return trial

    async def reflect(self, trial: Trial, *, window: int | None = 3) -> Lesson:
        """Writes the lesson of a failed trial and remembers it. Raises ValueError unless the trial failed (law 4)."""
        generate = self._door("reflect", self.sampling.reflect_temperature, self.sampling.reflect_max_tokens)
        lesson = await reflect(self.problem, trial, self.recall(window), generate)
        index = self._take("lesson")
        if self._record.get("lesson", index) is None:
            self._put("lesson", index, lesson_payload(lesson))
        self.lessons.append(lesson)
        self._tell(lesson)
        return lesson

    def recall(self, window: int | None = 3) -> tuple[Lesson, ...]:
        """The last `window` lessons of this task (Ω), oldest first; None for all."""
        return sliding_window(self.lessons, window)

    def submit(self, stop: Stop) -> Submission:
        """Hands in the best trial so far on visible evidence, the earliest among equals (law 5)."""
        return Submission(best(self.trials), stop)

    def _door(self, role: Role, usual_temperature: float, most_tokens: int) -> Generate:
        """The way to the model for one role."""

        async def generate(
            messages: tuple[Message, ...], *, temperature: float | None = None, max_tokens: int | None = None
        ) -> Completion:
            chosen = usual_temperature if temperature is None else temperature
            return await self._call(role, self._take(role), messages, chosen, max_tokens or most_tokens)

        return generate

    async def _ask(
        self,
        role: Literal["tests", "judge"],
        prompt: str,
        *,
        key: str,
        temperature: float = 0.0,
        max_tokens: int = 512,
        stop: tuple[str, ...] = (),
    ) -> str:
        index = int(key.rpartition(":")[2])
        completion = await self._call(role, index, (Message("user", prompt),), temperature, max_tokens, stop)
        return completion.text

    async def _call(
        self,
        role: Role,
        index: int,
        messages: tuple[Message, ...],
        temperature: float,
        max_tokens: int,
        stop: tuple[str, ...] = (),
    ) -> Completion:
        async with self._asking[role, index]:
            return await self._answer(role, index, messages, temperature, max_tokens, stop)

    async def _answer(
        self,
        role: Role,
        index: int,
        messages: tuple[Message, ...],
        temperature: float,
        max_tokens: int,
        stop: tuple[str, ...],
    ) -> Completion:
        if (role, index) in self._answers:
            return self._answers[role, index]
        digest = _digest(messages, temperature)
        saved = self._record.get(role, index)
        if saved is not None:
            if saved["digest"] != digest:
                raise UsageError(
                    f"{self.problem.id}: the journal holds another prompt for {role} {index}; start with --fresh"
                )
            completion = completion_from(saved["completion"])
        else:
            completion = await self._generate(role, index, messages, temperature, max_tokens, stop, digest)
        usage = completion.usage
        self.ledger.charge(role, usage.tokens_in, usage.tokens_out, usage.tokens_cached, usage.cost_usd)
        self._answers[role, index] = completion
        return completion

    async def _generate(
        self,
        role: Role,
        index: int,
        messages: tuple[Message, ...],
        temperature: float,
        max_tokens: int,
        stop: tuple[str, ...],
        digest: str,
    ) -> Completion:
        prompt_tokens = sum(math.ceil(len(message.content) / 4) for message in messages)
        allowed = self.ledger.reserve(prompt_tokens, max_tokens)
        seed = None if self.sampling.seed is None else self.sampling.seed + index
        try:
            completion = _clean(
                await self._model.generate(
                    Request(self.problem.id, role, index, messages, temperature, allowed, seed, stop)
                )
            )
        finally:
            self.ledger.release(prompt_tokens, allowed)
        self._put(
            role,
            index,
            {
                "completion": completion_payload(completion),
                "messages": [[message.role, message.content] for message in messages],
                "temperature": temperature,
                "digest": digest,
            },
        )
        return completion

    def _take(self, kind: str) -> int:
        index = self._next[kind]
        self._next[kind] += 1
        return index

    def _put(self, kind: str, index: int, payload: Payload) -> None:
        self._record.put(kind, index, payload, self.ledger.seconds)

    def _tell(self, happening: Happening) -> None:
        if self._watch is not None:
            self._watch(happening)


def _clean(completion: Completion) -> Completion:
    """The completion as valid Unicode: half a surrogate pair in a reply would break whatever is written later."""
    text = completion.text.encode("utf-8", "replace").decode()
    reasoning = completion.reasoning and completion.reasoning.encode("utf-8", "replace").decode()
    return replace(completion, text=text, reasoning=reasoning)


def _digest(messages: tuple[Message, ...], temperature: float) -> str:
    text = "\0".join(f"{message.role}\0{message.content}" for message in messages)
    return hashlib.sha256(f"{temperature:g}\0{text}".encode("utf-8", "surrogatepass")).hexdigest()[:16]
