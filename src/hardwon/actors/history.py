"""The history of an episode as messages that fit a context window, and as a transcript."""

from __future__ import annotations

from collections.abc import Sequence

from hardwon.evaluators.verdict import cut
from hardwon.models.protocol import Message
from hardwon.prompts import render
from hardwon.trial import Step, Trajectory

_BYTES_A_TOKEN = 3
"""On the safe side: English text has about four."""
_TRANSCRIPT = 5000
_TRANSCRIPT_OBSERVATION = 500
_TRANSCRIPT_OPENING = 1500


def spoken(step: Step) -> tuple[Message, ...]:
    """A step of the acting agent as its two messages."""
    return Message("assistant", said(step)), Message("user", f"Observation: {step.observation}")


def conversation(opening: Sequence[Message], turns: Sequence[Sequence[Message]], context: int) -> tuple[Message, ...]:
    """The opening (task and lessons, always whole) and the last turns that fit into about `context` tokens.

    A turn is what the model said and all that answered it; it is kept or left out whole, so that no provider is shown a
    call without its answer. At least the last turn stays. Where earlier ones are left out the opening's last message
    says how many.
    """
    room = context * _BYTES_A_TOKEN - sum(_size(message) for message in opening)
    kept: list[Message] = []
    left_out = 0
    for place in range(len(turns) - 1, -1, -1):
        turn = turns[place]
        room -= sum(map(_size, turn))
        if room < 0 and kept:
            left_out = place + 1
            break
        kept = [*turn, *kept]
    if left_out:
        note = render("actors/react_note", note="left out", count=left_out)
        opening = [*opening[:-1], Message(opening[-1].role, f"{opening[-1].content}\n\n{note}")]
    return (*opening, *kept)


def said(step: Step) -> str:
    """A step as the model would have written it."""
    if not step.action:
        return step.thought or "Thought:"
    return f"Thought: {step.thought}\nAction: {step.action}" if step.thought else f"Action: {step.action}"


def transcript(trajectory: Trajectory, *, opened: bool = False) -> str:
    """An attempt for a reader: the steps of an episode, or else the reply; cut in the middle where it is long.

    With `opened` it begins with what the world showed before the first step.
    """
    opening = cut(trajectory.opening.strip(), _TRANSCRIPT_OPENING) if opened else ""
    told = [f"Observation: {opening}"] if opening else []
    told += [
        f"{said(step)}\nObservation: {cut(step.observation, _TRANSCRIPT_OBSERVATION)}" for step in trajectory.steps
    ]
    return cut("\n".join(told) if trajectory.steps else trajectory.reply.strip(), _TRANSCRIPT)


def _size(message: Message) -> int:
    return len(message.spelled.encode())
