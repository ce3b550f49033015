"""Which prompts a run can come to use: those of its tasks' actors and evaluators, and those of its arms' strategies."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from hardwon import prompts
from hardwon.environments.repository import RepositoryTask
from hardwon.environments.task import EpisodeTask
from hardwon.strategies.protocol import Strategy
from hardwon.task import Task

_PROGRAM = ("actors/system", "actors/program", "evaluators/tests", "evaluators/answers")
_REASONING = ("actors/reasoning_system", "actors/reasoning")
_EPISODE = ("actors/react_system", "actors/react", "actors/react_note")
_REPOSITORY = (
    "actors/shell_system",
    "actors/shell",
    "actors/shell_note",
    "actors/shell_observation",
    "evaluators/fix",
    "evaluators/repository",
)
_FORMS = ("reflection/lesson", "reflection/blind", "reflection/critique")
"""Prompts of a reflection on a program; on what reasons, acts or changes a repository there is one for all forms."""

_OF_STRATEGY: dict[str, tuple[str, ...]] = {
    "ab_mcts": (),
    "auto": ("reflection/lesson", "reflection/approaches"),
    "best_of_n": (),
    "immediate_refinement": (),
    "immediate_reflection": ("reflection/blind",),
    "last_attempt": (),
    "last_attempt_and_reflection": ("reflection/lesson",),
    "placebo": ("reflection/lesson",),
    "reflexion": ("reflection/lesson",),
    "scale_parallel": (),
    "scale_sequential": ("reflection/blind",),
    "self_consistency": (),
    "self_refine": ("reflection/critique",),
    "single": (),
    "tree_of_thoughts": ("reflection/approaches", "evaluators/vote"),
    "uniform_cost": ("reflection/lesson",),
}
_OF_ANY_STRATEGY = (*_FORMS, "reflection/approaches", "evaluators/vote")
"""What a strategy of someone else's may ask for."""


def prompts_in_use(strategies: Iterable[Strategy], tasks: Sequence[Task], *, judged: bool = False) -> dict[str, str]:
    """SHA-256 of each prompt that these strategies can come to use on these tasks, by name.

    Rather one too many: a changed prompt that is not in it goes unnoticed. `judged` says that the bank asks a judge.
    The prompts of the bank and of tool calls are recorded where those are (`prompts.hashes`).
    """
    asked = {name for strategy in strategies for name in _OF_STRATEGY.get(strategy.name, _OF_ANY_STRATEGY)}
    found = {"evaluators/judge"} if judged else set()
    for task in tasks:
        found |= _of_task(task) | {_on_task(name, task) for name in asked}
    return {name: known for name, known in prompts.hashes().items() if name in found}


def _of_task(task: Task) -> set[str]:
    if isinstance(task, EpisodeTask):
        return set(_EPISODE)
    if isinstance(task, RepositoryTask):
        return set(_REPOSITORY)
    return set(_REASONING if task.problem.kind == "question" else _PROGRAM)


def _on_task(name: str, task: Task) -> str:
    """A strategy's prompt as it is for what the task asks for."""
    if name not in _FORMS or task.problem.kind not in ("question", "game", "repository"):
        return name
    return "reflection/repository" if task.problem.kind == "repository" else "reflection/attempt"
