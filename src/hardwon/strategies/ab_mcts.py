"""`ab_mcts`: adaptive branching, wider or deeper at each step (Inoue et al. 2025, AB-MCTS-A), by `treequest`."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from hardwon.errors import UsageError
from hardwon.session import Session
from hardwon.strategies.ranges import counts, temperatures
from hardwon.strategies.stops import STOP
from hardwon.task import Problem
from hardwon.trial import Submission, Trial

if TYPE_CHECKING:
    from treequest import ABMCTSA


@dataclass(frozen=True, slots=True)
class ABMCTS:
    """Thompson sampling over visible scores decides which trial the next one refines, or that it starts afresh.

    `temperature` is that of every sample after the first. Ends at a pass or at `trials`.
    Raises UsageError where the package `treequest` is missing.
    """

    name: ClassVar[str] = "ab_mcts"
    needs_feedback: ClassVar[bool] = True

    trials: int = 10
    temperature: float = 0.8

    def __post_init__(self) -> None:
        counts(trials=self.trials)
        temperatures(temperature=self.temperature)
        _algorithm()

    async def solve(self, problem: Problem, session: Session) -> Submission:
        search = _algorithm()
        tree = search.init_tree()
        while True:
            with _chance(session.random):
                _, asked = search.ask(tree, ["attempt"])
            parent = asked.parent_state
            trial = await session.attempt((), parent, self.temperature if session.trials else None)
            if trial.feedback.verdict != "fail" or trial.number >= self.trials:
                return session.submit(STOP[trial.feedback.verdict])
            search.tell(tree, asked.trial_id, (trial, trial.feedback.score))


def _algorithm() -> ABMCTSA[Trial]:
    try:
        from treequest import ABMCTSA
    except ImportError as error:
        raise UsageError("strategy ab_mcts needs the package treequest; pip install 'hardwon[lab]'") from error
    return ABMCTSA()


@contextmanager
def _chance(source: random.Random) -> Iterator[None]:
    """`treequest` draws from numpy's global generator: inside, that is seeded from `source`; afterwards as it was."""
    import numpy as np

    outer = np.random.get_state()
    np.random.seed(source.getrandbits(32))
    try:
        yield
    finally:
        np.random.set_state(outer)
