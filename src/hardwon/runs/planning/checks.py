"""The checks of a rehearsal: they pass or fail by chance, and run nothing."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any, Literal

from hardwon.budget import BudgetExhausted
from hardwon.evaluators.generated import GeneratedTests
from hardwon.evaluators.verdict import judge
from hardwon.task import Ask, Evaluator
from hardwon.trial import NO_FEEDBACK, Check, Feedback, Source, Trajectory

_CHECKS = 6
"""Checks behind each feedback: enough that few failures fail alike."""


class AskedTests:
    """What the tasks' evaluators ask a model for to write their tests: found out once a task, then asked again."""

    def __init__(self) -> None:
        self._known: dict[str, list[tuple[Literal["tests", "judge"], str, dict[str, Any]]]] = {}

    async def ask(self, evaluator: GeneratedTests, ask: Ask) -> None:
        """Raises BudgetExhausted."""
        asked: list[tuple[Literal["tests", "judge"], str, dict[str, Any]]] = []

        async def noted(role: Literal["tests", "judge"], prompt: str, **options: Any) -> str:
            asked.append((role, prompt, options))
            return await ask(role, prompt, **options)

        known = self._known.get(evaluator.problem.id)
        if known is None:
            await evaluator.vetted(noted)
            self._known[evaluator.problem.id] = asked
            return
        for role, prompt, options in known:
            await ask(role, prompt, **options)


@dataclass(slots=True)
class AssumedChecks:
    """Passes or fails by `chances`, those of the first trial and of later ones; never runs anything.

    It stands for `real`, whose self-written tests are asked for with its own prompts. Equal programs fare alike in
    every arm; no two failures are the same.
    """

    real: Evaluator
    chances: tuple[float, float]
    draw: int
    asked: AskedTests
    checked: int = 0
    has_tests: bool = False

    @property
    def source(self) -> Source:
        return self.real.source

    async def check(self, trajectory: Trajectory, ask: Ask | None = None) -> Feedback:
        """Raises BudgetExhausted."""
        source = self.source
        if isinstance(self.real, GeneratedTests) and not self.has_tests:
            try:
                if ask is not None:
                    await self.asked.ask(self.real, ask)
                    self.has_tests = True
            except BudgetExhausted:
                if self.real.visible is None:
                    raise
            if not self.has_tests:
                if self.real.visible is None:
                    return NO_FEEDBACK
                source = "grounded"
        chance = self.chances[min(self.checked, 1)]
        self.checked += 1
        luck = _luck(self.draw, trajectory)
        return judge(_checks(luck, luck.random() < chance, source), source)


def _luck(draw: int, trajectory: Trajectory) -> random.Random:
    """The chance of one program: the same for all who look at it."""
    return random.Random(f"{draw} {trajectory.reply}")


def _checks(luck: random.Random, passed: bool, source: Source) -> list[Check]:
    failing = 0 if passed else luck.randrange(1, 2**_CHECKS)
    return [
        Check(
            f"assumed {n}",
            "fail" if failing >> n & 1 else "pass",
            call=f"a_call_of_usual_length({n}, {n + 1}, {n + 2})",
            expected="a value",
            observed=f"another value, {luck.getrandbits(32)}",
            source=source,
        )
        for n in range(_CHECKS)
    ]


@dataclass(frozen=True, slots=True)
class AssumedBehaviour:
    """Samples that are right do the same, those that are wrong each something of its own."""

    chance: float
    draw: int

    async def observe(self, trajectory: Trajectory) -> tuple[str, ...]:
        """Never raises."""
        right = _luck(self.draw, trajectory).random() < self.chance
        return ("right",) if right else (trajectory.reply,)
