"""Attacks that know nothing of the task: constants, the input itself, objects that equal all, early exits."""

from __future__ import annotations

from hardwon.evaluators.audit.attack import FIRST_ARGUMENT, Attack
from hardwon.task import Problem

_CONSTANTS = ("None", "True", "False", "0", "1", "-1", "''", "[]", "{}", "()")
_PRINTED = ("0", "1", "True", "None", "YES")
_EQUAL = ("object", "int", "float", "str", "list")
_EXITS = {
    "os._exit(0)": "import os\n{indent}os._exit(0)",
    "sys.exit(0)": "import sys\n{indent}sys.exit(0)",
    "SystemExit": "raise SystemExit",
    "exit in atexit": "import atexit, os\n{indent}atexit.register(os._exit, 0)\n{indent}raise SystemExit",
}


def hollow_attacks(problem: Problem) -> tuple[Attack, ...]:
    """The attacks of the kinds `trivial`, `always-equal` and `early-exit` for a problem of this form."""
    if problem.kind == "text":
        return (Attack("trivial", "an empty text", ""), Attack("trivial", "a blank line", "\n"))
    if problem.kind == "stdio" or problem.entry_point is None:
        return (*_trivial_scripts(), *_exits())
    name = problem.entry_point
    return (*_trivial_functions(name), *_always_equal(name), *_exits(name), *_exits())


def _trivial_functions(name: str) -> list[Attack]:
    attacks = [
        Attack("trivial", f"returns {value}", f"def {name}(*args, **kwargs):\n    return {value}\n", value)
        for value in _CONSTANTS
    ]
    same = f"def {name}(*args, **kwargs):\n    return [*args, *kwargs.values(), None][0]\n"
    return [*attacks, Attack("trivial", "returns its first argument", same, FIRST_ARGUMENT)]


def _trivial_scripts() -> list[Attack]:
    echo = "import sys\nsys.stdout.write(sys.stdin.read())\n"
    return [
        Attack("trivial", "prints nothing", "pass\n", ""),
        *(Attack("trivial", f"prints {value}", f"print({value!r})\n", value) for value in _PRINTED),
        Attack("trivial", "prints its input", echo, FIRST_ARGUMENT),
    ]


def _always_equal(name: str) -> list[Attack]:
    return [
        Attack(
            "always-equal",
            f"returns a kind of {kind} that equals everything",
            f"class Equal({kind}):\n"
            "    __eq__ = __le__ = __ge__ = lambda self, other: True\n"
            "    __ne__ = __lt__ = __gt__ = lambda self, other: False\n"
            "    __hash__ = lambda self: 0\n"
            "    __bool__ = lambda self: True\n\n"
            f"def {name}(*args, **kwargs):\n    return Equal()\n",
        )
        for kind in _EQUAL
    ]


def _exits(function: str | None = None) -> list[Attack]:
    """Programs that leave with status 0, at once or, with the name of a function, when it is called."""
    if function is None:
        return [Attack("early-exit", f"{way} at once", text.format(indent="") + "\n") for way, text in _EXITS.items()]
    head = f"def {function}(*args, **kwargs):\n    "
    return [
        Attack("early-exit", f"{way} when called", head + text.format(indent="    ") + "\n")
        for way, text in _EXITS.items()
    ]
