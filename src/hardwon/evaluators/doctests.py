"""Examples in doctest form: `>>> f(x)` and the value below it, or `>>> f(x) == y`."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hardwon.evaluators.literals import expression, is_literal, literal_node

# Pure functions that may stand around the call without making the example unsafe or unclear.
_WRAPPERS = frozenset(
    {
        "abs",
        "bool",
        "dict",
        "float",
        "int",
        "len",
        "list",
        "max",
        "min",
        "round",
        "set",
        "sorted",
        "str",
        "sum",
    }
    | {"tuple"}
)


def doctests(text: str, entry_point: str) -> Iterator[tuple[int, str, str]]:
    """Position in `text`, call and expected value (both as source) of each example; tracebacks are left out."""
    lines = text.splitlines(keepends=True)
    position = 0
    for number, line in enumerate(lines):
        before, mark, code = line.partition(">>>")
        if mark and not before.strip(" \t\"'"):
            following = number + 1
            while following < len(lines) and lines[following].strip().startswith("... "):
                code += lines[following].strip()[4:] + "\n"
                following += 1
            shown: list[str] = []
            while following < len(lines) and _is_output(lines[following]):
                shown.append(lines[following].strip())
                following += 1
            if example := _read(code.strip(), shown, entry_point, "None" in text):
                yield position, *example
        position += len(line)


def _is_output(line: str) -> bool:
    return bool(line.strip()) and not line.strip().startswith((">>>", '"""', "'''"))


def _read(code: str, shown: list[str], entry_point: str, speaks_of_none: bool) -> tuple[str, str] | None:
    tree = expression(code)
    if tree is None:
        return None
    if isinstance(tree, ast.Compare):
        # `>>> f(x) == y`, with or without the True that Python would print.
        is_equation = len(tree.ops) == 1 and isinstance(tree.ops[0], ast.Eq)
        value = tree.comparators[0]
        if is_equation and is_literal(value) and shown[:1] != ["False"] and _is_pure(tree.left, entry_point):
            return ast.unparse(tree.left), ast.unparse(value)
        return None
    if not _is_pure(tree, entry_point):
        return None
    if not shown:
        # Python prints nothing for None; a sloppy prompt may just lack the value, so None must be spoken of.
        return (ast.unparse(tree), "None") if speaks_of_none else None
    for text in (" ".join(shown), shown[0]):
        if (node := literal_node(text)) is not None:
            return ast.unparse(tree), ast.unparse(node)
    return None


def _is_pure(node: ast.expr, entry_point: str) -> bool:
    """One call of the entry point on literals, perhaps wrapped in pure builtins, and nothing else."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
        return False
    arguments = [*node.args, *(keyword.value for keyword in node.keywords)]
    if node.func.id == entry_point:
        return all(map(is_literal, arguments))
    inner = [argument for argument in arguments if not is_literal(argument)]
    return node.func.id in _WRAPPERS and len(inner) == 1 and _is_pure(inner[0], entry_point)
