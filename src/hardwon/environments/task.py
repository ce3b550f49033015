"""A task whose trajectory is an episode in a world."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from hardwon.environments.protocol import Environment
from hardwon.models.tools import ToolUse
from hardwon.task import Task


@dataclass(frozen=True, kw_only=True)
class EpisodeTask(Task):
    """A task with `environment`, which makes a new world for each episode; `steps` is the most actions of one.

    `tools` tells the agent which actions there are, a line each; `tool_use` whether it calls them natively.
    """

    environment: Callable[[], Environment]
    steps: int = 30
    tools: str = ""
    tool_use: ToolUse = "auto"
