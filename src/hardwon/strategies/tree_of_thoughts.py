"""`tree_of_thoughts`: search over programs by their visible score (Yao et al. 2023, Algorithms 1 and 2)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from hardwon.session import Session
from hardwon.strategies.ranges import counts, shares, temperatures
from hardwon.task import Problem
from hardwon.trial import Submission, Trial


@dataclass(frozen=True, slots=True)
class TreeOfThoughts:
    """A state is a trial; the first layer are fresh samples, and the children of a failed state refine it.

    `search`: `breadth` keeps the `beam` best states of each layer; `depth` follows the best child first, never one that
    scores below `threshold`, and backtracks. `depth` is the number of layers, `branch` that of the children of a state.
    `proposals`: children are plain samples, or each follows one of the ways that the model proposed. `temperature` is
    that of every sample after the first. Ends at a pass, at `trials` in all, or when the tree is searched through.

    Where there is no evidence the model votes among the first layer: ungrounded, and handed in through the gate.
    """

    name: ClassVar[str] = "tree_of_thoughts"
    needs_feedback: ClassVar[bool] = False

    trials: int = 10
    search: Literal["breadth", "depth"] = "breadth"
    beam: int = 2
    depth: int = 3
    branch: int = 3
    threshold: float = 0.0
    proposals: Literal["sample", "propose"] = "sample"
    temperature: float = 0.8

    def __post_init__(self) -> None:
        counts(trials=self.trials, beam=self.beam, depth=self.depth, branch=self.branch)
        shares(threshold=self.threshold)
        temperatures(temperature=self.temperature)

    async def solve(self, problem: Problem, session: Session) -> Submission:
        first = await session.attempt()
        layer = [first, *await self._expand(session, None, self.branch - 1)]
        if first.feedback.verdict == "no_evidence":
            return await self._voted(session, layer)
        search = self._breadth_first if self.search == "breadth" else self._depth_first
        await search(session, layer, 1)
        if session.trials[-1].feedback.verdict == "pass":
            return session.submit("solved")
        return session.submit("trials" if len(session.trials) >= self.trials else "plateau")

    async def _breadth_first(self, session: Session, layer: Sequence[Trial], level: int) -> None:
        while layer and level < self.depth:
            beam = _ranked(layer)[: self.beam]
            layer = [child for state in beam for child in await self._expand(session, state, self.branch)]
            level += 1

    async def _depth_first(self, session: Session, layer: Sequence[Trial], level: int) -> None:
        for state in _ranked(layer):
            if level < self.depth and state.feedback.score >= self.threshold:
                await self._depth_first(session, await self._expand(session, state, self.branch), level + 1)

    async def _expand(self, session: Session, state: Trial | None, count: int) -> list[Trial]:
        """At most `count` children of a state, or of the root; fewer when the search ends among them."""
        children: list[Trial] = []
        ways: Sequence[str | None] = [None] * count
        if self.proposals == "propose" and count and not self._ended(session):
            ways = [*await session.propose(count, state), *ways][:count]
        for way in ways:
            if not self._ended(session):
                children.append(await session.attempt((), state, self.temperature, approach=way))
        return children

    def _ended(self, session: Session) -> bool:
        return session.trials[-1].feedback.verdict == "pass" or len(session.trials) >= self.trials

    async def _voted(self, session: Session, layer: Sequence[Trial]) -> Submission:
        top = max(trial.feedback.score for trial in layer)
        candidates = [trial for trial in layer if trial.feedback.score == top]
        session.favour(await session.vote(candidates) if len(candidates) > 1 else candidates[0])
        return session.submit("gate")


def _ranked(layer: Sequence[Trial]) -> list[Trial]:
    """The failed trials of a layer, the best visible score first, the earlier among equals."""
    return sorted((t for t in layer if t.feedback.verdict == "fail"), key=lambda t: -t.feedback.score)
