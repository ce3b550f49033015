"""What the tests of acting agents share: a world that remembers, a model that keeps what it was asked, short cuts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from hardwon.actors.react import ReActActor
from hardwon.budget import Budget
from hardwon.environments.protocol import Observation
from hardwon.errors import EnvironmentTrouble
from hardwon.models.protocol import Completion, Message, Request
from hardwon.models.scripted import ScriptedModel
from hardwon.record import MemoryRecord
from hardwon.session import Session
from hardwon.task import Evaluator, Problem


@dataclass
class Corridor:
    """A world whose goal is `length` steps north; every instance notes what happened to it."""

    length: int = 3
    breaks_at: int | None = None
    place: int = 0
    taken: list[str] = field(default_factory=list)
    closed: int = 0
    tell_actions: bool = False

    async def reset(self, seed: int) -> Observation:
        self.place = 0
        return self._seen("You stand at the south end of a corridor.")

    async def step(self, action: str) -> Observation:
        self.taken.append(action)
        if self.breaks_at == len(self.taken):
            raise EnvironmentTrouble("the corridor fell in")
        if action == "go north":
            self.place += 1
            return self._seen(f"You went north.\n\nYou are {self.place} steps in.")
        if action.startswith("say "):
            return Observation("You said it.", done=True, answer=action.removeprefix("say "))
        return self._seen("Nothing happens.")

    async def close(self) -> None:
        self.closed += 1

    def _seen(self, text: str) -> Observation:
        won = self.place >= self.length
        valid = ("go north", "wait") if self.tell_actions else None
        return Observation(text, self.place / self.length, won, won, valid)


class Asked:
    """A scripted model that keeps every request."""

    name = "script:asked"
    parallel = 1
    price_known = True

    def __init__(self, *replies: object, reflect: tuple[str, ...] = ()) -> None:
        self.requests: list[Request] = []
        self._scripted = ScriptedModel.from_replies({"*": {"act": list(replies), "reflect": list(reflect)}})

    async def generate(self, request: Request) -> Completion:
        self.requests.append(request)
        return await self._scripted.generate(request)

    async def close(self) -> None: ...

    def heard(self, number: int) -> str:
        """The last message of a call (from 0)."""
        return self.requests[number].messages[-1].content

    def prompt(self, number: int) -> str:
        return "\n".join(message.content for message in self.requests[number].messages)


def call(name: str, /, text: str = "", **arguments: object) -> dict[str, Any]:
    """A scripted reply with one native call."""
    return calls((name, arguments), text=text)


def calls(*made: tuple[str, object], text: str = "") -> dict[str, Any]:
    """A scripted reply with several; arguments that are a text stand as they are."""
    return {"text": text, "tool_calls": [{"name": name, "arguments": arguments} for name, arguments in made]}


def unanswered(messages: Sequence[Message]) -> list[str]:
    """What a provider would refuse: calls that are not answered at once and in order, and answers to no call."""
    wrong: list[str] = []
    waiting: list[str] = []
    for message in messages:
        if message.role == "tool":
            if waiting and waiting[0] == message.tool_call_id:
                waiting.pop(0)
            else:
                wrong.append(f"answer {message.tool_call_id}")
        else:
            wrong += waiting
            waiting = [each.id for each in message.tool_calls]
    return wrong + waiting


GOAL = Problem("corridor", "Reach the north end.", "game")


def session(
    model: Asked,
    actor: ReActActor,
    evaluator: Evaluator | None = None,
    *,
    problem: Problem = GOAL,
    budget: Budget | None = None,
    record: MemoryRecord | None = None,
) -> Session:
    return Session(problem, model, actor, evaluator, budget=budget or Budget(), record=record)
