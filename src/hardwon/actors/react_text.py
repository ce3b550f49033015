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

_MARKS = r"[ \t>*_`#-]*(?:\d+[.)][ \t]*[*_`]*)?"
_LABEL_END = r"(?:[ \t]*\(?#?[\d.]+\)?)?[ \t*_`]*[:：][ \t*_`]*"
_INVENTED = re.compile("^" + _MARKS + r"observation\b", re.IGNORECASE | re.MULTILINE)
_ACTION = re.compile("^" + _MARKS + rf"act(?:ion)?{_LABEL_END}(.*)$", re.IGNORECASE | re.MULTILINE)
_ACTION_BESIDE = re.compile(rf"(?<=[ \t*])(?:Action|ACTION){_LABEL_END}(.*)$", re.MULTILINE)
"""Behind the thought, on its line; only with a capital, since a thought may speak of the next action."""
_INPUT = re.compile("^" + _MARKS + rf"action[ \t]+input{_LABEL_END}(.*)$", re.IGNORECASE | re.MULTILINE)
_THOUGHT = re.compile("^" + _MARKS + rf"thought{_LABEL_END}", re.IGNORECASE)
_CALL = re.compile(r"^[ \t]*(\w+\[.*\])[ \t]*$", re.MULTILINE)
_AGAIN = re.compile(r"(?:action[ \t]*[:：][ \t]*|\d+[.)][ \t]+)+", re.IGNORECASE)
_ECHO = re.compile(
    r"\A" + _MARKS + r"observation\b.*?(?=^" + _MARKS + r"(?:thought|act(?:ion)?)\b)", re.I | re.M | re.S
)
_FENCE = re.compile(r"^[ \t]*```[\w-]*[ \t]*$", re.MULTILINE)
_WRAPPED = re.compile(r"\[(.*)\]|\"(.*)\"|\u201c(.*)\u201d")

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

    What follows an observation that the model made up is not read; one that it only repeats, before all else, is passed
    over. Without the label `Action:` a line is an action if it is a call, `Name[…]`, or one of `valid_actions`.
    """
    reply = _ECHO.sub("", reply.replace("\r\n", "\n").lstrip())
    invented = _INVENTED.search(reply)
    reply = reply[: invented.start()] if invented else reply
    found = [match for match in (_ACTION.search(reply), _ACTION_BESIDE.search(reply)) if match]
    if found:
        labelled = min(found, key=lambda match: match.start())
        before, action = reply[: labelled.start()], _written(labelled[1], reply[labelled.end() :])
    else:
        before, action = _unlabelled(reply, valid_actions or ())
    thought = cut(_THOUGHT.sub("", before.strip()).strip(), LONGEST_THOUGHT)
    return thought, cut(action.strip(), LONGEST_ACTION) if action.strip() else None


def _written(beside: str, after: str) -> str:
    """The action that stands beside its label, or on the next line, without what only decorates it."""
    action = beside.strip(" \t`*") or _FENCE.sub("", after).strip().partition("\n")[0].strip(" \t`*")
    action = _AGAIN.sub("", action)
    if wrapped := _WRAPPED.fullmatch(action):
        action = next(part for part in wrapped.groups() if part is not None)
    given = _INPUT.match(after.lstrip("\n"))
    return f"{action}[{given[1].strip()}]" if given and action.isalpha() else action


def _unlabelled(reply: str, valid_actions: Sequence[str]) -> tuple[str, str]:
    for line in reply.splitlines():
        if line.strip() in valid_actions or _CALL.match(line):
            return reply[: reply.index(line)], line.strip()
    return reply, ""
