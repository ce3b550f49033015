"""Vetting of tests that a model wrote: hostile text in, a few literal assertions that independent samples agree on out.

Nothing that the model wrote is ever executed: an accepted test is rebuilt from the literals that were read.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from hardwon.evaluators.literals import NOT_PYTHON, Signature, canonical, is_literal, parse

_MOST_LINES = 12  # of one assertion
_MOST_CHARACTERS = 600
_ITSELF = "(disagrees with itself)"
_WIDEST_TOLERANCE = 0.01


@dataclass(frozen=True, slots=True)
class Claim:
    """One test as read: a call of the entry point on literals, the literal it should return, and a tolerance."""

    call: str
    expected: str
    tolerance: str | None = None

    @property
    def assertion(self) -> str:
        if self.tolerance is not None:
            return f"assert abs({self.call} - {self.expected}) <= {self.tolerance}"
        return f"assert {self.call} == {self.expected}"

    @property
    def value(self) -> str:
        """The expected value in one spelling."""
        return canonical(self.expected)

    @property
    def arguments(self) -> str:
        """The arguments in one spelling: equal for calls that mean the same."""
        call = ast.parse(self.call, mode="eval").body
        assert isinstance(call, ast.Call)
        named = sorted(f"{k.arg}={canonical(ast.unparse(k.value))}" for k in call.keywords)
        return ",".join([canonical(ast.unparse(argument)) for argument in call.args] + named)


@dataclass(frozen=True, slots=True)
class Vetted:
    """What vetting left: the tests kept, in the order proposed, and how many were dropped for which reason."""

    kept: tuple[Claim, ...] = ()
    dropped: Counter[str] = field(default_factory=Counter)

    @property
    def summary(self) -> str:
        """How many were kept and how many of which kind were dropped, in one line."""
        reasons = "; ".join(f"{count} {reason}" for reason, count in sorted(self.dropped.items()))
        counted = f"{len(self.kept)} self-written {'test' if len(self.kept) == 1 else 'tests'} kept"
        return f"{counted}, {self.dropped.total()} dropped{f' ({reasons})' if reasons else ''}"


def vet(
    replies: Sequence[str],
    entry_point: str,
    *,
    header: Signature | None = None,
    examples: Mapping[str, str] | None = None,
    max_tests: int = 8,
) -> Vetted:
    """The tests in `replies` (independent samples) that survive.

    `examples` maps the arguments of each call that the prompt itself shows to its value, both in one spelling. A test
    is kept if at least two samples state it, they outnumber those that state another value for the same call, and the
    first sample is not among the latter: small models make the same slip twice, but seldom in two forms of question.
    """
    examples = examples or {}
    dropped: Counter[str] = Counter()
    votes: dict[str, Counter[str]] = {}
    first: dict[tuple[str, str], Claim] = {}
    proposed: dict[str, str] = {}
    for reply in replies:
        claims, reasons = read_claims(reply, entry_point, header)
        dropped += reasons
        stated: dict[str, set[str]] = {}
        for claim in claims:
            stated.setdefault(claim.arguments, set()).add(claim.value)
            first.setdefault((claim.arguments, claim.value), claim)
        for arguments, values in stated.items():
            # A sample that states two values for one call casts a vote for neither.
            value = next(iter(values)) if len(values) == 1 else _ITSELF
            votes.setdefault(arguments, Counter()).update([value])
            proposed.setdefault(arguments, value)
    kept: list[Claim] = []
    for arguments, counted in votes.items():
        value, most = counted.most_common(1)[0]
        if arguments in examples:
            same = examples[arguments] == value
            dropped["already shown by the prompt" if same else "against the prompt's examples"] += 1
        elif most < 2 or value == _ITSELF:
            dropped["stated by one sample only" if counted.total() == 1 else "on which the samples disagree"] += 1
        elif 2 * most <= counted.total() or value != proposed[arguments]:
            dropped["on which the samples disagree"] += 1
        elif len(kept) == max_tests:
            dropped["over the limit"] += 1
        else:
            kept.append(first[arguments, value])
    return Vetted(tuple(kept), dropped)


def read_claims(reply: str, entry_point: str, header: Signature | None = None) -> tuple[list[Claim], Counter[str]]:
    """The well-formed tests in a reply, fenced or not, and why each other line about the entry point is none."""
    claims: list[Claim] = []
    dropped: Counter[str] = Counter()
    for statement in _statements(reply, entry_point):
        outcome = _claim(statement, entry_point, header)
        if isinstance(outcome, Claim):
            claims.append(outcome)
        else:
            dropped[outcome] += 1
    return claims, dropped


def _statements(reply: str, entry_point: str) -> Iterator[str]:
    """Assertions (over several lines if need be), and other lines that call the entry point."""
    lines = reply.replace("\r\n", "\n").split("\n")
    position = 0
    while position < len(lines):
        line = lines[position].strip()
        position += 1
        if line.startswith("assert"):
            joined = line
            ahead = position
            while _tree(joined) is None and ahead < min(position + _MOST_LINES, len(lines)):
                if lines[ahead].strip().startswith(("assert", "```", "#")):
                    break
                joined += "\n" + lines[ahead]
                ahead += 1
            if _tree(joined) is not None:
                position = ahead
                yield joined
            else:
                yield line
        elif f"{entry_point}(" in line and not line.startswith(("def ", "#", "from ", "import ", "class ")):
            yield line


def _tree(source: str) -> ast.Module | None:
    if len(source) > _MOST_CHARACTERS:
        return None
    try:
        return parse(source)
    except NOT_PYTHON:
        return None


def _claim(statement: str, entry_point: str, header: Signature | None) -> Claim | str:
    """The claim that a statement makes, or why it makes none."""
    tree = _tree(statement)
    if tree is None:
        return "not valid Python"
    if len(tree.body) != 1 or not isinstance(tree.body[0], ast.Assert):
        return "without an assertion"
    parts = _parts(tree.body[0].test)
    if parts is None:
        return "not a call compared with a literal"
    call, expected, tolerance = parts
    if not isinstance(call.func, ast.Name) or call.func.id != entry_point:
        return "not about the entry point"
    arguments = [*call.args, *(keyword.value for keyword in call.keywords)]
    if not all(map(is_literal, arguments)) or any(keyword.arg is None for keyword in call.keywords):
        return "not a call compared with a literal"
    if header is not None and not header.takes(len(arguments)):
        return "with the wrong number of arguments"
    return Claim(ast.unparse(call), ast.unparse(expected), tolerance)


def _parts(test: ast.expr) -> tuple[ast.Call, ast.expr, str | None] | None:
    """Call, expected literal and tolerance of an assertion's test."""
    match test:
        case ast.Compare(left=left, ops=[ast.Eq()], comparators=[right]):
            pairs = ((left, right), (right, left))
            return next(((a, b, None) for a, b in pairs if isinstance(a, ast.Call) and is_literal(b)), None)
        case ast.Compare(
            left=ast.Call() as call,
            ops=[ast.Is()],
            comparators=[ast.Constant(value=True | False | None) as value],
        ):
            return call, value, None
        case ast.Compare(
            left=ast.Call(func=ast.Name(id="abs"), args=[ast.BinOp(op=ast.Sub(), left=left, right=right)]),
            ops=[ast.Lt() | ast.LtE()],
            comparators=[ast.Constant(value=float() as tolerance)],
        ) if 0 < tolerance <= _WIDEST_TOLERANCE:
            pairs = ((left, right), (right, left))
            close = next(((a, b) for a, b in pairs if isinstance(a, ast.Call) and _is_number(b)), None)
            return close and (*close, repr(tolerance))
        case ast.Call(func=ast.Attribute(value=ast.Name(id="math"), attr="isclose"), args=[ast.Call() as call, value]):
            return (call, value, "1e-06") if _is_number(value) else None
        case ast.UnaryOp(op=ast.Not(), operand=ast.Call() as call):
            return call, ast.Constant(value=False), None
        case ast.Call() as call:
            return call, ast.Constant(value=True), None
    return None


def _is_number(node: ast.expr) -> bool:
    return is_literal(node) and isinstance(ast.literal_eval(node), int | float)
