"""The model of a rehearsal: it answers at once, in replies of an assumed length."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Callable

from hardwon.evaluators.literals import signature
from hardwon.models.protocol import Completion, Request, Usage
from hardwon.runs.planning.assumed import Assumed
from hardwon.task import Problem

_LIST = 5
"""Lines of a reflection, which also serves as a list of approaches."""


class AssumedModel:
    """Answers for one task at once, in replies of the assumed length that never repeat; the same for the same request.

    Its counts are what is really made: a call that arms share counts once. `longest` and `shortest` are the
    characters of the longest and of the shortest prompt. `pass_time` is told the seconds that each
    call would have taken.
    """

    name = "assumed"
    parallel = 1

    def __init__(self, problem: Problem, assumed: Assumed) -> None:
        self.price_known = assumed.price.usd_in is not None
        self.calls = self.tokens_in = self.tokens_out = self.longest = self.shortest = 0
        self.pass_time: Callable[[float], None] = lambda seconds: None
        self._problem = problem
        self._assumed = assumed

    async def generate(self, request: Request) -> Completion:
        assumed = self._assumed
        wanted = assumed.tokens_out.get(request.role, 80)
        tokens_out = min(wanted, request.max_tokens)
        asked = sum(len(message.content) for message in request.messages)
        tokens_in = round(asked / assumed.chars_a_token)
        self.longest, self.shortest = max(self.longest, asked), min(self.shortest or asked, asked)
        self.calls += 1
        self.tokens_in += tokens_in
        self.tokens_out += tokens_out
        self.pass_time(tokens_out * (assumed.seconds_a_token or 0.0))
        usage = Usage(tokens_in, tokens_out, cost_usd=assumed.price.of(tokens_in, tokens_out))
        text = self._reply(request, round(tokens_out * assumed.chars_a_token))
        return Completion(text, usage, self.name, finish="length" if wanted > request.max_tokens else "stop")

    async def close(self) -> None:
        """Nothing to free."""

    def _reply(self, request: Request, length: int) -> str:
        asked = "\0".join(message.content for message in request.messages)
        mark = hashlib.sha256(f"{request.index} {request.temperature} {asked}".encode()).hexdigest()[:8]
        if request.role == "act" and self._problem.kind == "question":
            return f"{'.' * max(0, length - 20)}\nAnswer: {mark}"
        if request.role == "act":
            return _program(self._problem, mark, length)
        if request.role == "tests":
            return _tests(self._problem)
        if request.role == "judge":
            return "1"
        if random.Random(mark).random() < self._assumed.rejected:
            return ""
        return _advice(mark, length)


def _program(problem: Problem, mark: str, length: int) -> str:
    filler = f'"{mark}{"." * max(0, length - 60)}"'
    body = f"print({filler})" if problem.entry_point is None else f"def {problem.entry_point}(*_):\n    return {filler}"
    return f"```python\n{body}\n```"


def _tests(problem: Problem) -> str:
    """Tests that read as such, so that the answers to them are asked for as well."""
    if problem.entry_point is None:
        return ""
    header = signature(problem.prompt, problem.entry_point)
    width = len(header.names) if header else 1
    calls = (f"{problem.entry_point}({', '.join([str(90 + n)] * width)})" for n in range(4))
    return "\n".join(f"assert {call} == 0" for call in calls)


def _advice(mark: str, length: int) -> str:
    """Reads as a lesson that no other repeats, and as a list of approaches."""
    words = max(3, length // _LIST // 12)
    return "\n".join(f"{n}. {' '.join(f'w{mark}{n}x{word}' for word in range(words))}" for n in range(1, _LIST + 1))
