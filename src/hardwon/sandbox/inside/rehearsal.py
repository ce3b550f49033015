"""Goes a candidate's way a few times in the fork server, before the first fork, on a program that says nothing.

What an interpreter does on the first use of a function, a type or an attribute it then finds done, in the memory that
all children share, in place of doing it in each child, on pages that have to be copied for it.
"""

from __future__ import annotations

import _socket
import contextlib
import sys

from . import candidate
from .line import Closed, Line

_TIMES = 20  # the interpreter adapts a function to its use after eight or so calls
_PROGRAM = "def f(x, *rest):\n    if x is None:\n        raise ValueError('none')\n    return x\n"
_ARGUMENTS: list[list[object]] = [
    [1, 2],
    ["text", 0.5, True],
    [[1, 2, 3], {"t": [1, "two"]}],
    [{"d": [["key", [1, "two"]]]}],
    [None],
]


def rehearse() -> None:
    """Serves a program some calls, and leaves no trace of it that a program could see."""
    for _ in range(_TIMES):
        ours, theirs = _socket.socketpair()
        checker = Line(ours.fileno())
        checker.send({"program": _PROGRAM, "entry": "f"})
        for number, arguments in enumerate(_ARGUMENTS):
            checker.send({"id": number, "args": arguments, "mutable": True})
        ours.shutdown(_socket.SHUT_WR)
        with contextlib.suppress(Closed):
            candidate.serve(Line(theirs.fileno()))
        ours.close()
        theirs.close()
    del sys.modules["program"]
