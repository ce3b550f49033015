"""Single changes to a program's syntax tree, each a slip that a programmer makes (mutation operators).

After the operators of mutation testing (DeMillo, Lipton and Sayward 1978; Offutt et al. 1996), for Python's tree.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

_COMPARISONS: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
}
_ARITHMETIC: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Add,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Div,
    ast.Mod: ast.FloorDiv,
    ast.Pow: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.BitXor: ast.BitAnd,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
}
_PAIRS = (("min", "max"), ("any", "all"), ("lower", "upper"), ("startswith", "endswith"), ("find", "rfind"))
_NAMES = dict(_PAIRS) | {right: left for left, right in _PAIRS} | {"sorted": "list", "strip": "rstrip", "abs": "int"}


@dataclass(frozen=True, slots=True)
class Edit:
    """One change: the fields of one node that get another value. `kind` is the operator's name."""

    kind: str
    node: ast.AST
    fields: Mapping[str, Any]


def edits(tree: ast.AST) -> Iterator[Edit]:
    """Every change to `tree`, in the order of the source; annotations, docstrings and imports are left alone."""
    yield from _edits(tree)
    for child in _children(tree):
        yield from edits(child)


def _children(node: ast.AST) -> Iterator[ast.AST]:
    if isinstance(node, ast.Import | ast.ImportFrom):
        return
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "decorator_list"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST) and not _is_docstring(child):
                yield child


def _edits(node: ast.AST) -> Iterator[Edit]:
    match node:
        case ast.Compare():
            for place, operator in enumerate(node.ops):
                for other in _COMPARISONS[type(operator)]:
                    yield Edit("comparison", node, {"ops": [*node.ops[:place], other(), *node.ops[place + 1 :]]})
        case ast.BoolOp():
            yield Edit("condition", node, {"op": ast.Or() if isinstance(node.op, ast.And) else ast.And()})
        case ast.BinOp() | ast.AugAssign():
            if other_operator := _ARITHMETIC.get(type(node.op)):
                yield Edit("arithmetic", node, {"op": other_operator()})
            if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub | ast.Mod | ast.FloorDiv):
                yield Edit("argument", node, {"left": node.right, "right": node.left})
        case ast.UnaryOp(op=ast.USub()):
            yield Edit("arithmetic", node, {"op": ast.UAdd()})
        case ast.Constant():
            for value in _other_constants(node.value):
                yield Edit("constant", node, {"value": value})
        case ast.Slice():
            yield from _bounds(node)
        case ast.Call():
            yield from _calls(node)
        case ast.Return(value=ast.expr() as value) if not _is_none(value):
            yield Edit("return", node, {"value": ast.Constant(None)})
        case ast.If() | ast.While() | ast.IfExp() if not _is_one_comparison(node.test):
            yield Edit("condition", node, {"test": _negated(node.test)})
        case ast.comprehension():
            for place, test in enumerate(node.ifs):
                kept = [*node.ifs[:place], *node.ifs[place + 1 :]]
                if not _is_one_comparison(test):
                    yield Edit("condition", node, {"ifs": [*kept, _negated(test)]})
                yield Edit("condition", node, {"ifs": kept})
    for name in ("body", "orelse", "finalbody"):
        block = getattr(node, name, None)
        if isinstance(block, list):
            yield from _drops(node, name, block)
    if isinstance(node, ast.FunctionDef):
        yield from _early_returns(node)


def _other_constants(value: object) -> tuple[object, ...]:
    if isinstance(value, bool):
        return (not value,)
    if isinstance(value, int | float):
        return value + 1, value - 1
    if isinstance(value, str):
        return ("",) if value else ("?",)
    return ()


def _bounds(node: ast.Slice) -> Iterator[Edit]:
    """Off by one at either end; a bound that is a number is a constant and changed as such."""
    if node.lower is None:
        yield Edit("bounds", node, {"lower": ast.Constant(1)})
    elif not isinstance(node.lower, ast.Constant):
        yield Edit("bounds", node, {"lower": _shifted(node.lower, ast.Add())})
    if node.upper is None:
        yield Edit("bounds", node, {"upper": ast.Constant(-1)})
    elif not isinstance(node.upper, ast.Constant):
        yield Edit("bounds", node, {"upper": _shifted(node.upper, ast.Sub())})
        yield Edit("bounds", node, {"upper": _shifted(node.upper, ast.Add())})


def _calls(node: ast.Call) -> Iterator[Edit]:
    called = node.func
    if isinstance(called, ast.Name) and called.id == "range" and node.args:
        end = min(len(node.args), 2) - 1
        for operator in (ast.Sub(), ast.Add()):
            yield Edit("bounds", node, {"args": _replaced(node.args, end, _shifted(node.args[end], operator))})
        if end:
            yield Edit("bounds", node, {"args": _replaced(node.args, 0, _shifted(node.args[0], ast.Add()))})
    if isinstance(called, ast.Name) and called.id in _NAMES:
        yield Edit("argument", called, {"id": _NAMES[called.id]})
    if isinstance(called, ast.Attribute) and called.attr in _NAMES:
        yield Edit("argument", called, {"attr": _NAMES[called.attr]})
    if len(node.args) > 1:
        yield Edit("argument", node, {"args": [node.args[1], node.args[0], *node.args[2:]]})
    for place in range(len(node.keywords)):
        yield Edit("argument", node, {"keywords": [*node.keywords[:place], *node.keywords[place + 1 :]]})


def _drops(node: ast.AST, name: str, block: list[ast.stmt]) -> Iterator[Edit]:
    """Each statement left out in turn, but for definitions, imports and the first assignment to a name."""
    for place, statement in enumerate(block):
        if isinstance(statement, ast.FunctionDef | ast.ClassDef | ast.Import | ast.ImportFrom | ast.Pass | ast.Return):
            continue
        if _is_docstring(statement) or (isinstance(statement, ast.Assign | ast.AnnAssign) and not _target(statement)):
            continue
        yield Edit("statement", node, {name: [*block[:place], *block[place + 1 :]] or [ast.Pass()]})


def _target(statement: ast.Assign | ast.AnnAssign) -> bool:
    """Whether an assignment changes a part of something, and so can be left out without a NameError."""
    targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
    return any(isinstance(target, ast.Subscript | ast.Attribute) for target in targets)


def _early_returns(node: ast.FunctionDef) -> Iterator[Edit]:
    """The last `return` indented into a loop before it, so that the loop ends in its first round."""
    last = node.body[-1]
    if isinstance(last, ast.Return):
        for statement in node.body[:-1]:
            if isinstance(statement, ast.For | ast.While):
                yield Edit("return", statement, {"body": [*statement.body, last]})


def _is_one_comparison(test: ast.expr) -> bool:
    """Whether negating `test` would be no more than another comparison, which is an edit of its own."""
    return isinstance(test, ast.Compare) and len(test.ops) == 1


def _negated(test: ast.expr) -> ast.expr:
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return test.operand
    return ast.UnaryOp(ast.Not(), test)


def _shifted(value: ast.expr, operator: ast.operator) -> ast.expr:
    return ast.BinOp(value, operator, ast.Constant(1))


def _replaced(values: list[ast.expr], place: int, value: ast.expr) -> list[ast.expr]:
    return [*values[:place], value, *values[place + 1 :]]


def _is_docstring(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None
