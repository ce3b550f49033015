"""The acting agent: thought, action, observation, until the world says that the episode is done (Yao et al. 2023)."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from hardwon.actors.history import conversation, transcript
from hardwon.actors.protocol import Generate, Hints
from hardwon.environments.protocol import Environment, Observation
from hardwon.evaluators.verdict import cut
from hardwon.models.protocol import Message
from hardwon.prompts import render
from hardwon.task import Problem
from hardwon.trial import Step, Trajectory

_INVENTED = re.compile(r"^[ \t>*_`]*observation\b", re.IGNORECASE | re.MULTILINE)
_ACTION = re.compile(r"^[ \t>*_`]*action(?:[ \t]*\d+)?[ \t*_`]*:[ \t*_`]*(.*)$", re.IGNORECASE | re.MULTILINE)
_THOUGHT = re.compile(r"^[ \t>*_`]*thought(?:[ \t]*\d+)?[ \t*_`]*:[ \t*_`]*", re.IGNORECASE)
_CALL = re.compile(r"^[ \t]*(\w+\[.*\])[ \t]*$", re.MULTILINE)

_STOP = ("\nObservation",)
"""Where the model is stopped: observations are the world's to make."""
_LONGEST_THOUGHT = 1200
_LONGEST_ACTION = 1000
_LONGEST_OBSERVATION = 2000
_SAME_AGAIN = 2
"""An action is a repetition if it was among so many before it and the world answered the same."""


@dataclass(frozen=True, slots=True)
class ReActActor:
    """Acts in a new world of `environment` for each trajectory.

    An episode ends when the world says so, after `steps` actions, or after `mistakes` replies in a row that held no
    action or only repeated one; each of these is told so. The conversation is cut to about `context` tokens. `tools`
    says which actions there are. Raises EnvironmentTrouble; the world is closed whatever happens.
    """

    environment: Callable[[], Environment]
    steps: int = 30
    tools: str = ""
    context: int = 6000
    mistakes: int = 3

    async def act(self, problem: Problem, hints: Hints, generate: Generate) -> Trajectory:
        world = self.environment()
        try:
            return await self._episode(world, problem, hints, generate)
        finally:
            await world.close()

    async def _episode(self, world: Environment, problem: Problem, hints: Hints, generate: Generate) -> Trajectory:
        seen = await world.reset(0)
        opening = _opening(problem, hints, self.tools, seen)
        steps: list[Step] = []
        done: list[tuple[str, str]] = []
        reply = ""
        acted = wrong = 0
        while not seen.done and acted < self.steps and wrong < self.mistakes:
            completion = await generate(conversation(opening, steps, self.context), stop=_STOP)
            reply = completion.text
            thought, action = read_turn(reply, seen.valid_actions)
            if action is None:
                note = render("actors/react_note", note="no action", length=completion.finish == "length")
                steps.append(Step(thought, "", note))
                wrong += 1
                continue
            acted += 1
            seen = await world.step(action)
            repeated = (action.casefold(), seen.text) in done[-_SAME_AGAIN:] and not seen.done
            done.append((action.casefold(), seen.text))
            wrong = wrong + 1 if repeated else 0
            note = f"\n\n{render('actors/react_note', note='repeated')}" if repeated else ""
            steps.append(Step(thought, action, cut(seen.text, _LONGEST_OBSERVATION) + note))
        return Trajectory(seen.answer, reply, tuple(steps), seen.won, seen.reward)


def read_turn(reply: str, valid_actions: Sequence[str] | None = None) -> tuple[str, str | None]:
    """The thought and the first action of a reply; the action is None where there is none.

    What follows an observation that the model made up is not read. Without the label `Action:` a line is an action if
    it is a call, `Name[…]`, or one of `valid_actions`.
    """
    invented = _INVENTED.search(reply)
    reply = (reply[: invented.start()] if invented else reply).replace("\r\n", "\n")
    labelled = _ACTION.search(reply)
    if labelled:
        beside = labelled[1].strip(" \t`*")
        action = beside or reply[labelled.end() :].strip().partition("\n")[0].strip(" \t`*")
        before = reply[: labelled.start()]
    else:
        before, action = _unlabelled(reply, valid_actions or ())
    thought = cut(_THOUGHT.sub("", before.strip()).strip(), _LONGEST_THOUGHT)
    return thought, cut(action.strip(), _LONGEST_ACTION) if action.strip() else None


def _unlabelled(reply: str, valid_actions: Sequence[str]) -> tuple[str, str]:
    for line in reply.splitlines():
        if line.strip() in valid_actions or _CALL.match(line):
            return reply[: reply.index(line)], line.strip()
    return reply, ""


def _opening(problem: Problem, hints: Hints, tools: str, first: Observation) -> tuple[Message, ...]:
    """The rules of the game, and the task with all that is known of it before the first action."""
    previous = hints.previous
    return (
        Message("system", render("actors/react_system", problem=problem, tools=tools)),
        Message(
            "user",
            render(
                "actors/react",
                problem=problem,
                lessons=hints.lessons,
                previous=previous and transcript(previous.trajectory),
                said=previous.feedback.text if previous and hints.feedback else "",
                approach=hints.approach,
                observation=cut(first.text, _LONGEST_OBSERVATION),
            ),
        ),
    )
