"""The acting agent: thought, action, observation, until the world says that the episode is done (Yao et al. 2023)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from hardwon.actors.calling import is_native
from hardwon.actors.history import conversation, transcript
from hardwon.actors.protocol import Generate, Hints
from hardwon.actors.react_native import CallSpeech
from hardwon.actors.react_text import TextSpeech
from hardwon.environments.protocol import Environment
from hardwon.evaluators.verdict import cut
from hardwon.models.protocol import Completion, Message
from hardwon.models.tools import Tool, ToolUse
from hardwon.prompts import render
from hardwon.task import Problem
from hardwon.trial import Step, Trajectory

_LONGEST_OBSERVATION = 2000
_SAME_AGAIN = 2
"""An action is a repetition if it was among so many before it and the world answered the same."""


class Speech(Protocol):
    """How agent and model speak: what is asked for, how a reply is read, and how a turn is remembered."""

    @property
    def tools(self) -> tuple[Tool, ...]: ...

    @property
    def stop(self) -> tuple[str, ...]: ...

    def rules(self, problem: Problem) -> str:
        """How to act, for the system's message."""
        ...

    def read(self, completion: Completion, valid_actions: Sequence[str]) -> tuple[str, str | None, str]:
        """The thought; the action, or None and what to say of that."""
        ...

    def turn(self, completion: Completion, step: Step) -> tuple[Message, ...]: ...


@dataclass(frozen=True, slots=True)
class ReActActor:
    """Acts in a new world of `environment` for each trajectory.

    An episode ends when the world says so, after `steps` actions, or after `mistakes` replies in a row that held no
    action or only repeated one; each of these is told so. The conversation is cut to about `context` tokens. `tools`
    says which actions there are, `tool_use` whether they are lines of a reply or native calls. Raises
    EnvironmentTrouble; the world is closed whatever happens.
    """

    environment: Callable[[], Environment]
    steps: int = 30
    tools: str = ""
    context: int = 6000
    mistakes: int = 3
    tool_use: ToolUse = "auto"

    async def act(self, problem: Problem, hints: Hints, generate: Generate) -> Trajectory:
        world = self.environment()
        try:
            return await self._episode(world, problem, hints, generate)
        finally:
            await world.close()

    async def _episode(self, world: Environment, problem: Problem, hints: Hints, generate: Generate) -> Trajectory:
        speech: Speech = CallSpeech.of(self.tools) if is_native(self.tool_use, hints) else TextSpeech(self.tools)
        seen = await world.reset(0)
        first = cut(seen.text, _LONGEST_OBSERVATION)
        opening = _opening(problem, hints, speech, first)
        steps: list[Step] = []
        turns: list[tuple[Message, ...]] = []
        done: list[tuple[str, str]] = []
        reply = ""
        acted = wrong = 0
        while not seen.done and acted < self.steps and wrong < self.mistakes:
            asked = conversation(opening, turns, self.context)
            completion = await generate(asked, stop=speech.stop, tools=speech.tools)
            reply = completion.spelled
            thought, action, told = speech.read(completion, seen.valid_actions or ())
            if action is None:
                wrong += 1
            else:
                acted += 1
                seen = await world.step(action)
                repeated = (action.casefold(), seen.text) in done[-_SAME_AGAIN:] and not seen.done
                done.append((action.casefold(), seen.text))
                wrong = wrong + 1 if repeated else 0
                note = f"\n\n{render('actors/react_note', note='repeated')}" if repeated else ""
                told = cut(seen.text, _LONGEST_OBSERVATION) + note
            steps.append(Step(thought, action or "", told))
            turns.append(speech.turn(completion, steps[-1]))
        return Trajectory(seen.answer, reply, tuple(steps), seen.won, seen.reward, first)


def _opening(problem: Problem, hints: Hints, speech: Speech, first: str) -> tuple[Message, ...]:
    """The rules of the game, and the task with all that is known of it before the first action."""
    previous = hints.previous
    return (
        Message("system", speech.rules(problem)),
        Message(
            "user",
            render(
                "actors/react",
                problem=problem,
                lessons=hints.lessons,
                previous=previous and transcript(previous.trajectory),
                said=previous.feedback.text if previous and hints.feedback else "",
                approach=hints.approach,
                observation=first,
            ),
        ),
    )
