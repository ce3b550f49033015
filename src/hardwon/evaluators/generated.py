"""Generated tests: visible evidence first, then tests that a model writes, vetted, run, and labelled as such."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Iterable
from dataclasses import dataclass, field, replace

from hardwon.budget import BudgetExhausted
from hardwon.evaluators.examples import prompt_examples
from hardwon.evaluators.literals import signature
from hardwon.evaluators.unit import UnitTests
from hardwon.evaluators.verdict import no_program
from hardwon.evaluators.vetting import Vetted, read_claims, vet
from hardwon.prompts import render
from hardwon.sandbox.protocol import FunctionTests, Limits, Sandbox
from hardwon.task import Ask, Evaluator, Problem
from hardwon.trial import Check, Feedback, Source, Trajectory

_STOP = ("\n```\n", "\nif __name__", "\n\n\n")
_SHOWN_EXAMPLES, _REPEATED_EXAMPLES = 3, 2
_TESTS_ASKED_FOR = 4
_TEMPERATURE = 0.4  # of the samples that answer; at 0.8 a 0.5B model answers at random
_TOKENS_TO_START, _TOKENS_PER_ANSWER = 40, 30


@dataclass(frozen=True, slots=True)
class GeneratedTests:
    """Checks a program on what the task shows (`visible`), and, if it passes that, on tests that a model wrote.

    The tests are asked for once for each task, under the keys `tests:0` … `tests:{samples-1}`, when a program first
    needs them; `prelude` is trusted code of the task that they run beside. A score below 0.5 means that visible
    evidence failed, 0.5 or more that it passed and what share of the generated tests did; without visible evidence
    the score is that share alone. Feedback that rests on generated tests says so in its source and in each check.
    """

    problem: Problem
    sandbox: Sandbox
    visible: Evaluator | None = None
    prelude: str = ""
    limits: Limits = field(default_factory=Limits)
    samples: int = 2
    max_tests: int = 4
    max_tokens: int = 128

    @property
    def source(self) -> Source:
        return "generated"

    async def check(self, trajectory: Trajectory, ask: Ask | None = None) -> Feedback:
        """Raises SandboxError, ModelError; BudgetExhausted only if there is no visible evidence to fall back on."""
        seen = None if self.visible is None else await self.visible.check(trajectory, ask)
        if seen is not None and seen.verdict == "no_evidence":
            seen = None
        if seen is not None and seen.verdict == "fail":
            return replace(seen, score=seen.score / 2)
        if ask is None:
            return _without(seen, "No test was written for this task.")
        try:
            vetted = await self.vetted(ask)
        except BudgetExhausted:
            if seen is None:
                raise
            return _without(seen, "The budget ended before tests could be written.")
        if not vetted.kept:
            return _without(seen, f"{vetted.summary}.")
        if trajectory.output is None:
            return no_program("generated")
        return await self._run(trajectory, seen, vetted)

    async def vetted(self, ask: Ask) -> Vetted:
        """The tests that survive vetting. Raises BudgetExhausted, ModelError."""
        entry_point = self.problem.entry_point
        if entry_point is None:
            return Vetted()
        problem = self.problem.prompt.strip()
        header = signature(problem, entry_point)
        shown = list(dict.fromkeys((*self.problem.examples, *prompt_examples(problem, entry_point))))
        known = {claim.arguments: claim.value for claim in read_claims("\n".join(shown), entry_point)[0]}
        question = render(
            "evaluators/tests",
            problem=problem,
            entry_point=entry_point,
            parameters=", ".join(header.names) if header else "arguments",
            examples=shown[:_SHOWN_EXAMPLES],
            count=_TESTS_ASKED_FOR,
        )
        first = await self._ask(ask, question, 0, self.max_tokens)
        claims, _ = read_claims(first, entry_point, header)
        new = {claim.arguments: claim.call for claim in claims if claim.arguments not in known}
        calls = list(new.values())[: self.max_tests]
        others: list[str] = []
        if calls:
            # The other samples answer the calls of the first: tests of their own would rarely meet.
            repeated = shown[:_REPEATED_EXAMPLES]
            question = render("evaluators/answers", problem=problem, calls=calls, examples=repeated)
            lines = len(repeated) + len(calls)
            room = min(self.max_tokens, _TOKENS_TO_START + _TOKENS_PER_ANSWER * lines)
            others = await _all(self._ask(ask, question, number, room) for number in range(1, self.samples))
        return vet([first, *others], entry_point, header=header, examples=known, max_tests=self.max_tests)

    async def _ask(self, ask: Ask, prompt: str, number: int, max_tokens: int) -> str:
        temperature = 0.0 if number == 0 else _TEMPERATURE
        return await ask(
            "tests", prompt, key=f"tests:{number}", temperature=temperature, max_tokens=max_tokens, stop=_STOP
        )

    async def _run(self, trajectory: Trajectory, seen: Feedback | None, vetted: Vetted) -> Feedback:
        assert self.problem.entry_point is not None
        source = "\n".join(claim.assertion for claim in vetted.kept)
        tests = FunctionTests(self.problem.entry_point, source, self.prelude)
        written = await UnitTests(tests, self.sandbox, "generated", self.limits).check(trajectory)
        if written.verdict == "no_evidence":
            return _without(seen, f"{vetted.summary}; none could be run.", written.checks)
        note = f"{vetted.summary}."
        if seen is None:
            return replace(written, text=f"{_caution(written)}{written.text}\n({note})")
        return Feedback(
            written.verdict,
            0.5 + written.score / 2,
            f"{seen.text}\n{_caution(written)}{written.text}\n({note})",
            seen.checks + written.checks,
            "generated",
        )


def _caution(written: Feedback) -> str:
    if written.verdict == "pass":
        return "Self-written tests: "
    return "Self-written tests, which may be wrong themselves: "


def _without(seen: Feedback | None, note: str, checks: tuple[Check, ...] = ()) -> Feedback:
    """The visible evidence alone, or none, saying why there are no generated tests."""
    if seen is None:
        return Feedback("no_evidence", 0.0, f"Nothing is shown about this program. {note}", checks, "none")
    return replace(seen, text=f"{seen.text}\n({note})", checks=seen.checks + checks)


async def _all(calls: Iterable[Awaitable[str]]) -> list[str]:
    """The results of calls in flight together; all have ended before the first error, if any, is raised."""
    results = await asyncio.gather(*calls, return_exceptions=True)
    replies: list[str] = []
    for result in results:
        if isinstance(result, BaseException):
            raise result
        replies.append(result)
    return replies
