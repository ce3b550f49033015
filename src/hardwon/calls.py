"""The model calls of one session: counted by the ledger and committed to the record before they are used."""

from __future__ import annotations

import asyncio
import hashlib
import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from hardwon.actors.protocol import Generate
from hardwon.budget import Ledger
from hardwon.errors import ModelError, ModelRefused, UsageError
from hardwon.models.protocol import Completion, Message, Model, Request, Role
from hardwon.models.tools import Tool, ToolCall, spelled_tool
from hardwon.record import Payload, Record, completion_from, completion_payload


@dataclass(frozen=True, slots=True)
class Sampling:
    """How the model is asked: temperature and most tokens of an act and of a reflection, and the seed (or None)."""

    temperature: float = 0.0
    max_tokens: int = 1024
    reflect_temperature: float = 0.0
    reflect_max_tokens: int = 256
    seed: int | None = None


_APART = 1_000_003


class Common:
    """What the arms of a comparison have in common on one task and seed: an identical call is made once.

    Identical is the same role, ordinal, prompt and temperature. Whoever comes first makes the call, the others wait for
    it; each arm is charged for it as if it were alone, and counts it as shared. A call that failed for good fails for
    all of them, and costs none; the next sitting tries it again.
    """

    def __init__(self) -> None:
        self._failed: dict[tuple[str, int, str, int], ModelError | ModelRefused] = {}
        self._made: defaultdict[tuple[str, int, str], list[Payload]] = defaultdict(list)
        self._making: defaultdict[tuple[str, int, str], asyncio.Lock] = defaultdict(asyncio.Lock)

    def made(self, role: str, index: int, payload: Payload) -> None:
        """Takes in a call that an arm has made."""
        self._made[role, index, payload["digest"]].append(payload)

    def find(self, role: str, index: int, digest: str, allowed: int) -> Payload | None:
        """An identical call whose completion is what one of `allowed` tokens would have been."""
        for payload in self._made.get((role, index, digest), ()):
            completion = payload["completion"]
            whole = completion["finish"] == "stop" and completion["usage"]["tokens_out"] <= allowed
            if whole or payload.get("allowed") == allowed:
                return payload
        return None

    def failed(self, role: str, index: int, digest: str, allowed: int, error: ModelError | ModelRefused) -> None:
        """Takes in a call of `allowed` tokens that the model gave up on."""
        self._failed[role, index, digest, allowed] = error

    def failure(self, role: str, index: int, digest: str, allowed: int) -> ModelError | ModelRefused | None:
        """How the identical call failed for another arm in this sitting, as an error to raise; None if it did not."""
        known = self._failed.get((role, index, digest, allowed))
        if known is None:
            return None
        # A new one: the other arm's own carries its traceback with it.
        kind = ModelRefused if isinstance(known, ModelRefused) else ModelError
        return kind(f"{known} (the same call failed for another arm)")

    def making(self, role: str, index: int, digest: str) -> asyncio.Lock:
        """Held while the call is being made."""
        return self._making[role, index, digest]


class Calls:
    """The way of one session to the model.

    `shared` counts the calls, and `shared_tokens` their tokens, that another arm had paid for; `shared_failure` says
    that a call was not made because it had failed for another arm.
    """

    def __init__(
        self, task_id: str, model: Model, sampling: Sampling, ledger: Ledger, record: Record, common: Common | None
    ) -> None:
        self.shared = self.shared_tokens = 0
        self.shared_failure = False
        self._task_id = task_id
        self._model = model
        self._sampling = sampling
        self._ledger = ledger
        self._record = record
        self._common = common if common is not None else Common()
        self._next: defaultdict[str, int] = defaultdict(int)
        self._answers: dict[tuple[str, int], Completion] = {}
        self._asking: defaultdict[tuple[str, int], asyncio.Lock] = defaultdict(asyncio.Lock)

    @property
    def answered(self) -> frozenset[tuple[str, int]]:
        """The calls that have been charged so far, as role and number."""
        return frozenset(self._answers)

    def recall(self, calls: Iterable[Sequence[Any]]) -> None:
        """Charges calls of an earlier sitting whose outcome is known without asking again."""
        for role, index in calls:
            self._next[role] = max(self._next[role], index + 1)
            payload = self._record.get(role, index)
            if payload is not None and (role, index) not in self._answers:
                self._answers[role, index] = self._charge(role, payload)

    def door(self, role: Role, usual_temperature: float, most_tokens: int) -> Generate:
        """The way to the model for one role; calls are numbered in the order they are made."""

        async def generate(
            messages: tuple[Message, ...],
            *,
            temperature: float | None = None,
            max_tokens: int | None = None,
            stop: tuple[str, ...] = (),
            tools: tuple[Tool, ...] = (),
        ) -> Completion:
            chosen = usual_temperature if temperature is None else temperature
            index = self._next[role]
            self._next[role] += 1
            return await self._call(role, index, messages, chosen, max_tokens or most_tokens, stop, tools)

        return generate

    async def ask(
        self,
        role: Literal["tests", "judge"],
        prompt: str,
        *,
        key: str,
        temperature: float = 0.0,
        max_tokens: int = 512,
        stop: tuple[str, ...] = (),
    ) -> str:
        """`Ask` of the task room: one call by key."""
        index = int(key.rpartition(":")[2])
        return (await self._call(role, index, (Message("user", prompt),), temperature, max_tokens, stop)).text

    async def _call(
        self,
        role: Role,
        index: int,
        messages: tuple[Message, ...],
        temperature: float,
        max_tokens: int,
        stop: tuple[str, ...] = (),
        tools: tuple[Tool, ...] = (),
    ) -> Completion:
        async with self._asking[role, index]:
            if (role, index) not in self._answers:
                seed = None if self._sampling.seed is None else _seed(self._sampling.seed, index)
                request = Request(self._task_id, role, index, messages, temperature, max_tokens, seed, stop, tools)
                self._answers[role, index] = await self._answer(request)
            return self._answers[role, index]

    async def _answer(self, request: Request) -> Completion:
        digest = request_digest(request)
        payload = self._record.get(request.role, request.index)
        if payload is None:
            async with self._common.making(request.role, request.index, digest):
                payload = await self._make(request, digest)
        elif payload["digest"] != digest:
            raise UsageError(
                f"{self._task_id}: the journal holds another prompt for {request.role} {request.index}; "
                "start with --fresh"
            )
        return self._charge(request.role, payload)

    def _charge(self, role: str, payload: Payload) -> Completion:
        completion = completion_from(payload["completion"])
        usage = completion.usage
        self._ledger.charge(role, usage.tokens_in, usage.tokens_out, usage.tokens_cached, usage.cost_usd)
        if payload.get("shared"):
            self.shared += 1
            self.shared_tokens += usage.tokens_in + usage.tokens_out
        return completion

    async def _make(self, request: Request, digest: str) -> Payload:
        """Makes a call, or takes over the identical one of another arm, and commits it."""
        prompt_tokens = sum(math.ceil(len(text) / 4) for text in request.texts)
        allowed = self._ledger.reserve(prompt_tokens, request.max_tokens)
        try:
            found = self._common.find(request.role, request.index, digest, allowed)
            if found is None:
                completion = await self._generate(replace(request, max_tokens=allowed), digest)
        finally:
            self._ledger.release(prompt_tokens, allowed)
        payload = _payload(completion, request, digest, allowed) if found is None else {**found, "shared": True}
        self._record.put(request.role, request.index, payload, self._ledger.seconds)
        if found is None:
            self._common.made(request.role, request.index, payload)
        return payload

    async def _generate(self, request: Request, digest: str) -> Completion:
        """Asks the model, unless that has failed for good already."""
        place = (request.role, request.index, digest, request.max_tokens)
        failure = self._common.failure(*place)
        if failure is not None:
            self.shared_failure = True
            raise failure
        try:
            return _clean(await self._model.generate(request))
        except (ModelError, ModelRefused) as error:
            self._common.failed(*place, error)
            raise


def _seed(seed: int, index: int) -> int:
    """Seeds of a comparison lie far apart: counted on from each other, they would draw the same samples shifted."""
    return (seed * _APART + index) % 2**31


def _payload(completion: Completion, request: Request, digest: str, allowed: int) -> dict[str, Any]:
    return {
        "completion": completion_payload(completion),
        "messages": [[message.role, message.spelled] for message in request.messages],
        "temperature": request.temperature,
        "allowed": allowed,
        "digest": digest,
        **({"tools": [tool.name for tool in request.tools]} if request.tools else {}),
    }


def _clean(completion: Completion) -> Completion:
    """The completion as valid Unicode: half a surrogate pair in a reply would break whatever is written later."""
    reasoning = completion.reasoning and _valid(completion.reasoning)
    calls = tuple(ToolCall(_valid(c.id), _valid(c.name), _valid(c.arguments)) for c in completion.tool_calls)
    return replace(completion, text=_valid(completion.text), reasoning=reasoning, tool_calls=calls)


def _valid(text: str) -> str:
    return text.encode("utf-8", "replace").decode()


def request_digest(request: Request) -> str:
    """What makes a prompt the same: its messages and their calls, its temperature and its tools.

    Journals are known by it: what has no tools and no calls must go on having the digest that it always had.
    """
    parts = [part for message in request.messages for part in _parts(message)]
    parts += [f"tool {spelled_tool(tool)}" for tool in request.tools]
    text = "\0".join(parts)
    return hashlib.sha256(f"{request.temperature:g}\0{text}".encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _parts(message: Message) -> list[str]:
    calls = [part for call in message.tool_calls for part in ("call", call.id, call.name, call.arguments)]
    answered = [] if message.tool_call_id is None else [message.tool_call_id]
    return [message.role, message.content, *calls, *answered]
