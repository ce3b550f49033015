"""Rewrites test source so that each assertion records a check and the tests go on after a failing one.

`assert A == B` becomes::

    with begin(i): compare("Eq", left(A), B)

Inside a `try` that has handlers an assertion still raises, as they may be waiting for it; what escapes the whole
statement is recorded there. A `try` whose body holds `assert False` or `raise AssertionError` states that a call must
raise: when it does, that is a check of its own.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import cache
from typing import Any

from .shown import CALL, cut

CAUGHT = "__exception__"
_METHODS = "begin left compare truth failed caught expected check_entered Escaped"
OUR_NAMES = {f"__{name}__": name for name in _METHODS.split()}
"""The names that rewritten tests use for a recorder's attributes."""


@dataclass(frozen=True)
class Site:
    """One assertion (or expected exception) of the source.

    A `refusal` is an assertion that is never to be reached, as `assert False` is; a `constant` one says nothing.
    """

    line: int
    text: str
    refusal: bool
    constant: bool


class Rewriter:
    """Rewrites statement lists; `sites` grows with each assertion met, and `nodes` with its statement.

    Expressions are not walked, for speed.
    """

    def __init__(self, source: str) -> None:
        self.rows = source.splitlines()
        self.sites: list[Site] = []
        self.nodes: list[ast.stmt] = []
        self._raising = False

    def block(self, statements: list[ast.stmt]) -> list[ast.stmt]:
        made: list[ast.stmt] = []
        for statement in statements:
            if isinstance(statement, ast.Assert):
                made += self._assertion(statement)
            elif isinstance(statement, (ast.Try, ast.TryStar)):
                made += self._attempt(statement)
            else:
                self._inner(statement)
                made.append(statement)
        return made

    def _inner(self, statement: ast.stmt) -> None:
        outer = self._raising
        if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            self._raising = False
        for part in ("body", "orelse", "finalbody"):
            inner = getattr(statement, part, None)
            if isinstance(inner, list) and inner:
                setattr(statement, part, self.block(inner))
        for case in getattr(statement, "cases", ()):
            case.body = self.block(case.body)
        self._raising = outer
        if isinstance(statement, ast.FunctionDef) and statement.name == "check" and statement.col_offset == 0:
            statement.body.insert(0, _Maker(statement).do("check_entered"))

    def _assertion(self, node: ast.Assert) -> list[ast.stmt]:
        index, make = self._site(node, self._text(node.test)), _Maker(node)
        judged = self._judged(node.test, make)
        if self._raising:
            begin = make.do("begin", make.constant(index), make.constant(True))
            message = [node.msg] if node.msg else []
            failed = ast.Raise(make.call("failed", *message), None, **make.at)
            return [begin, ast.If(ast.UnaryOp(ast.Not(), judged, **make.at), [failed], [], **make.at)]
        begun = ast.withitem(make.call("begin", make.constant(index)))
        return [ast.With([begun], [ast.Expr(judged, **make.at)], **make.at)]

    def _judged(self, test: ast.expr, make: _Maker) -> ast.expr:
        if isinstance(test, ast.Compare) and len(test.ops) == 1:
            sign = make.constant(type(test.ops[0]).__name__)
            return make.call("compare", sign, make.call("left", test.left), test.comparators[0])
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            return make.call("truth", make.constant(False), test.operand)
        return make.call("truth", make.constant(True), test)

    def _attempt(self, node: ast.Try | ast.TryStar) -> list[ast.stmt]:
        if not node.handlers:
            self._inner(node)
            return [node]
        expects = any(_is_refusal(stmt) for stmt in (*node.body, *node.orelse))
        index, make = (self._site(node, self._text(node)) if expects else -1), _Maker(node)
        outer, self._raising = self._raising, True
        node.body = self.block(node.body)
        self._raising = outer or expects  # a refusal in `else` belongs to this try, though its handlers do not see it
        node.orelse = self.block(node.orelse)
        self._raising = outer
        for handler in node.handlers:
            handler.body = self.block(handler.body)
        node.finalbody = self.block(node.finalbody)
        made: list[ast.stmt] = [node]
        if not outer:  # else the outer try records what escapes, or its handlers take it
            taken = ast.ExceptHandler(_name("__Escaped__"), CAUGHT, [make.do("caught", _name(CAUGHT))], **make.at)
            after: list[ast.stmt] = [make.do("expected", make.constant(index))] if expects else []
            made = [ast.Try(made, [taken], after, [], **make.at)]
        return [make.do("begin", make.constant(index)), *made] if expects else made

    def _site(self, node: ast.stmt, text: str) -> int:
        constant = isinstance(node, ast.Assert) and isinstance(node.test, ast.Constant)
        self.sites.append(Site(node.lineno, text, _is_refusal(node), constant))
        self.nodes.append(node)
        return len(self.sites) - 1

    def _text(self, node: ast.expr | ast.Try | ast.TryStar) -> str:
        row = self.rows[node.lineno - 1] if node.lineno <= len(self.rows) else ""
        if node.end_lineno == node.lineno and row.isascii():
            return cut(row[node.col_offset : node.end_col_offset], CALL)
        if isinstance(node, ast.expr):
            return cut(ast.unparse(node), CALL)
        statements = [ast.unparse(stmt) for stmt in node.body if not _is_refusal(stmt)]
        kinds = [ast.unparse(handler.type) for handler in node.handlers if handler.type is not None]
        return cut("; ".join(statements) + " raises " + (" or ".join(kinds) or "an exception"), CALL)


class _Maker:
    """Makes nodes that stand where the given one stands."""

    def __init__(self, node: ast.stmt) -> None:
        self.at: dict[str, Any] = {"lineno": node.lineno, "col_offset": node.col_offset}

    def constant(self, value: Any) -> ast.Constant:
        return ast.Constant(value, **self.at)

    def call(self, method: str, *args: ast.expr) -> ast.Call:
        return ast.Call(_name(f"__{method}__"), list(args), [], **self.at)

    def do(self, method: str, *args: ast.expr) -> ast.Expr:
        return ast.Expr(self.call(method, *args), **self.at)


@cache
def _name(name: str) -> ast.Name:
    """The reading of a name; one node for all places, as no error is ever reported for it."""
    return ast.Name(name, ast.Load(), lineno=1, col_offset=0)


def _is_refusal(statement: ast.stmt) -> bool:
    """Whether the statement says: never get here."""
    if isinstance(statement, ast.Assert):
        return isinstance(statement.test, ast.Constant) and not statement.test.value
    if isinstance(statement, ast.Raise) and statement.exc is not None:
        raised = statement.exc.func if isinstance(statement.exc, ast.Call) else statement.exc
        return isinstance(raised, ast.Name) and raised.id == "AssertionError"
    return False


def rewrite(tree: ast.Module, source: str) -> list[Site]:
    """Rewrites the parsed tests in place; the sites, in the order of their numbers."""
    rewriter = Rewriter(source)
    tree.body = rewriter.block(tree.body)
    return rewriter.sites


def statements_of_sites(source: str) -> list[ast.stmt]:
    """The statement behind each site, in the order of their numbers."""
    rewriter = Rewriter(source)
    rewriter.block(ast.parse(source).body)
    return rewriter.nodes


def tainted_names(source: str, seeds: set[str]) -> set[str]:
    """Names whose value may depend on a call of the functions in `seeds`; errs towards saying yes.

    By name alone, without regard to scope or order: what is assigned from, iterates over, or is handed to (and so may
    be changed by) something that depends on them, and functions whose body mentions them.
    """
    tree = ast.parse(source)
    tainted = set(seeds)
    while True:
        before = len(tainted)
        for node in ast.walk(tree):
            _spread(node, tainted)
        if len(tainted) == before:
            return tainted


def _spread(node: ast.AST, tainted: set[str]) -> None:
    def hit(*parts: ast.AST | None) -> bool:
        return any(part is not None and mentions(part, tainted) for part in parts)

    match node:
        case ast.Assign(targets=targets, value=value) if hit(value):
            tainted.update(*(_names(t) for t in targets))
        case ast.Assign(targets=targets, value=ast.Name() | ast.List() | ast.Tuple() | ast.Dict() as value) if hit(
            *targets
        ):
            tainted.update(_names(value))  # one may be changed through the other
        case ast.AugAssign(target=target, value=value) if hit(value):
            tainted.update(_names(target))
        case ast.AnnAssign(target=target, value=value) if hit(value):
            tainted.update(_names(target))
        case ast.NamedExpr(target=target, value=value) if hit(value):
            tainted.update(_names(target))
        case ast.For(target=target, iter=value) if hit(value):
            tainted.update(_names(target))
        case ast.comprehension(target=target, iter=value) if hit(value):
            tainted.update(_names(target))
        case ast.withitem(context_expr=value, optional_vars=target) if hit(value) and target is not None:
            tainted.update(_names(target))
        case ast.ExceptHandler(name=str(name)):
            tainted.add(name)
        case ast.FunctionDef(name=name, body=body) if hit(*body):
            tainted.add(name)
        case ast.Call() if hit(node):
            for part in (node.func.value if isinstance(node.func, ast.Attribute) else None, *node.args, *node.keywords):
                if part is not None:
                    tainted.update(_names(part))
        case _:
            pass


def _names(node: ast.AST) -> set[str]:
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}


def mentions(node: ast.AST, names: set[str]) -> bool:
    return any(isinstance(n, ast.Name) and n.id in names for n in ast.walk(node))
