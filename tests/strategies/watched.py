"""Scripted sessions for the tests of this room: constant programs, graded by how near their constant is."""

import ast
import asyncio
from collections.abc import Callable

from hardwon.actors.program import ProgramActor
from hardwon.budget import Budget
from hardwon.errors import ModelError
from hardwon.evaluators.function import FunctionCheck
from hardwon.models.protocol import Completion, Request
from hardwon.models.scripted import ScriptedModel
from hardwon.record import Record
from hardwon.runs.runner import solve
from hardwon.session import Session
from hardwon.strategies.protocol import Strategy
from hardwon.task import Behaviour, Evaluator, Problem
from hardwon.trial import Submission, Trajectory

PROBLEM = Problem("t", "Write f.", "function", "f")
LESSONS = [
    "Zero must be handled apart from positive numbers in the first branch.",
    "Recursion never terminates because nothing shrinks between calls.",
    "Sorting must be stable, hence keep original positions as second key.",
    "Boundaries are inclusive on both sides, extend the range upward.",
]
PROSE = "I would rather not."


def program(n: int | str) -> str:
    return f"```python\ndef f():\n    return {n}\n```"


def programs(*numbers: int | str) -> list[str]:
    return [program(n) for n in numbers]


def returns(wanted: int) -> Callable[[str], tuple[float, str]]:
    """An evaluator: the closer the constant that the program returns, the higher the score."""

    def check(text: str) -> tuple[float, str]:
        got = int(text.rpartition("return ")[2])
        return max(0.0, 1 - abs(got - wanted) / 10), f"returned {got}"

    return check


class Constants:
    """A behaviour: the constant that the program returns, however it is written."""

    async def observe(self, trajectory: Trajectory) -> tuple[str, ...]:
        text = (trajectory.output or "").rpartition("return ")[2]
        return (str(ast.literal_eval(text)),) if text else ()


class Watched:
    """A scripted model that keeps what it was asked; it breaks down after `lasts` requests, if that is given."""

    def __init__(self, replies: dict[str, list[str]], lasts: int | None = None) -> None:
        self._scripted = ScriptedModel.from_replies({"*": replies})
        self._lasts = lasts
        self.name = "watched"
        self.parallel = 1
        self.price_known = True
        self.requests: list[Request] = []

    async def generate(self, request: Request) -> Completion:
        if len(self.requests) == self._lasts:
            raise ModelError("the line is dead")
        self.requests.append(request)
        return await self._scripted.generate(request)

    async def close(self) -> None:
        await self._scripted.close()

    def prompts(self, role: str) -> list[str]:
        return [r.messages[-1].content for r in self.requests if r.role == role]

    @property
    def roles(self) -> list[str]:
        return [r.role for r in self.requests]


def open_session(
    model: Watched,
    wanted: int | Evaluator | None,
    budget: Budget | None = None,
    behaviour: Behaviour | None = None,
    record: Record | None = None,
    problem: Problem = PROBLEM,
) -> Session:
    """A session on a problem whose right answer is `wanted`; None for a problem without an evaluator."""
    evaluator = FunctionCheck(returns(wanted)) if isinstance(wanted, int) else wanted
    return Session(
        problem, model, ProgramActor(), evaluator, behaviour=behaviour, budget=budget or Budget(), record=record
    )


def run(
    strategy: Strategy,
    acts: list[str],
    wanted: int | Evaluator | None,
    budget: Budget | None = None,
    *,
    behaviour: Behaviour | None = None,
    reflect: list[str] = LESSONS,
    judge: tuple[str, ...] = (),
) -> tuple[Submission, Session, Watched]:
    model = Watched({"act": acts, "reflect": reflect, "judge": list(judge)})
    session = open_session(model, wanted, budget, behaviour)
    return asyncio.run(solve(strategy, session)), session, model
