"""`self_consistency`: the majority of independent samples (Wang et al. 2023; by what programs do: Li et al. 2022)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from hardwon.session import Session
from hardwon.strategies.plateau import program_of
from hardwon.strategies.ranges import counts, temperatures
from hardwon.task import Problem
from hardwon.trial import Submission, Trial, best


@dataclass(frozen=True, slots=True)
class SelfConsistency:
    """Draws up to `trials` samples and hands in the earliest of the largest group that agrees.

    Samples agree when they do the same on the task's common inputs, or, where that can not be seen, when they are the
    same program. Only those of the best visible score have a say. It stops early when the majority can not change any
    more. `temperature` is that of every sample after the first.
    """

    name: ClassVar[str] = "self_consistency"
    needs_feedback: ClassVar[bool] = False

    trials: int = 5
    temperature: float = 0.8

    def __post_init__(self) -> None:
        counts(trials=self.trials)
        temperatures(temperature=self.temperature)

    async def solve(self, problem: Problem, session: Session) -> Submission:
        seen: dict[int, object] = {}
        for left in reversed(range(self.trials)):
            trial = await session.attempt(temperature=self.temperature if seen else None)
            seen[trial.number] = await session.observe(trial) or program_of(trial)
            groups = _groups(session.trials, seen)
            session.favour(max(groups, key=_votes)[0])
            if _top_score_is_known(session.trials) and _decided(list(map(_votes, groups)), left):
                break
        standing = session.standing
        return session.submit("solved" if standing and standing.feedback.verdict == "pass" else "trials")


def _groups(trials: Sequence[Trial], seen: dict[int, object]) -> list[list[Trial]]:
    """The trials of the best score, those that agree together, in the order of each group's first."""
    top = best(trials)
    groups: dict[object, list[Trial]] = {}
    for trial in trials:
        if top is not None and trial.feedback.score == top.feedback.score:
            groups.setdefault(seen[trial.number], []).append(trial)
    return list(groups.values())


def _votes(group: Sequence[Trial]) -> int:
    """How many of the trials hold anything to hand in."""
    return sum(trial.trajectory.output is not None for trial in group)


def _top_score_is_known(trials: Sequence[Trial]) -> bool:
    """Whether no later sample can score higher: one has passed, or there is no evidence to score by."""
    verdicts = {trial.feedback.verdict for trial in trials}
    return "pass" in verdicts or verdicts == {"no_evidence"}


def _decided(votes: list[int], left: int) -> bool:
    """Whether the first of the largest groups stays that, whichever group, or a new one, the samples `left` join."""
    lead = votes.index(max(votes))
    return all(n + left < votes[lead] + (place > lead) for place, n in enumerate([*votes, 0]) if place != lead)
