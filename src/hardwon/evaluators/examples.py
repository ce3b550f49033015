"""The examples a prompt shows, read as tests: doctest form, and the forms that people write in prose."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from hardwon.evaluators.doctests import doctests
from hardwon.evaluators.literals import Signature, canonical, signature
from hardwon.evaluators.prose import calls, inputs, misnamed

Form = Literal["doctest", "prose"]


@dataclass(frozen=True, slots=True)
class Example:
    """One example: the call (perhaps inside a pure wrapper such as `round`), the literal it equals, its form."""

    call: str
    expected: str
    form: Form

    @property
    def assertion(self) -> str:
        return f"assert {self.call} == {self.expected}"


def prompt_examples(prompt: str, entry_point: str) -> tuple[str, ...]:
    """The examples in a prompt as assertion lines, in the prompt's order, without duplicates.

    Only calls of `entry_point` with literal arguments and a literal value are taken, and only if they fit the
    header in the prompt, if it has one. Examples that contradict each other are all dropped: nothing is guessed.
    """
    return tuple(example.assertion for example in find_examples(prompt, entry_point))


def find_examples(prompt: str, entry_point: str) -> tuple[Example, ...]:
    """As `prompt_examples`, with the parts and the form of each."""
    header = signature(prompt, entry_point)
    placed = [(place, Example(call, value, "doctest")) for place, call, value in doctests(prompt, entry_point)]
    placed += [
        (place, Example(call, value, "prose"))
        for found in (calls(prompt, entry_point), inputs(prompt, entry_point, header))
        for place, call, value in found
    ]
    if not placed and header is not None:
        placed = [(place, Example(call, value, "prose")) for place, call, value in misnamed(prompt, entry_point)]
    placed.sort(key=lambda pair: pair[0])
    return _settled((example for _, example in placed), entry_point, header)


def _settled(examples: Iterable[Example], entry_point: str, header: Signature | None) -> tuple[Example, ...]:
    """Those that fit the header, once each, contradictions dropped."""
    answers: dict[str, dict[str, Example]] = {}
    for example in examples:
        if header is None or header.takes(_argument_count(example.call, entry_point)):
            call = ast.dump(ast.parse(example.call))
            answers.setdefault(call, {}).setdefault(canonical(example.expected), example)
    return tuple(next(iter(values.values())) for values in answers.values() if len(values) == 1)


def _argument_count(call: str, entry_point: str) -> int:
    return next(
        len(node.args) + len(node.keywords)
        for node in ast.walk(ast.parse(call))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == entry_point
    )
