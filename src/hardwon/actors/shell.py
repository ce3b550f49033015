"""The shell agent: works in a repository with one tool, a shell, until it submits (after SWE-agent and mini-swe-agent).

What it hands in is the git diff of its tree, taken by us: never text that the model printed, never an error message.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from hardwon.actors.calling import is_native
from hardwon.actors.history import conversation
from hardwon.actors.protocol import Generate, Hints
from hardwon.actors.shell_native import CallSpeech
from hardwon.actors.shell_text import SUBMIT, TextSpeech, Turn
from hardwon.budget import BudgetExhausted
from hardwon.environments.repository import RepositoryTask
from hardwon.evaluators.verdict import cut
from hardwon.models.protocol import Completion, Message
from hardwon.models.tools import Tool
from hardwon.prompts import render
from hardwon.sandbox.protocol import CommandResult
from hardwon.sandbox.workspaces.workspace import UnfitChange, Workspace, open_workspace
from hardwon.task import Problem
from hardwon.trial import Step, Trajectory

_LISTED = 100

_LONGEST_OBSERVATION = 6000
_LONGEST_DIFF = 5000
_SAME_AGAIN = 2
"""A command is a repetition if it was among so many before it and brought the same."""


class Speech(Protocol):
    """How agent and model speak: what is asked for, how a reply is read, and how a turn is remembered."""

    @property
    def tools(self) -> tuple[Tool, ...]: ...

    @property
    def rules(self) -> str:
        """The prompt that says how to work."""
        ...

    def read(self, completion: Completion) -> Turn: ...

    def note(self, flaw: str) -> str:
        """What is told of a reply that says nothing to do."""
        ...

    def turn(self, completion: Completion, step: Step) -> tuple[Message, ...]: ...


@dataclass(frozen=True, slots=True)
class ShellActor:
    """Works `task` in a new workspace for each trajectory, which goes whatever happens.

    An attempt ends with a reply whose command is `submit`, after the task's `steps`, after `mistakes` replies in a row
    that held no command or only repeated one (each is told so), or when the budget ends and something was changed: then
    the change so far is handed in. Commands are blocks of a reply or native calls, as the task
    says. Raises InfrastructureError, and BudgetExhausted where nothing was changed yet.
    """

    task: RepositoryTask
    mistakes: int = 3

    async def act(self, problem: Problem, hints: Hints, generate: Generate) -> Trajectory:
        task = self.task
        workspace = await open_workspace(task.source, network=task.network, env=task.env, backend=task.backend)
        try:
            speech: Speech = CallSpeech() if is_native(task.tool_use, hints) else TextSpeech()
            opening = _opening(problem, hints, task, await workspace.files(), speech.rules)
            return await _Attempt(self, workspace, hints, generate, opening, speech).work()
        finally:
            await workspace.close()


@dataclass(slots=True)
class _Attempt:
    actor: ShellActor
    workspace: Workspace
    hints: Hints
    generate: Generate
    opening: tuple[Message, ...]
    speech: Speech
    steps: list[Step] = field(default_factory=list)
    turns: list[tuple[Message, ...]] = field(default_factory=list)
    reply: str = ""
    ran: int = 0
    wrong: int = 0

    async def work(self) -> Trajectory:
        while self.ran < self.actor.task.steps and self.wrong < self.actor.mistakes:
            try:
                completion = await self.generate(
                    conversation(self.opening, self.turns, self.actor.task.context), tools=self.speech.tools
                )
            except BudgetExhausted:
                so_far = await self._finish()
                if so_far.output is None:
                    raise
                return so_far
            self.reply = completion.spelled
            turn = self.speech.read(completion)
            if turn.command is None:
                self._wrong(turn.thought, "", self.speech.note(turn.flaw or "no command"))
            elif turn.command == SUBMIT:
                if (done := await self._submit(turn)) is not None:
                    return done
            else:
                await self._run(turn, turn.command)
            self.turns.append(self.speech.turn(completion, self.steps[-1]))
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
            said = "" if change.strip() else _note("nothing")
        except UnfitChange as error:
            change, said = "", f"Not handed in: {error}."
        # what was said here the first time holds, also where the tree of a resumed attempt came out otherwise
        if said := self.hints.settle(said):
            self._wrong(turn.thought, SUBMIT, said)
            return None
        self.steps.append(Step(turn.thought, SUBMIT, ""))
        return Trajectory(change if change.strip() else None, self.reply, tuple(self.steps))

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


def _note(note: str, count: int = 0) -> str:
    return render("actors/shell_note", note=note, count=count)


def _observation(result: CommandResult, seconds: float) -> str:
    output = cut(result.output.strip("\n"), _LONGEST_OBSERVATION)
    return render("actors/shell_observation", result=result, output=output, seconds=f"{seconds:g}")


def _opening(
    problem: Problem, hints: Hints, task: RepositoryTask, files: Sequence[str], rules: str
) -> tuple[Message, ...]:
    """How to work, and the task with all that is known of it before the first command."""
    previous = hints.previous
    system = render(rules, steps=task.steps, seconds=f"{task.command_seconds:g}", network=task.network)
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
