"""Mutants: a known solution with one slip in it, chosen without chance."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from typing import Any

from hardwon.evaluators.audit.attack import Attack
from hardwon.evaluators.audit.edits import Edit, edits
from hardwon.evaluators.literals import NOT_PYTHON, parse

_SHOWN = 60


def mutants(solution: str, limit: int = 20) -> tuple[Attack, ...]:
    """At most `limit` different mutants of a Python program, spread evenly over the kinds of slip and the source.

    The same program gives the same mutants. None for what is no Python. Raises ValueError for a limit below 0.
    """
    if limit < 0:
        raise ValueError(f"limit={limit}: want 0 or more")
    by_kind: dict[str, list[Attack]] = {}
    for kind, attack in _all(solution):
        by_kind.setdefault(kind, []).append(attack)
    quotas = _quotas([len(found) for found in by_kind.values()], limit)
    pairs = zip(by_kind.values(), quotas, strict=True)
    return tuple(attack for found, quota in pairs for attack in _spread(found, quota))


def _all(solution: str) -> list[tuple[str, Attack]]:
    try:
        tree = parse(solution)
        seen = {ast.unparse(tree)}
    except NOT_PYTHON:
        return []
    found = []
    for edit in list(edits(tree)):
        before = {name: getattr(edit.node, name) for name in edit.fields}
        was = _shown(edit.node)
        _set(edit.node, edit.fields)
        try:
            program = ast.unparse(tree)
            compile(program, "<mutant>", "exec", dont_inherit=True)
            now = _shown(edit.node)
        except NOT_PYTHON:
            continue
        finally:
            _set(edit.node, before)
        if program not in seen:
            seen.add(program)
            found.append((edit.kind, Attack("mutant", _name(edit, was, now), program + "\n")))
    return found


def _set(node: ast.AST, fields: Mapping[str, Any]) -> None:
    for name, value in fields.items():
        setattr(node, name, value)


def _shown(node: ast.AST) -> str:
    """The node in one line; the empty text for what stands for no source of its own."""
    if isinstance(node, ast.comprehension | ast.Slice):
        return ast.unparse(node).strip()
    if isinstance(node, ast.expr | ast.Return | ast.AugAssign):
        return ast.unparse(node)
    if isinstance(node, ast.If | ast.While):
        return ast.unparse(node.test)
    return ""


def _name(edit: Edit, was: str, now: str) -> str:
    """Kind, line and change, as `comparison, line 4: a < b -> a <= b`."""
    if edit.kind == "statement":
        gone = _dropped(edit)
        return f"statement, line {gone.lineno}: dropped {_cut(ast.unparse(gone).partition(chr(10))[0])}"
    if isinstance(edit.node, ast.For | ast.While) and "body" in edit.fields:
        return f"return, line {edit.node.lineno}: the last one moved into the loop"
    line = getattr(edit.node, "lineno", None)
    place = f"{edit.kind}, line {line}" if line else edit.kind
    return f"{place}: {_cut(was)} -> {_cut(now)}"


def _dropped(edit: Edit) -> ast.stmt:
    """The statement that an edit leaves out of its block."""
    ((name, left),) = edit.fields.items()
    block: list[ast.stmt] = getattr(edit.node, name)
    return next(statement for statement in block if all(statement is not kept for kept in left))


def _cut(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"


def _quotas(sizes: Sequence[int], limit: int) -> list[int]:
    """How many to take of each kind: in turns, one at a time, until the limit or the supply is reached."""
    quotas = [0] * len(sizes)
    left = min(limit, sum(sizes))
    while left:
        for place, size in enumerate(sizes):
            if left and quotas[place] < size:
                quotas[place] += 1
                left -= 1
    return quotas


def _spread(found: Sequence[Attack], quota: int) -> list[Attack]:
    """`quota` of the attacks, at even distances."""
    return [found[number * len(found) // quota] for number in range(quota)]
