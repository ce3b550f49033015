"""Which test sources can not leave anything behind in the process that runs them.

A checker that has run such tests may serve the next job, which saves a fork; after any other it ends. The question is
one of hygiene, not of trust: the rules let through only what keeps to its own names.
"""

from __future__ import annotations

import ast

_MODULES = (
    "bisect cmath collections collections.abc copy dataclasses datetime decimal enum fractions functools hashlib heapq "
    "itertools json math numbers operator random re statistics string textwrap typing"
)
_NAMES = (
    "__import__ breakpoint compile delattr dir eval exec getattr globals help input locals memoryview open print setattr "
    "super type vars"
)
_HARMLESS, _REACHING_OUT = frozenset(_MODULES.split()), frozenset(_NAMES.split())
_NODES = (
    ast.ClassDef,
    ast.AsyncFunctionDef,
    ast.Await,
    ast.AsyncFor,
    ast.AsyncWith,
    ast.Delete,
    ast.Global,
    ast.Nonlocal,
    ast.With,
)


def is_plain(tree: ast.AST) -> bool:
    """Whether code keeps to its own names: no classes, no attributes set, no private names, harmless imports only."""
    return all(_is_plain(node) for node in ast.walk(tree))


def _is_plain(node: ast.AST) -> bool:
    if isinstance(node, ast.Name):
        return node.id not in _REACHING_OUT and not node.id.startswith("__")
    if isinstance(node, ast.Attribute):
        return isinstance(node.ctx, ast.Load) and not node.attr.startswith("_")
    if isinstance(node, ast.Import):
        return all(alias.name in _HARMLESS for alias in node.names)
    if isinstance(node, ast.ImportFrom):
        return node.module in _HARMLESS and node.level == 0
    return not isinstance(node, _NODES)
