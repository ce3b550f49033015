"""The shell agent: works in a repository with one tool, a shell, until it submits (after SWE-agent and mini-swe-agent).

What it hands in is the git diff of its tree, taken by us: never text that the model printed, never an error message.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from hardwon.actors.history import conversation
from hardwon.actors.protocol import Generate, Hints
from hardwon.budget import BudgetExhausted
from hardwon.environments.repository import RepositoryTask
from hardwon.evaluators.verdict import cut
from hardwon.models.protocol import Message
from hardwon.prompts import render
from hardwon.sandbox.protocol import CommandResult
from hardwon.sandbox.workspaces.workspace import UnfitChange, Workspace, open_workspace
from hardwon.task import Problem
from hardwon.trial import Step, Trajectory

SUBMIT = "submit"
_FENCE = re.compile(
    r"^[ \t]*(`{3,}|~{3,})[ \t]*([\w+#.-]*)[^\n]*\n(.*?)(?:^[ \t]*\1[`~]*[ \t]*$|(\Z))", re.DOTALL | re.MULTILINE
)
_SHELLS = ("bash", "sh", "shell", "zsh", "console", "shell-session", "")
_LISTED = 100

_LONGEST_THOUGHT = 1500
_LONGEST_OBSERVATION = 6000
_LONGEST_COMMAND = 64 << 10
_LONGEST_DIFF = 5000
_SAME_AGAIN = 2
"""A command is a repetition if it was among so many before it and brought the same."""


@dataclass(frozen=True, slots=True)
class ShellActor:
    """Works `task` in a new workspace for each trajectory, which goes whatever happens.

    An attempt ends with a reply whose command is `submit`, after the task's `steps`, after `mistakes` replies in a row
    that held no command or only repeated one (each is told so), or when the budget ends and something was changed: then
    the change so far is handed in. Raises InfrastructureError, and BudgetExhausted where nothing was changed yet.
    """

    task: RepositoryTask
    mistakes: int = 3

    async def act(self, problem: Problem, hints: Hints, generate: Generate) -> Trajectory:
        task = self.task
        workspace = await open_workspace(task.source, network=task.network, env=task.env, backend=task.backend)
        try:
            opening = _opening(problem, hints, task, await workspace.files())
            return await _Attempt(self, workspace, hints, generate, opening).work()
        finally:
            await workspace.close()


@dataclass(slots=True)
class _Attempt:
    actor: ShellActor
    workspace: Workspace
    hints: Hints
    generate: Generate
    opening: tuple[Message, ...]
    steps: list[Step] = field(default_factory=list)
    reply: str = ""
    ran: int = 0
    wrong: int = 0

    async def work(self) -> Trajectory:
        while self.ran < self.actor.task.steps and self.wrong < self.actor.mistakes:
            try:
                completion = await self.generate(
                    conversation(self.opening, self.steps, self.actor.task.context, _spoken)
                )
            except BudgetExhausted:
                so_far = await self._finish()
                if so_far.output is None:
                    raise
                return so_far
            self.reply = completion.text
            turn = read_turn(self.reply, cut_off=completion.finish == "length")
            if turn.command is None:
                self._wrong(turn.thought, "", _note(turn.flaw or "no command"))
            elif turn.command == SUBMIT:
                if (done := await self._submit(turn)) is not None:
                    return done
            else:
                await self._run(turn, turn.command)
        return await self._finish()

    async def _run(self, turn: Turn, command: str) -> None:
        self.ran += 1
        seconds = self.actor.task.command_seconds
        result = await self.workspace.run(command, seconds=seconds)
        told = self.hints.settle(_observation(result, seconds))
        last = [(step.action, step.observation) for step in self.steps[-_SAME_AGAIN:]]
        if any(action == command and seen.startswith(told) for action, seen in last):
            self._wrong(turn.thought, command, f"{told}\n\n{_note('repeated')}")
            return
        self.wrong = 0
        if turn.more:
            told += f"\n\n{_note('more', count=turn.more)}"
        if (left := self.actor.task.steps - self.ran) in (1, 5):
            told += f"\n\n{_note('steps', count=left)}"
        self.steps.append(Step(turn.thought, command, told))

    async def _submit(self, turn: Turn) -> Trajectory | None:
        """The trajectory, or None where there is nothing that could be handed in: the agent is told so."""
        try:
            change = await self.workspace.diff()
        except UnfitChange as error:
            self._wrong(turn.thought, SUBMIT, self.hints.settle(f"Not handed in: {error}."))
            return None
        if not change.strip():
            self._wrong(turn.thought, SUBMIT, _note("nothing"))
            return None
        self.steps.append(Step(turn.thought, SUBMIT, ""))
        return Trajectory(change, self.reply, tuple(self.steps))

    async def _finish(self) -> Trajectory:
        """What there is without a `submit`."""
        try:
            change = await self.workspace.diff()
        except UnfitChange as error:
            self.steps.append(Step("", "", f"Not handed in: {error}."))
            change = ""
        return Trajectory(change if change.strip() else None, self.reply, tuple(self.steps))

    def _wrong(self, thought: str, action: str, told: str) -> None:
        self.wrong += 1
        self.steps.append(Step(thought, action, told))


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
            return Turn(_short("\n".join(lines[:-1])), SUBMIT)
        flaw = "cut off" if cut_off else "other language" if blocks else "no command"
        return Turn(_short(reply), None, flaw=flaw)
    first = shell[0]
    thought = _short(reply[: first.start()])
    if cut_off and first[4] is not None:
        return Turn(_short(reply), None, flaw="cut off")
    command = first[3].strip("\n")
    if first[2].lower() in ("console", "shell-session"):
        command = "\n".join(line.removeprefix("$ ") for line in command.split("\n") if line.startswith("$ ")) or command
    if "\0" in command or len(json.dumps(command)) > _LONGEST_COMMAND:
        return Turn(thought, None, flaw="too long")
    if command.strip() == SUBMIT:
        return Turn(thought, SUBMIT)
    return Turn(thought, command, len(shell) - 1)


def _short(text: str) -> str:
    return cut(text.strip(), _LONGEST_THOUGHT)


def _note(note: str, count: int = 0) -> str:
    return render("actors/shell_note", note=note, count=count)


def _observation(result: CommandResult, seconds: float) -> str:
    output = cut(result.output.strip("\n"), _LONGEST_OBSERVATION)
    return render("actors/shell_observation", result=result, output=output, seconds=f"{seconds:g}")


def _spoken(step: Step) -> tuple[str, str]:
    """A step as its two messages."""
    if not step.action:
        return step.thought or "…", step.observation
    fence = "```" if "```" not in step.action else "`````"
    return f"{step.thought}\n\n{fence}bash\n{step.action}\n{fence}".lstrip(), step.observation or "…"


def _opening(problem: Problem, hints: Hints, task: RepositoryTask, files: Sequence[str]) -> tuple[Message, ...]:
    """How to work, and the task with all that is known of it before the first command."""
    previous = hints.previous
    system = render("actors/shell_system", steps=task.steps, seconds=f"{task.command_seconds:g}", network=task.network)
    told = render(
        "actors/shell",
        problem=problem,
        files=files[:_LISTED],
        more=len(files) > _LISTED,
        lessons=hints.lessons,
        previous=previous and cut(previous.trajectory.output or "(nothing was changed)", _LONGEST_DIFF),
        said=previous.feedback.text if previous and hints.feedback else "",
        approach=hints.approach,
    )
    return Message("system", system), Message("user", told)
