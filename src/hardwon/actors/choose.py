"""Which actor works a task: by what its problem asks for."""

from __future__ import annotations

from hardwon.actors.program import ProgramActor
from hardwon.actors.protocol import Actor
from hardwon.actors.react import ReActActor
from hardwon.actors.reasoning import ReasoningActor
from hardwon.actors.shell import ShellActor
from hardwon.environments.repository import RepositoryTask
from hardwon.environments.task import EpisodeTask
from hardwon.task import Task


def actor_for(task: Task) -> Actor:
    """The program writer, the reasoner, the acting agent in the task's own world, or the shell agent."""
    if isinstance(task, EpisodeTask):
        return ReActActor(task.environment, task.steps, task.tools)
    if isinstance(task, RepositoryTask):
        return ShellActor(task)
    if task.problem.kind == "question":
        return ReasoningActor()
    return ProgramActor()
