"""Which test sources can not leave anything behind in the process that runs them.

A checker that has run such tests may serve the next job, which saves a fork; after any other it ends. The question is
one of hygiene, not of trust: the rules let through only what keeps to its own names.
"""

from __future__ import annotations

import dis
from types import CodeType

_MODULES = (
    "bisect cmath collections collections.abc copy dataclasses datetime decimal enum fractions functools hashlib heapq "
    "itertools json math numbers operator random re statistics string textwrap typing"
)
_NAMES = (
    "breakpoint compile delattr dir eval exec getattr globals help input locals memoryview open setattr super type vars"
)
_HARMLESS, _REACHING_OUT = frozenset(_MODULES.split()), frozenset(_NAMES.split())
_CHANGING = frozenset(
    dis.opmap[name] for name in ("STORE_ATTR", "DELETE_ATTR", "LOAD_BUILD_CLASS", "DELETE_GLOBAL") if name in dis.opmap
)
_ASYNC = 0x80 | 0x100 | 0x200
_IMPORT, _EXTENDED = dis.opmap["IMPORT_NAME"], dis.opmap["EXTENDED_ARG"]


def is_plain(code: CodeType, ours: frozenset[str] = frozenset()) -> bool:
    """Whether a module keeps to its own names: no classes, no attributes set, no private names, harmless imports only.

    `ours` are private names to let through.
    """
    for name in code.co_names:
        if name in _REACHING_OUT or (name.startswith("_") and name not in ours and len(name) > 1):
            return False
    instructions = code.co_code
    operations = instructions[::2]
    if not _CHANGING.isdisjoint(operations) or code.co_flags & _ASYNC:
        return False
    at = operations.find(_IMPORT)
    while at >= 0:
        if at and operations[at - 1] == _EXTENDED:
            return False
        if code.co_names[instructions[2 * at + 1]] not in _HARMLESS:
            return False
        at = operations.find(_IMPORT, at + 1)
    return all(is_plain(inner, ours) for inner in code.co_consts if isinstance(inner, CodeType))
