"""Task, problem and evaluator: what is asked, what may be seen of it, and who decides."""

from __future__ import annotations

from collections.abc import Awaitable
from dataclasses import dataclass
from typing import Literal, Protocol

from hardwon.trial import Feedback, Source, Trajectory

ProblemKind = Literal["function", "stdio", "text", "question", "game", "repository"]


@dataclass(frozen=True, slots=True)
class Problem:
    """All that a model may see of a task.

    `kind` is `function` (a Python function named `entry_point`), `stdio` (a program that reads standard input and
    prints), `text` (a whole file judged by a command or by the caller's own evaluator), `question` (a short answer),
    `game` (a goal in a world, reached by actions) or `repository` (a change to a repository; `examples` are commands
    that must succeed).
    `prompt` is the task's text, or a Python signature with its docstring. `examples` are visible tests as the reader
    would type them (assertion lines, or input/output pairs), shown to the actor beside the prompt.
    """

    id: str
    prompt: str
    kind: ProblemKind = "function"
    entry_point: str | None = None
    examples: tuple[str, ...] = ()


class Ask(Protocol):
    """An evaluator's door to the model: every call goes through ledger and journal.

    `key` names the call within its task ("tests:0"); asking twice with the same key answers from the journal.
    Raises BudgetExhausted, ModelError.
    """

    def __call__(
        self,
        role: Literal["tests", "judge"],
        prompt: str,
        *,
        key: str,
        temperature: float = 0.0,
        max_tokens: int = 512,
        stop: tuple[str, ...] = (),
    ) -> Awaitable[str]: ...


class Evaluator(Protocol):
    """Something that is not the model and decides whether a trajectory is good.

    `source` says of what kind its evidence is at most; each feedback says what it rested on in fact. Evaluators hold
    no state between checks: what they need of the model they ask for by key.
    """

    @property
    def source(self) -> Source: ...

    async def check(self, trajectory: Trajectory, ask: Ask | None = None) -> Feedback:
        """Checks one trajectory; without `ask` only evidence that needs no model is used.

        Raises InfrastructureError when nothing can be said for reasons that are not the candidate's.
        """
        ...


class Behaviour(Protocol):
    """Shows what a trajectory does, so that samples can be compared where nothing says which of them is right."""

    async def observe(self, trajectory: Trajectory) -> tuple[str, ...]:
        """What it gives on inputs that are the same for every sample of the task; empty where nothing can be seen.

        Two trajectories with the same observations agree. Raises InfrastructureError.
        """
        ...


@dataclass(frozen=True, slots=True)
class Task:
    """An id, a problem, a feedback evaluator (what the loop may use) and a hidden grader (decides the score).

    `digest` identifies the task's whole content (problem and tests), so that a resumed run notices a changed task.
    `graded_on` says whether the grader uses hidden tests, or only what the loop could see as well. `behaviour` shows
    where samples agree; None where that can not be seen. `trust` is what the audit of `feedback` came to, a share in
    0..1; None where it was not audited.
    """

    problem: Problem
    feedback: Evaluator | None
    grader: Evaluator | None
    digest: str
    graded_on: Literal["hidden", "visible", "nothing"] = "hidden"
    behaviour: Behaviour | None = None
    trust: float | None = None

    @property
    def id(self) -> str:
        return self.problem.id
