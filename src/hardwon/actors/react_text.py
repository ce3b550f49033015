"""The acting agent's replies in text: `Thought: …` and `Action: …`, read however they are written."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from hardwon.actors.history import spoken
from hardwon.evaluators.verdict import cut
from hardwon.models.protocol import Completion, Message
from hardwon.prompts import render
from hardwon.task import Problem
from hardwon.trial import Step

LONGEST_THOUGHT = 1200
LONGEST_ACTION = 1000

_INVENTED = re.compile(r"^[ \t>*_`]*observation\b", re.IGNORECASE | re.MULTILINE)
_ACTION = re.compile(r"^[ \t>*_`]*action(?:[ \t]*\d+)?[ \t*_`]*:[ \t*_`]*(.*)$", re.IGNORECASE | re.MULTILINE)
_THOUGHT = re.compile(r"^[ \t>*_`]*thought(?:[ \t]*\d+)?[ \t*_`]*:[ \t*_`]*", re.IGNORECASE)
_CALL = re.compile(r"^[ \t]*(\w+\[.*\])[ \t]*$", re.MULTILINE)

_STOP = ("\nObservation",)
"""Where the model is stopped: observations are the world's to make."""


@dataclass(frozen=True, slots=True)
class TextSpeech:
    """The agent acts by lines of its reply, `Thought: …` and `Action: …`."""

    actions: str

    tools = ()
    stop = _STOP

    def rules(self, problem: Problem) -> str:
        return render("actors/react_system", problem=problem, tools=self.actions)

    def read(self, completion: Completion, valid_actions: Sequence[str]) -> tuple[str, str | None, str]:
        thought, action = read_turn(completion.text, valid_actions)
        if action is not None:
            return thought, action, ""
        return thought, None, render("actors/react_note", note="no action", length=completion.finish == "length")

    def turn(self, completion: Completion, step: Step) -> tuple[Message, ...]:
        return spoken(step)


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
    thought = cut(_THOUGHT.sub("", before.strip()).strip(), LONGEST_THOUGHT)
    return thought, cut(action.strip(), LONGEST_ACTION) if action.strip() else None


def _unlabelled(reply: str, valid_actions: Sequence[str]) -> tuple[str, str]:
    for line in reply.splitlines():
        if line.strip() in valid_actions or _CALL.match(line):
            return reply[: reply.index(line)], line.strip()
    return reply, ""
