"""The acting agent's native calls: the actions of a world as tools, and a call as the action that it stands for."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from hardwon.actors.calling import answered, first_call, flaw_note
from hardwon.actors.react_text import LONGEST_ACTION, LONGEST_THOUGHT
from hardwon.evaluators.verdict import cut
from hardwon.models.protocol import Completion, Message
from hardwon.models.tools import Tool, text_tool
from hardwon.prompts import render
from hardwon.task import Problem
from hardwon.trial import Step

_FORM = re.compile(r"(\w+)\[([^\]]*)\]: (.+)")
_ANY = "act"
_ROUND = str.maketrans("[]", "()")


@dataclass(frozen=True, slots=True)
class CallSpeech:
    """The agent acts by calls. `tools` are the world's actions: one tool each where they have the form `Name[…]`.

    In a world of other actions there is one tool, which takes any of them.
    """

    tools: tuple[Tool, ...]

    stop = ()

    @classmethod
    def of(cls, actions: str) -> CallSpeech:
        """The tools for actions that are described a line each."""
        lines = actions.strip().splitlines()
        forms = [_FORM.fullmatch(line.strip()) for line in lines]
        named = [text_tool(form[1], form[3], argument=form[2]) for form in forms if form]
        if lines and len(named) == len(lines):
            return cls(tuple(named))
        told = render("actors/native_act", actions=actions.strip())
        return cls((text_tool(_ANY, told, action="one action"),))

    def rules(self, problem: Problem) -> str:
        return render("actors/native_react_system", problem=problem)

    def read(self, completion: Completion, valid_actions: Sequence[str]) -> tuple[str, str | None, str]:
        """The thought is what the reply says beside its call; none is needed."""
        thought = cut(completion.text.strip(), LONGEST_THOUGHT)
        called = first_call(completion, self.tools)
        if called.flaw is not None:
            return thought, None, flaw_note(called.flaw, self.tools)
        return thought, cut(_action(called.name, called.arguments), LONGEST_ACTION), ""

    def turn(self, completion: Completion, step: Step) -> tuple[Message, ...]:
        return answered(completion, step.thought, step.observation)


def _action(name: str, arguments: Mapping[str, str]) -> str:
    """The action as the world reads it, on one line. Where the brackets of an argument do not pair, they are round."""
    given = " ".join(" ".join(arguments.values()).split())
    if name == _ANY and set(arguments) == {"action"}:  # a world may have an action of this name
        return given
    return f"{name}[{given if _paired(given) else given.translate(_ROUND)}]"


def _paired(text: str) -> bool:
    depth = 0
    for sign in text:
        depth += (sign == "[") - (sign == "]")
        if depth < 0:
            return False
    return depth == 0
