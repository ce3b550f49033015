"""What the tests of acting agents share: a world that remembers, a model that keeps what it was asked, short cuts."""

from __future__ import annotations

from dataclasses import dataclass, field

from hardwon.actors.react import ReActActor
from hardwon.budget import Budget
from hardwon.environments.protocol import Observation
from hardwon.errors import EnvironmentTrouble
from hardwon.models.protocol import Completion, Request
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

    def __init__(self, *replies: str, reflect: tuple[str, ...] = ()) -> None:
        self.requests: list[Request] = []
        self._scripted = ScriptedModel.from_replies({"*": {"act": list(replies), "reflect": list(reflect)}})

    async def generate(self, request: Request) -> Completion:
        self.requests.append(request)
        return await self._scripted.generate(request)

    async def close(self) -> None: ...

    def prompt(self, number: int) -> str:
        return "\n".join(message.content for message in self.requests[number].messages)


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
