"""A task whose trajectory is a change to a repository."""

from __future__ import annotations

from dataclasses import dataclass

from hardwon.models.tools import ToolUse
from hardwon.sandbox.workspaces.workspace import Backend, RepositorySource
from hardwon.task import Task


@dataclass(frozen=True, kw_only=True)
class RepositoryTask(Task):
    """A task that the shell agent works in a workspace of `source`, a new one for each attempt.

    `steps` is the most commands of one attempt, `command_seconds` the most seconds of one command, `context` about how
    many tokens of the conversation the model is shown; `network` lets commands reach the network, `env` gives them
    variables, name and value. `tool_use` says whether the agent calls its tools natively.
    """

    source: RepositorySource
    steps: int = 40
    command_seconds: float = 60.0
    context: int = 6000
    network: bool = False
    env: tuple[tuple[str, str], ...] = ()
    backend: Backend = "bubblewrap"
    tool_use: ToolUse = "auto"
