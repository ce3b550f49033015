"""The shell agent's replies in text: a command is a fenced block, `submit` in one hands the work in."""

from __future__ import annotations

import json
import re
import shlex
from dataclasses import dataclass

from hardwon.evaluators.verdict import cut
from hardwon.models.protocol import Completion, Message
from hardwon.prompts import render
from hardwon.trial import Step

SUBMIT = "submit"
_FENCE = re.compile(
    r"^[ \t]*(`{3,}|~{3,})[ \t]*([\w+#.-]*)[^\n]*\n(.*?)(?:^[ \t]*\1[`~]*[ \t]*$|(\Z))", re.DOTALL | re.MULTILINE
)
_SHELLS = ("bash", "sh", "shell", "zsh", "console", "shell-session", "")
_LONGEST_THOUGHT = 1500
_LONGEST_COMMAND = 64 << 10
_LONGEST_QUOTED = 120 << 10
"""A shell takes a command of 128 KiB, and is given this one in quotes, where a `'` is five characters."""


@dataclass(frozen=True, slots=True)
class Turn:
    """What a reply says to do: its command (None, then `flaw` says why), and how many `more` it held."""

    thought: str
    command: str | None = None
    more: int = 0
    flaw: str | None = None


def read_turn(reply: str, *, cut_off: bool = False) -> Turn:
    """The first shell block of a reply, and the text before it; `submit` alone on the last line counts without a block.

    A block in another language is no command, and neither is one that `cut_off` left without its end.
    """
    reply = reply.replace("\r\n", "\n")
    blocks = list(_FENCE.finditer(reply))
    shell = [block for block in blocks if block[2].lower() in _SHELLS and block[3].strip()]
    if not shell:
        lines = reply.strip().splitlines()
        if not blocks and lines and lines[-1].strip(" `.*") == SUBMIT:
            return Turn(short("\n".join(lines[:-1])), SUBMIT)
        foreign = any(block[4] is None for block in blocks)  # one that has its end: being cut off was not what failed
        flaw = "other language" if foreign else "cut off" if cut_off else "other language" if blocks else "no command"
        return Turn(short(reply), None, flaw=flaw)
    first = shell[0]
    thought = short(reply[: first.start()])
    if cut_off and first[4] is not None:
        return Turn(short(reply), None, flaw="cut off")
    command = first[3].strip("\n")
    if first[2].lower() in ("console", "shell-session"):
        command = "\n".join(line.removeprefix("$ ") for line in command.split("\n") if line.startswith("$ ")) or command
    if too_long(command):
        return Turn(thought, None, flaw="too long")
    if command.strip() == SUBMIT:
        return Turn(thought, SUBMIT)
    return Turn(thought, command, len(shell) - 1)


def short(text: str) -> str:
    """What is remembered of a reply's text."""
    return cut(text.strip(), _LONGEST_THOUGHT)


def too_long(command: str) -> bool:
    """Whether a shell would not take the command as it is."""
    if "\0" in command or len(json.dumps(command)) > _LONGEST_COMMAND:
        return True
    return len(shlex.quote(command).encode("utf-8", "surrogatepass")) > _LONGEST_QUOTED


@dataclass(frozen=True, slots=True)
class TextSpeech:
    """The agent works by blocks in its replies."""

    tools = ()
    rules = "actors/shell_system"

    def read(self, completion: Completion) -> Turn:
        return read_turn(completion.text, cut_off=completion.finish == "length")

    def note(self, flaw: str) -> str:
        return render("actors/shell_note", note=flaw, count=0)

    def turn(self, completion: Completion, step: Step) -> tuple[Message, ...]:
        heard = step.observation if not step.action else step.observation or "…"
        return Message("assistant", _told(step)), Message("user", heard)


def _told(step: Step) -> str:
    """A step as the model would have written it."""
    if not step.action:
        return step.thought or "…"
    fence = "```" if "```" not in step.action else "`````"
    return f"{step.thought}\n\n{fence}bash\n{step.action}\n{fence}".lstrip()
