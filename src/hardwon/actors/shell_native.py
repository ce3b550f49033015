"""The shell agent's native calls: `shell` runs a command, `submit` hands the work in."""

from __future__ import annotations

from dataclasses import dataclass

from hardwon.actors.calling import answered, first_call, flaw_note
from hardwon.actors.shell_text import SUBMIT, Turn, short, too_long
from hardwon.models.protocol import Completion, Message
from hardwon.models.tools import text_tool
from hardwon.trial import Step

_TOOLS = (
    text_tool(
        "shell",
        "Runs a command in a new shell in the repository's root folder; gives its exit status and what it printed.",
        command="the command, of one line or several",
    ),
    text_tool(SUBMIT, "Hands in what has been changed in the tree; the work ends with it."),
)


@dataclass(frozen=True, slots=True)
class CallSpeech:
    """The agent works by calls of its two tools."""

    tools = _TOOLS
    rules = "actors/native_shell_system"

    def read(self, completion: Completion) -> Turn:
        """The first call; the text beside it is the thought."""
        thought = short(completion.text)
        called = first_call(completion, self.tools)
        if called.flaw is not None:
            return Turn(thought, None, flaw=called.flaw)
        command = called.arguments.get("command", SUBMIT).strip("\n")
        if too_long(command):
            return Turn(thought, None, flaw="too long")
        return Turn(thought, SUBMIT if command.strip() == SUBMIT else command)

    def note(self, flaw: str) -> str:
        return flaw_note(flaw, self.tools)

    def turn(self, completion: Completion, step: Step) -> tuple[Message, ...]:
        return answered(completion, step.thought, step.observation)
