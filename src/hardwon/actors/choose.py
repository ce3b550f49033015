"""Which actor works a task: by what its problem asks for; and whether it calls tools."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from typing import Any

from hardwon import prompts
from hardwon.actors.program import ProgramActor
from hardwon.actors.protocol import Actor
from hardwon.actors.react import ReActActor
from hardwon.actors.reasoning import ReasoningActor
from hardwon.actors.shell import ShellActor
from hardwon.environments.repository import RepositoryTask
from hardwon.environments.task import EpisodeTask
from hardwon.errors import UsageError
from hardwon.models.protocol import Model, calls_tools
from hardwon.models.tools import ToolUse
from hardwon.task import Task

_ACTING = (EpisodeTask, RepositoryTask)


def actor_for(task: Task) -> Actor:
    """The program writer, the reasoner, the acting agent in the task's own world, or the shell agent."""
    if isinstance(task, EpisodeTask):
        return ReActActor(task.environment, task.steps, task.tools, tool_use=task.tool_use)
    if isinstance(task, RepositoryTask):
        return ShellActor(task)
    if task.problem.kind == "question":
        return ReasoningActor()
    return ProgramActor()


def with_tool_use(tasks: Sequence[Task], use: ToolUse) -> tuple[Task, ...]:
    """The tasks, those that an agent acts in with `use`. Raises UsageError where it is asked for and there are none."""
    if use != "auto" and tasks and not tool_uses(tasks):
        raise UsageError(f"--tools {use}: no agent acts in these tasks, they are answered in one reply; leave it out")
    return tuple(replace(task, tool_use=use) if isinstance(task, _ACTING) else task for task in tasks)


def with_steps(tasks: Sequence[Task], steps: int | None) -> tuple[Task, ...]:
    """The tasks, an episode of each of at most `steps` actions. Raises UsageError where no agent acts in any."""
    if steps is not None and tasks and not tool_uses(tasks):
        raise UsageError(f"--steps {steps}: no agent acts in these tasks, they are answered in one reply; leave it out")
    return tuple(replace(task, steps=steps) if steps and isinstance(task, _ACTING) else task for task in tasks)


def tool_uses(tasks: Iterable[Task]) -> set[ToolUse]:
    """How the agents are to act that work these tasks; empty where there are none."""
    return {task.tool_use for task in tasks if isinstance(task, _ACTING)}


def tool_settings(uses: Collection[ToolUse], model: Model) -> dict[str, Any]:
    """What a run is known by where its agents call tools: that they do, and with which prompts. Else nothing."""
    if "native" in uses or ("auto" in uses and calls_tools(model)):
        return {"tools": "native", "tool_prompts": prompts.hashes(native=True)}
    return {}
