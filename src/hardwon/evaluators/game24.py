"""Game of 24 (Yao et al. 2023): an expression over four numbers, checked exactly, and an exact solver."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

from hardwon.evaluators.literals import expression
from hardwon.evaluators.verdict import cut, judge, no_output
from hardwon.task import Ask
from hardwon.trial import Check, Feedback, Source, Trajectory

TARGET = 24

_LONGEST = 200
_SPELLINGS = {
    "×": "*", "·": "*", "∗": "*", "⋅": "*", "÷": "/", "−": "-", "–": "-", "[": "(", "]": ")", "{": "(", "}": ")",
    "\\times": "*", "\\cdot": "*", "\\div": "/", "\\left": "", "\\right": "", "\\(": "", "\\)": "",
    "\\[": "", "\\]": "", "$": "", "`": "",
}  # fmt: skip
_SPELLED = re.compile("|".join(map(re.escape, sorted(_SPELLINGS, key=len, reverse=True))))
_FRACTION = re.compile(r"\\[dt]?frac\s*\{([^{}]*)\}\s*\{([^{}]*)\}")
_TIMES = re.compile(r"(?<=[\d)])\s*[xX]\s*(?=[\d(])")
_OUTCOME = re.compile(
    rf"^\s*{TARGET}\s*=|\(\s*=\s*{TARGET}\s*\)\s*\.?\s*$|(?:,?\s*which)?\s+(?:equals|gives|is)\s+{TARGET}\s*\.?\s*$"
    r"|(?:=[-\d\s.+*/()]*)+$"
)
"""What an answer says of its value, before or after the expression. It counts for nothing: the value is worked out."""
_Term = tuple[Fraction, str]


@dataclass(frozen=True, slots=True)
class TwentyFour:
    """Checks an expression: each of `numbers` once, joined by + - * / and brackets, with the exact value 24."""

    numbers: tuple[int, ...]
    source: Source = "grounded"

    async def check(self, trajectory: Trajectory, ask: Ask | None = None) -> Feedback:
        """Never raises; nothing of the answer is executed, and `ask` is not used."""
        form = "Answer with one expression over the given numbers, such as (1 + 2) * 8."
        if trajectory.output is None or not trajectory.output.strip():
            return no_output(self.source, f"The reply held no answer. {form}")
        try:
            tree = parse_expression(trajectory.output)
            used = sorted(_numbers(tree))
        except ValueError as error:
            return no_output(self.source, f"{error}. {form}")
        try:
            value: Fraction | None = _value(tree)
        except ZeroDivisionError:
            value = None
        shown = ast.unparse(tree)
        wanted, given = _spelled(sorted(self.numbers)), _spelled(used)
        found = "it divides by zero" if value is None else str(value)
        return judge(
            (
                self._check("numbers", used == sorted(self.numbers), shown, f"the numbers {wanted}, each once", given),
                self._check("value", value == TARGET, shown, f"the value {TARGET}", found),
            ),
            self.source,
        )

    def _check(self, name: str, holds: bool, shown: str, expected: str, observed: str) -> Check:
        return Check(name, "pass" if holds else "fail", shown, expected, observed, source=self.source)


def parse_expression(answer: str) -> ast.expr:
    """The expression in an answer; signs as mathematicians write them, and what it says of the value, are taken in.

    Raises ValueError with a text for the model for anything that is not whole numbers, + - * / and brackets.
    """
    if len(answer.strip()) > 2 * _LONGEST:
        raise ValueError("The answer is too long to be one expression")
    plain = answer.strip()
    while _FRACTION.search(plain):  # from the inside out
        plain = _FRACTION.sub(r"((\1)/(\2))", plain)
    text = _TIMES.sub("*", _SPELLED.sub(lambda found: _SPELLINGS[found[0]], plain))
    text = _OUTCOME.sub("", text).strip().rstrip(".").rstrip()
    if len(text) > _LONGEST:
        raise ValueError("The answer is too long to be one expression")
    tree = expression(text)
    if tree is None:
        raise ValueError(f"The answer {cut(answer.strip(), 80)!r} is not one expression")
    for node in ast.walk(tree):
        known = (ast.BinOp, ast.UnaryOp, ast.Constant, ast.Add, ast.Sub, ast.Mult, ast.Div, ast.USub)
        if not isinstance(node, known) or (isinstance(node, ast.Constant) and type(node.value) is not int):
            raise ValueError(f"The answer {cut(answer.strip(), 80)!r} holds more than whole numbers and + - * / ( )")
    return tree


def solve(numbers: Sequence[int], target: int = TARGET) -> str | None:
    """An expression over `numbers`, each used once, with the value `target`; None where there is none (exhaustive)."""
    return next(_solutions([(Fraction(number), str(number)) for number in numbers], Fraction(target)), None)


def _solutions(terms: list[_Term], target: Fraction) -> Iterator[str]:
    if len(terms) == 1:
        if terms[0][0] == target:
            yield terms[0][1]
        return
    for first, second in combinations(range(len(terms)), 2):
        rest = [term for place, term in enumerate(terms) if place not in (first, second)]
        for joined in _joined(terms[first], terms[second]):
            yield from _solutions([*rest, joined], target)


def _joined(left: _Term, right: _Term) -> Iterator[_Term]:
    (a, x), (b, y) = left, right
    yield a + b, f"({x} + {y})"
    yield a - b, f"({x} - {y})"
    yield b - a, f"({y} - {x})"
    yield a * b, f"({x} * {y})"
    if b:
        yield a / b, f"({x} / {y})"
    if a:
        yield b / a, f"({y} / {x})"


def _value(node: ast.expr) -> Fraction:
    match node:
        case ast.Constant(value=int() as number):
            return Fraction(number)
        case ast.UnaryOp(operand=operand):
            return -_value(operand)
        case ast.BinOp(left=left, op=op, right=right):
            a, b = _value(left), _value(right)
            match op:
                case ast.Add():
                    return a + b
                case ast.Sub():
                    return a - b
                case ast.Mult():
                    return a * b
                case _:
                    return a / b
    raise ValueError("no expression")  # parse_expression lets nothing else through


def _numbers(tree: ast.expr) -> Iterator[int]:
    return (node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, int))


def _spelled(numbers: Sequence[int]) -> str:
    return ", ".join(map(str, numbers))


@dataclass(frozen=True, slots=True)
class ExpressionBehaviour:
    """The expression that an answer holds, in one spelling; `Behaviour` of the task room."""

    async def observe(self, trajectory: Trajectory) -> tuple[str, ...]:
        """Never raises."""
        try:
            return (ast.unparse(parse_expression(trajectory.output or "")),)
        except ValueError:
            return ()
