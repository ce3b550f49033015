"""Reads the program out of a reply, however the model wrapped it.

Blocks may be several, unclosed or missing; prose may stand before and after; the reply may hold only a function's
body, or leave out the imports and helpers that the prompt already has.
"""

from __future__ import annotations

import ast
import re
import textwrap
import warnings
from functools import lru_cache

from hardwon.task import Problem

_FENCE = re.compile(
    r"^[ \t]*(`{3,}|~{3,})[ \t]*([\w+#.-]*)[^\n]*\n(.*?)(?:^[ \t]*\1[`~]*[ \t]*$|\Z)",
    re.DOTALL | re.MULTILINE,
)
_PYTHON = {"", "python", "python3", "py", "py3", "ipython"}
_CODE_START = re.compile(
    r"^(?:(?:async\s+def|def|class)\s+\w|import\s+\w|from\s+[\w.]+\s+import\b|@\w|if\s+__name__|[A-Za-z_]\w*\s*(?::[^=\n]+)?=[^=])"
)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def extract_program(reply: str, problem: Problem) -> str | None:
    """The program in `reply`, completed by what only the prompt defines; None when there is none.

    A block that does not parse is still a program: it fails where it is checked, with its syntax error as feedback.
    """
    reply = reply.replace("\r\n", "\n")
    blocks = [(m[2].lower(), textwrap.dedent(m[3]).strip("\n")) for m in _FENCE.finditer(reply)]
    blocks = [(language, code) for language, code in blocks if code.strip()]
    if problem.kind == "text":
        return max((code for _, code in blocks), key=len, default=reply.strip() or None)
    python = [code for language, code in blocks if language in _PYTHON]
    if not python and blocks and (bare := [code for _, code in blocks if parse(code)]):
        python = bare
    program = _choose(python, problem.entry_point) if python else _unfenced(reply)
    if program is None or (problem.entry_point and problem.entry_point not in defined(program)):
        body = _as_body(program or reply, problem)
        program = body or program
    return _complete(program, problem) if program else None


@lru_cache(maxsize=16)
def parse(code: str) -> ast.Module | None:
    """The syntax tree, not to be changed, or None where there is none."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SyntaxWarning)
            return ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def defined(code: str) -> set[str]:
    """The names that `code` binds at top level; by pattern where it does not parse."""
    tree = parse(code)
    if tree is None:
        return set(re.findall(r"^(?:async\s+def|def|class)\s+(\w+)", code, re.MULTILINE))
    return {name for node in tree.body for name in _bound(node)}


def _bound(node: ast.stmt) -> set[str]:
    if isinstance(node, _DEFINITIONS):
        return {node.name}
    if isinstance(node, ast.Import | ast.ImportFrom):
        return {(alias.asname or alias.name).split(".")[0] for alias in node.names}
    names = set()
    for child in ast.walk(node):
        if isinstance(child, ast.Name) and isinstance(child.ctx, ast.Store):
            names.add(child.id)
        elif isinstance(child, _DEFINITIONS):
            names.add(child.name)
    return names


def _choose(blocks: list[str], entry_point: str | None) -> str:
    """The last block that defines the entry point, with earlier blocks that define what it lacks; else the longest."""
    having = [i for i, code in enumerate(blocks) if entry_point and entry_point in defined(code)]
    if not having:
        parsing = [code for code in blocks if parse(code)]
        return max(parsing or blocks, key=len)
    parsing_having = [i for i in having if parse(blocks[i])]
    at = (parsing_having or having)[-1]
    chosen = blocks[at]
    for earlier in reversed(blocks[:at]):
        tree = parse(chosen)
        if tree is None or not parse(earlier):
            continue
        used = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}
        lacking = (used - defined(chosen)) & defined(earlier)
        if lacking and entry_point not in defined(earlier):
            chosen = f"{earlier}\n\n{chosen}"
    return chosen


def _unfenced(reply: str) -> str | None:
    """The longest run of lines that reads as code, starting where code can start."""
    lines = reply.split("\n")
    for start, line in enumerate(lines):
        if not _CODE_START.match(line):
            continue
        for end in range(len(lines), start, -1):
            code = "\n".join(lines[start:end]).strip("\n")
            tree = parse(code)
            if tree and any(not isinstance(node, ast.Expr) for node in tree.body):
                return code
        if re.match(r"(?:async\s+def|def|class)\s", line):
            return "\n".join(lines[start:])
    tree = parse(reply)
    if tree and any(isinstance(n, ast.Expr) and isinstance(n.value, ast.Call) for n in tree.body):
        return reply.strip("\n")
    return None


def _as_body(code: str, problem: Problem) -> str | None:
    """The prompt's function with `code` as its body, when that makes a function of the prompt's signature."""
    if problem.kind != "function" or not problem.entry_point or problem.entry_point not in defined(problem.prompt):
        return None
    body = textwrap.indent(textwrap.dedent(code.strip("\n")), "    ")
    whole = problem.prompt.rstrip() + "\n" + body + "\n"
    after = parse(whole)
    if after is None or not body.strip():
        return None
    function = next((n for n in after.body if isinstance(n, _FUNCTIONS) and n.name == problem.entry_point), None)
    return whole if function is not None and _answers(function) else None


def _answers(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether the function itself, not one inside it, returns or yields."""
    todo: list[ast.AST] = list(function.body)
    while todo:
        node = todo.pop()
        if isinstance(node, ast.Return | ast.Yield | ast.YieldFrom):
            return True
        if not isinstance(node, (*_DEFINITIONS, ast.Lambda)):
            todo.extend(ast.iter_child_nodes(node))
    return False


def _complete(program: str, problem: Problem) -> str:
    """Puts before the program the imports and helpers of a Python prompt that it does not define itself."""
    prompt = parse(problem.prompt) if problem.kind == "function" else None
    if prompt is None or problem.entry_point is None or problem.entry_point not in defined(problem.prompt):
        return program
    present = defined(program)
    lacking = [
        node
        for node in prompt.body
        if (names := _bound(node)) and problem.entry_point not in names and not names <= present
    ]
    if not lacking or parse(program) is None:
        return program
    head = "\n".join(ast.get_source_segment(problem.prompt, node) or "" for node in lacking)
    return f"{head}\n\n{program}"
