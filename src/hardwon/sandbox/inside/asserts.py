"""Rewrites test source so that each assertion records a check and the tests go on after a failing one.

`assert A == B` becomes::

    begin(i)
    try: compare(i, "Eq", left(A), B)
    except BaseException as e: error(i, e)

Inside a `try` that has handlers an assertion still raises, as they may be waiting for it; what escapes the whole
statement is recorded there. A `try` whose body holds `assert False` or `raise AssertionError` states that a call must
raise: when it does, that is a check of its own.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

from .shown import CALL, cut

RECORDER = "__recorder__"
_CAUGHT = "__caught__"
_OPERATORS = frozenset({"Eq", "NotEq", "Lt", "LtE", "Gt", "GtE", "Is", "IsNot", "In", "NotIn"})


@dataclass
class Site:
    """One assertion (or expected exception) of the source: where it is, and whether it was reached.

    A `refusal` is an assertion that is never to be reached, as `assert False` is.
    """

    node: ast.AST
    line: int
    text: str
    reached: bool = False
    refusal: bool = False


@dataclass
class Rewritten:
    """The rewritten module and its sites by index."""

    tree: ast.Module
    sites: list[Site] = field(default_factory=list)


class _Rewriter(ast.NodeTransformer):
    def __init__(self, source: str) -> None:
        self.rows = source.splitlines()
        self.sites: list[Site] = []
        self.raising = False

    def visit_Assert(self, node: ast.Assert) -> list[ast.stmt]:
        index = self._site(node, self._text(node.test))
        begin = _do("begin", ast.Constant(index))
        judged = self._judged(index, node.test)
        if self.raising:
            message = [node.msg] if node.msg else []
            failed = ast.Raise(_call("failed", ast.Constant(index), *message), None)
            made: list[ast.stmt] = [begin, ast.If(ast.UnaryOp(ast.Not(), judged), [failed], [])]
        else:
            made = [begin, _guarded([ast.Expr(judged)], "BaseException", "error", index)]
        return [ast.copy_location(stmt, node) for stmt in made]

    def _judged(self, index: int, test: ast.expr) -> ast.expr:
        number, raising = ast.Constant(index), ast.Constant(self.raising)
        if isinstance(test, ast.Compare) and len(test.ops) == 1 and type(test.ops[0]).__name__ in _OPERATORS:
            name = ast.Constant(type(test.ops[0]).__name__)
            return _call("compare", number, raising, name, _call("left", test.left), test.comparators[0])
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            return _call("truth", number, raising, ast.Constant(False), test.operand)
        return _call("truth", number, raising, ast.Constant(True), test)

    def visit_Try(self, node: ast.Try) -> ast.stmt | list[ast.stmt]:
        if not node.handlers:
            return self.generic_visit(node)  # type: ignore[return-value]
        expects = any(_is_refusal(stmt) for stmt in (*node.body, *node.orelse))
        index = self._site(node, self._text(node)) if expects else -1
        outer, self.raising = self.raising, True
        node.body = self._all(node.body)
        self.raising = outer
        node.handlers = [self.visit(handler) for handler in node.handlers]
        if expects:  # a refusal in `else` is outside the reach of the handlers, but belongs to this try
            self.raising = True
        node.orelse = self._all(node.orelse)
        self.raising = outer
        node.finalbody = self._all(node.finalbody)
        handler = ast.ExceptHandler(
            ast.Attribute(_recorder(), "Escaped", ast.Load()), _CAUGHT, [_do("caught", ast.Name(_CAUGHT, ast.Load()))]
        )
        after = [_do("expected", ast.Constant(index))] if expects else []
        wrapped = ast.Try([node], [handler], after, [])  # type: ignore[arg-type]
        if self.raising:  # the outer try records what escapes, or its handlers take it
            wrapped = node
        made = [ast.copy_location(wrapped, node)]
        if expects:
            return [ast.copy_location(_do("begin", ast.Constant(index)), node), *made]
        return made[0]

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        outer, self.raising = self.raising, False
        self.generic_visit(node)
        self.raising = outer
        if node.name == "check" and node.col_offset == 0:
            node.body.insert(0, ast.copy_location(_do("check_entered"), node))
        return node

    def _all(self, statements: list[ast.stmt]) -> list[ast.stmt]:
        made: list[ast.stmt] = []
        for statement in statements:
            result = self.visit(statement)
            made.extend(result if isinstance(result, list) else [result])
        return made

    def _site(self, node: ast.stmt, text: str) -> int:
        self.sites.append(Site(node, node.lineno, text, refusal=_is_refusal(node)))
        return len(self.sites) - 1

    def _text(self, node: ast.expr | ast.Try) -> str:
        row = self.rows[node.lineno - 1]
        if node.end_lineno == node.lineno and row.isascii():
            return cut(row[node.col_offset : node.end_col_offset], CALL)
        if isinstance(node, ast.Try):
            statements = [ast.unparse(stmt) for stmt in node.body if not _is_refusal(stmt)]
            kinds = [ast.unparse(h.type) for h in node.handlers if h.type is not None]
            return cut("; ".join(statements) + " raises " + (" or ".join(kinds) or "an exception"), CALL)
        return cut(ast.unparse(node), CALL)


def _is_refusal(statement: ast.stmt) -> bool:
    """Whether the statement says: never get here."""
    if isinstance(statement, ast.Assert):
        return isinstance(statement.test, ast.Constant) and not statement.test.value
    if isinstance(statement, ast.Raise) and statement.exc is not None:
        raised = statement.exc.func if isinstance(statement.exc, ast.Call) else statement.exc
        return isinstance(raised, ast.Name) and raised.id == "AssertionError"
    return False


def _recorder() -> ast.Name:
    return ast.Name(RECORDER, ast.Load())


def _call(method: str, *args: ast.expr) -> ast.Call:
    return ast.Call(ast.Attribute(_recorder(), method, ast.Load()), list(args), [])


def _do(method: str, *args: ast.expr) -> ast.Expr:
    return ast.Expr(_call(method, *args))


def _guarded(body: list[ast.stmt], kind: str, method: str, index: int) -> ast.Try:
    caught = ast.Name(_CAUGHT, ast.Load())
    handler = ast.ExceptHandler(ast.Name(kind, ast.Load()), _CAUGHT, [_do(method, ast.Constant(index), caught)])
    return ast.Try(body, [handler], [], [])


def rewrite(source: str) -> Rewritten:
    """Raises SyntaxError when the test source does not parse."""
    tree = ast.parse(source, "<tests>")
    rewriter = _Rewriter(source)
    rewriter.visit(tree)
    return Rewritten(ast.fix_missing_locations(tree), rewriter.sites)


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
