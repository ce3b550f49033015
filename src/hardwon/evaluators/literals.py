"""Reading Python literals out of running text: where one ends, and whether two mean the same value."""

from __future__ import annotations

import ast
import re
import warnings
from dataclasses import dataclass

_MOST_NESTED = 50
_CLOSES = {"(": ")", "[": "]", "{": "}"}
_NUMBER = re.compile(r"[-+]?(?:\d[\d_]*\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
_WORD = re.compile(r"(?:True|False|None|true|false|null|set\(\))(?![\w(])")
_WORDS = {"true": "True", "false": "False", "null": "None"}
_STRING_START = re.compile(r"[bBrR]{0,2}(?=['\"])")
# Python's own errors for text that is no expression, too deep or too large a number.
NOT_PYTHON = (SyntaxError, ValueError, TypeError, MemoryError, RecursionError)


@dataclass(frozen=True, slots=True)
class Signature:
    """A function's parameters: positional names, how many must be given, whether it takes `*args`."""

    names: tuple[str, ...]
    required: int
    variadic: bool = False

    def takes(self, count: int) -> bool:
        """Whether a call with `count` positional arguments fits."""
        return self.required <= count and (self.variadic or count <= len(self.names))


def signature(text: str, function: str) -> Signature | None:
    """The signature of the last `def function(...)` in `text`; None if there is none that Python can read."""
    headers = list(re.finditer(rf"\bdef[ \t]+{re.escape(function)}[ \t]*\(", text))
    if not headers:
        return None
    opening = headers[-1].end() - 1
    end = bracket_end(text, opening)
    if end is None:
        return None
    try:
        definition = parse(f"def f{text[opening:end]}: pass").body[0]
    except NOT_PYTHON:
        return None
    assert isinstance(definition, ast.FunctionDef)
    arguments = definition.args
    names = tuple(a.arg for a in (*arguments.posonlyargs, *arguments.args))
    return Signature(names, len(names) - len(arguments.defaults), arguments.vararg is not None)


def bracket_end(text: str, opening: int) -> int | None:
    """The position after the bracket that closes the one at `opening`, strings skipped; None if none does."""
    stack: list[str] = []
    position = opening
    while position < len(text):
        char = text[position]
        if char in _CLOSES:
            stack.append(_CLOSES[char])
        elif char in ")]}":
            if char != stack.pop():
                return None
            if not stack:
                return position + 1
        elif char in "'\"":
            end = string_end(text, position)
            if end is None:
                return None
            position = end
            continue
        position += 1
    return None


def string_end(text: str, opening: int) -> int | None:
    """The position after the quote that closes the one at `opening` on the same line; None if none does."""
    position = opening + 1
    while position < len(text) and text[position] != "\n":
        if text[position] == "\\":
            position += 1
        elif text[position] == text[opening]:
            return position + 1
        position += 1
    return None


def literal_at(text: str, position: int) -> tuple[str, int] | None:
    """The literal that starts at `position`, in Python's own spelling, and where it ends; None for none.

    `true`, `false` and `null` count as what they mean; `("x")`, which may be meant as a tuple, is no literal.
    """
    if position >= len(text):
        return None
    end: int | None = None
    if word := _WORD.match(text, position):
        end = word.end()
    elif text[position] in _CLOSES:
        end = bracket_end(text, position)
    elif number := _NUMBER.match(text, position):
        end = number.end()
        if text[end - 1] == "." and (end == len(text) or text[end].isspace()):
            end -= 1  # the full stop of a sentence
    elif (prefix := _STRING_START.match(text, position)) is not None:
        end = string_end(text, prefix.end())
    if end is None:
        return None
    source = text[position:end]
    node = literal_node(_WORDS.get(source, source))
    if node is None or (source.startswith("(") and not isinstance(node, ast.Tuple)):
        return None
    return ast.unparse(node), end


def literal_node(source: str) -> ast.expr | None:
    """`source` as a syntax tree if it is one literal and nothing else, else None."""
    node = expression(source.strip())
    return node if node is not None and is_literal(node) else None


def expression(source: str) -> ast.expr | None:
    """The syntax tree of one expression; None if `source` is none that Python can read."""
    try:
        body = parse(source.strip()).body
    except NOT_PYTHON:
        return None
    return body[0].value if len(body) == 1 and isinstance(body[0], ast.Expr) else None


def parse(source: str) -> ast.Module:
    """As `ast.parse`, but silent about odd escapes: foreign text is not our user's concern. Raises NOT_PYTHON."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(source)


def is_literal(node: ast.expr) -> bool:
    """Whether evaluating `node` can do nothing but build plain data (`set()` included)."""
    try:
        ast.literal_eval(node)
    except NOT_PYTHON:
        return False
    # `...` stands for what somebody left out.
    elided = any(isinstance(part, ast.Constant) and part.value is Ellipsis for part in ast.walk(node))
    return not elided and _nesting(node) <= _MOST_NESTED


def _nesting(node: ast.expr) -> int:
    """How deep the tree is, counted without recursion since it may be deep on purpose."""
    level: list[ast.AST] = [node]
    depth = 0
    while level:
        level = [child for parent in level for child in ast.iter_child_nodes(parent)]
        depth += 1
    return depth


def canonical(source: str) -> str:
    """One spelling for all literals that compare equal as test values: 1 and 1.0, order of a set or a dict.

    True and 1 stay apart: as an expected value they are different answers.
    """
    return _spell(ast.literal_eval(source))


def _spell(value: object) -> str:
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return repr(int(value))
    if isinstance(value, list | tuple):
        return f"{type(value).__name__}({','.join(map(_spell, value))})"
    if isinstance(value, set):
        return f"set({','.join(sorted(map(_spell, value)))})"
    if isinstance(value, dict):
        return f"dict({','.join(sorted(f'{_spell(k)}:{_spell(v)}' for k, v in value.items()))})"
    return repr(value)
