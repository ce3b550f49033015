"""Plays tasks with actions that are known beforehand, through the acting agent as a model's actions go."""

from __future__ import annotations

from collections.abc import Sequence

from hardwon import ScriptedModel, Session
from hardwon.actors.choose import actor_for
from hardwon.task import Task
from hardwon.trial import Trial


async def play(task: Task, actions: Sequence[str]) -> Trial:
    """One trial in which the model takes these actions, one a turn; the last one repeats."""
    replies = [f"Thought: I know the way.\nAction: {action}" for action in actions]
    model = ScriptedModel.from_replies({"*": {"act": replies}})
    return await Session(task.problem, model, actor_for(task), task.feedback).attempt()
