"""`auto`: decides for each task and each step, from the evidence of this run, whether and how to go on."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import ClassVar

from hardwon.session import Form, Means, Session
from hardwon.strategies.plateau import outcome, plateau
from hardwon.strategies.ranges import counts, shares, temperatures
from hardwon.strategies.stops import STOP
from hardwon.task import Problem
from hardwon.trial import Submission, Trial, best

_LOW, _HIGH = 0.3, 0.6
"""First-attempt accuracy up to which reflection is expected to pay, and from which a fresh sample is."""


@dataclass(frozen=True, slots=True)
class Auto:
    """One pass where nothing can be trusted; else what has paid on this run, until a pass, the cap or the budget.

    After a failure a Thompson-sampling bandit chooses between a fresh `sample`, a `hint` (a retry that is told the
    failing checks), `reflect` (a lesson, then a retry) and a wider `search` (`branch` proposed approaches, tried one by
    one). Its prior is the initial-accuracy gate: reflect
    where first attempts seldom pass, sample where they often do. Reflection is off once fewer than `bar` of at least
    `bar_after` lessons were followed by a pass. A refusal by self-written tests alone counts only while such tests
    have mostly been right on this run.
    """

    name: ClassVar[str] = "auto"
    needs_feedback: ClassVar[bool] = False
    learns: ClassVar[bool] = True

    trials: int = 5
    branch: int = 2
    temperature: float = 0.8
    bar: float = 0.05
    bar_after: int = 12

    def __post_init__(self) -> None:
        counts(trials=self.trials, branch=self.branch, bar_after=self.bar_after)
        shares(bar=self.bar)
        temperatures(temperature=self.temperature)

    async def solve(self, problem: Problem, session: Session) -> Submission:
        if session.feedback_source == "none":
            session.decide("single", "no evaluator to trust: one pass")
            await session.attempt()
            return session.submit("gate")
        trial = await session.attempt()
        session.note("first", trial.feedback.verdict == "pass", session.ledger.tokens)
        first = session.ledger.tokens
        if trial.feedback.verdict == "fail" and self._below_bar(session):
            session.decide("no reflection", "too few lessons of this run were followed by a pass")
        while trial.feedback.verdict == "fail" and len(session.trials) < self.trials:
            if self._doubtful(session, trial):
                session.decide("stop", "refused by self-written tests alone, which were mostly wrong on this run")
                return session.submit("gate")
            state, spent = _state(session.trials), session.ledger.tokens
            action = session.choose(self._means(session, first), state)
            trial = await getattr(self, f"_{action}")(session)
            session.note_use(action, state, trial.feedback.verdict == "pass", session.ledger.tokens - spent)
        if (right := session.upheld()) is not None:
            session.note("self-written", right, 0)
        return session.submit(STOP[trial.feedback.verdict])

    async def _sample(self, session: Session) -> Trial:
        return await session.attempt(temperature=self.temperature)

    async def _hint(self, session: Session) -> Trial:
        return await self._retry(session, "evidence")

    async def _reflect(self, session: Session) -> Trial:
        return await self._retry(session, "lesson")

    async def _retry(self, session: Session, form: Form) -> Trial:
        leading = best(session.trials)
        assert leading is not None
        await session.reflect(leading, form=form)
        return await session.attempt(session.recall(), temperature=self.temperature)

    async def _search(self, session: Session) -> Trial:
        trial = session.trials[-1]
        approaches = await session.propose(self.branch, trial, self.temperature)
        ways: list[str | None] = [*approaches] or [None]
        for approach in ways:
            if len(session.trials) < self.trials and trial.feedback.verdict == "fail":
                trial = await session.attempt(temperature=self.temperature, approach=approach)
        return trial

    def _means(self, session: Session, first: int) -> dict[str, Means]:
        """The means that are open, with the prior of the initial-accuracy gate; `first` is what an attempt took."""
        seen = session.learned("first")
        accuracy = (seen.won + 1) / (seen.tried + 2)
        ease = min(1.0, max(0.0, (accuracy - _LOW) / (_HIGH - _LOW)))
        means = {
            "sample": Means(0.1 + 0.15 * ease, first),
            "hint": Means(0.2 + 0.05 * ease, first * 1.2),
            "search": Means(0.15 + 0.1 * ease, first * (self.branch + 1)),
        }
        if not self._below_bar(session):
            means["reflect"] = Means(0.3 - 0.1 * ease, 2 * first)
        return means

    def _below_bar(self, session: Session) -> bool:
        """Whether the model has shown on this run that its lessons do not help it."""
        lessons = session.learned("reflect")
        return lessons.tried >= self.bar_after and lessons.won < self.bar * lessons.tried

    def _doubtful(self, session: Session, trial: Trial) -> bool:
        """Whether only self-written tests refuse the trial, and those of this run were mostly wrong."""
        seen = session.learned("self-written")
        own = all(check.source == "generated" for check in trial.feedback.failing)
        return bool(trial.feedback.failing) and own and 2 * seen.won < seen.tried and seen.tried >= 4


def _state(trials: list[Trial]) -> str:
    """Trial number, share of checks passing, agreement among the trials, plateau: in coarse words."""
    leading = best(trials)
    share = "high" if leading is not None and leading.feedback.score >= 0.5 else "low"
    most = Counter(repr(outcome(trial)) for trial in trials).most_common(1)[0][1]
    agree = "agree" if len(trials) > 1 and 3 * most >= 2 * len(trials) else "differ"
    stage = "first" if len(trials) == 1 else "later"
    return f"{stage}, {share}, {agree}{', plateau' if plateau(trials) else ''}"
