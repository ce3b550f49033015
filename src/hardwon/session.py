"""The session: the only handle a strategy holds. Every call goes through ledger and record."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from hardwon.actors.protocol import Actor, Hints
from hardwon.bandit import Means as Means
from hardwon.bandit import choose, tallied
from hardwon.budget import Budget, Ledger
from hardwon.calls import Calls, Common
from hardwon.calls import Sampling as Sampling
from hardwon.evaluators.reliability import upheld
from hardwon.evaluators.vote import vote
from hardwon.memory.bank.advice import advised
from hardwon.memory.episodic import window as sliding_window
from hardwon.models.protocol import Model, calls_tools
from hardwon.record import (
    MemoryRecord,
    Payload,
    Record,
    feedback_from,
    feedback_payload,
    lesson_payload,
    trajectory_from,
    trajectory_payload,
)
from hardwon.reflection import Form as Form
from hardwon.reflection import propose, reflect
from hardwon.task import Behaviour, Evaluator, Problem
from hardwon.trial import (
    NO_FEEDBACK,
    Feedback,
    Lesson,
    Note,
    Source,
    Standing,
    Stop,
    Submission,
    Tally,
    Trajectory,
    Trial,
    best,
)

Happening = Trial | Lesson
"""What a session tells those who watch it."""


class Session:
    """One problem, one arm, one attempt at solving it.

    A session knows the problem and what the loop may use as feedback. It does not know the grader (law 1).
    `experience` is what earlier tasks of this run and arm have noted, for strategies that learn. `random` is the arm's
    own source of chance on this task: the same in every sitting. `advice` is what the reasoning bank has for this task,
    as a block of text that stands before the task whenever the actor asks the model.
    """

    def __init__(
        self,
        problem: Problem,
        model: Model,
        actor: Actor,
        evaluator: Evaluator | None,
        *,
        behaviour: Behaviour | None = None,
        budget: Budget = Budget(),  # noqa: B008  (frozen)
        sampling: Sampling = Sampling(),  # noqa: B008
        record: Record | None = None,
        watch: Callable[[Happening], None] | None = None,
        common: Common | None = None,
        experience: Mapping[str, Tally] | None = None,
        advice: str = "",
    ) -> None:
        self.problem = problem
        self.sampling = sampling
        self.ledger = Ledger(budget)
        self.trials: list[Trial] = []
        self.lessons: list[Lesson] = []
        self.standings: list[Standing] = []
        self.notes: list[Note] = []
        self.votes = self.decisions = 0
        self.experience: Mapping[str, Tally] = experience or {}
        self.random = random.Random(f"{sampling.seed} {problem.id}")
        self.advice = advice
        self._actor = actor
        self._evaluator = evaluator
        self._behaviour = behaviour
        self._record = record if record is not None else MemoryRecord()
        self._watch = watch
        self._calls_tools = calls_tools(model)
        self._next: defaultdict[str, int] = defaultdict(int)
        self._favoured: Trial | None = None
        self.ledger.spent_earlier(self._record.earlier_seconds)
        self.calls = Calls(problem.id, model, sampling, self.ledger, self._record, common)

    @property
    def feedback_source(self) -> Source:
        """What kind of evidence `check` can give at most; `none` where there is no evaluator."""
        return "none" if self._evaluator is None else self._evaluator.source

    async def act(
        self,
        lessons: Sequence[Lesson] = (),
        previous: Trial | None = None,
        temperature: float | None = None,
        *,
        feedback: bool = True,
        approach: str | None = None,
    ) -> Trajectory:
        """One trajectory. `temperature` overrides the sampling's. Raises BudgetExhausted, ModelError.

        `previous` is an earlier trial that is shown, with what its checks said if `feedback`; `approach` is the way to
        take (one of `propose`).
        """
        index = self._take("episode")
        saved = self._record.get("episode", index)
        if saved is not None:
            self.calls.recall(saved["asked"])
            self._next["observation"] = saved.get("observed", 0)
            return trajectory_from(saved)
        usual = self.sampling.temperature if temperature is None else temperature
        generate = advised(self.calls.door("act", usual, self.sampling.max_tokens), self.advice)
        answered = self.calls.answered
        hints = Hints(tuple(lessons), previous, feedback, approach, self._settle, self._calls_tools)
        trajectory = await self._actor.act(self.problem, hints, generate)
        if trajectory.steps or trajectory.won is not None:  # a finished episode is not played again
            beside = {"asked": sorted(self.calls.answered - answered), "observed": self._next["observation"]}
            self._put("episode", index, {**trajectory_payload(trajectory), **beside})
        return trajectory

    async def check(self, trajectory: Trajectory, *, free: bool = False) -> Feedback:
        """Checks a trajectory; with `free` only on evidence that costs no model call.

        A verdict that rests on nothing but a model's opinion is `no_evidence` (law 2).
        Raises BudgetExhausted, ModelError, InfrastructureError.
        """
        if self._evaluator is None:
            return NO_FEEDBACK
        index = self._take("check")
        saved = self._record.get("check", index)
        if saved is not None:
            self.calls.recall(saved.get("asked", ()))
            return feedback_from(saved)
        answered = self.calls.answered
        feedback = await self._evaluator.check(trajectory, None if free else self.calls.ask)
        if feedback.source == "none" and feedback.verdict != "no_evidence":
            feedback = replace(feedback, verdict="no_evidence")
        asked = sorted(self.calls.answered - answered)
        self._put("check", index, {**feedback_payload(feedback), "asked": asked})
        return feedback

    async def attempt(
        self,
        lessons: Sequence[Lesson] = (),
        previous: Trial | None = None,
        temperature: float | None = None,
        *,
        feedback: bool = True,
        approach: str | None = None,
        free_check: bool = False,
    ) -> Trial:
        """Acts, checks, and keeps the trial. What was produced is kept even if the budget ends before its check."""
        trajectory = await self.act(lessons, previous, temperature, feedback=feedback, approach=approach)
        number = len(self.trials) + 1
        self.trials.append(Trial(number, trajectory, NO_FEEDBACK))
        self._stand()
        trial = Trial(number, trajectory, await self.check(trajectory, free=free_check))
        self.trials[number - 1] = trial
        self._stand()
        self._tell(trial)
        return trial

    async def reflect(self, trial: Trial, *, window: int | None = 3, form: Form = "lesson") -> Lesson:
        """Writes the lesson of a failed trial and remembers it. Raises ValueError unless the trial failed (law 4)."""
        generate = self.calls.door("reflect", self.sampling.reflect_temperature, self.sampling.reflect_max_tokens)
        lesson = await reflect(self.problem, trial, self.recall(window), generate, form)
        index = self._take("lesson")
        if self._record.get("lesson", index) is None:
            self._put("lesson", index, lesson_payload(lesson))
        self.lessons.append(lesson)
        self._tell(lesson)
        return lesson

    async def propose(self, count: int, trial: Trial | None = None, temperature: float | None = None) -> list[str]:
        """At most `count` different approaches in the model's words, to begin with or to mend a failed trial."""
        usual = self.sampling.reflect_temperature if temperature is None else temperature
        generate = self.calls.door("reflect", usual, self.sampling.reflect_max_tokens)
        return await propose(self.problem, count, trial, generate)

    async def vote(self, trials: Sequence[Trial]) -> Trial:
        """The trial that the model itself holds for the best: ungrounded, and counted as such in the row."""
        number = await vote(self.problem, [t.trajectory for t in trials], self.calls.ask, key=f"judge:{self.votes}")
        self.votes += 1
        return trials[number]

    async def observe(self, trial: Trial) -> tuple[str, ...]:
        """What the trial's trajectory gives on the task's common inputs; empty where nothing can be seen."""
        if self._behaviour is None:
            return ()
        saved = self._record.get("observe", trial.number)
        if saved is None:
            saved = {"observed": await self._behaviour.observe(trial.trajectory)}
            self._put("observe", trial.number, saved)
        return tuple(saved["observed"])

    def recall(self, window: int | None = 3) -> tuple[Lesson, ...]:
        """The last `window` lessons of this task (Ω), oldest first; None for all."""
        return sliding_window(self.lessons, window)

    def decide(self, action: str, reason: str) -> None:
        """Puts a decision and its reason into the record, where the report reads them."""
        index = self._take("decide")
        self.decisions += 1
        if self._record.get("decide", index) is None:
            self._put("decide", index, {"action": action, "reason": reason, "trials": len(self.trials)})

    def choose(self, means: Mapping[str, Means], state: str) -> str:
        """One of the means, by what is believed and what earlier tasks noted of them; the reason is recorded."""
        choice = choose(means, state, self.experience, self.random)
        self.decide(choice.action, choice.reason)
        return choice.action

    def learned(self, key: str) -> Tally:
        """What earlier tasks of this run noted under a key."""
        return self.experience.get(key, Tally())

    def upheld(self) -> bool | None:
        """Whether self-written tests that refused a program of this task were right; None where nothing tells."""
        return upheld(self.trials)

    def note_use(self, action: str, state: str, won: bool, tokens: int) -> None:
        """Notes how a chosen means did, over all states and in this one."""
        for key in tallied(action, state):
            self.note(key, won, tokens)

    def note(self, key: str, won: bool, tokens: int) -> None:
        """Tells later tasks of this run how a means did here, as part of their `experience`."""
        self.notes.append(Note(key, won, tokens))

    def favour(self, trial: Trial) -> None:
        """Prefers a trial among those of the best visible score; ValueError for one that scores below (law 5)."""
        leading = best(self.trials)
        if leading is None or trial.feedback.score < leading.feedback.score:
            raise ValueError(f"trial {trial.number} is not among the best on visible evidence")
        self._favoured = trial
        self._stand()

    @property
    def standing(self) -> Trial | None:
        """What would be handed in now: the best trial on visible evidence, among equals the favoured, the earliest."""
        leading = best(self.trials)
        favoured = self._favoured
        if favoured is not None and leading is not None and favoured.feedback.score >= leading.feedback.score:
            return favoured
        return leading

    def submit(self, stop: Stop) -> Submission:
        """Hands in the best trial so far on visible evidence (law 5)."""
        return Submission(self.standing, stop)

    def _settle(self, observation: str) -> str:
        """What was observed here the first time, so that a resumed episode comes to the prompts it has paid for."""
        index = self._take("observation")
        saved = self._record.get("observation", index)
        if saved is None:
            self._put("observation", index, {"text": observation})
            return observation
        return str(saved["text"])

    def _stand(self) -> None:
        trial, ledger = self.standing, self.ledger
        if trial is not None and (not self.standings or self.standings[-1].trial != trial.number):
            self.standings.append(Standing(trial.number, ledger.calls, ledger.tokens, ledger.cost_usd))

    def _take(self, kind: str) -> int:
        index = self._next[kind]
        self._next[kind] += 1
        return index

    def _put(self, kind: str, index: int, payload: Payload) -> None:
        self._record.put(kind, index, payload, self.ledger.seconds)

    def _tell(self, happening: Happening) -> None:
        if self._watch is not None:
            self._watch(happening)
