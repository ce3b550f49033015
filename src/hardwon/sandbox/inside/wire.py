"""Plain data as JSON: the only language in which the checker and a candidate speak.

Values become JSON: lists are arrays, numbers, strings, True, False and None are themselves, everything else is an
object with one key, its tag. Nothing on the wire names code, so decoding a hostile message can at worst give wrong
data, which is what the tests are for.

The rule for what crosses:

* None, bool, int (of any size), float, complex, str, bytes, bytearray, list, tuple, dict, set, frozenset, range,
  deque, Decimal, Fraction, date, time, datetime, timedelta and the built-in types cross as themselves;
* instances of their subclasses cross as the plain base type, read by the base type's own methods: Counter, OrderedDict
  and defaultdict as dict, a named tuple as tuple, an IntEnum as int;
* a returned iterator (generator, map, zip, dict view...) is run to its end on the candidate's side and crosses as an
  iterator that equals nothing, at most `MAX_ITEMS` items of it;
* anything else is opaque: it crosses as its type's name alone (see `standins`).

Values nested deeper than `MAX_DEPTH`, or larger than a message may be (see `channel`), do not cross at all.
"""

from __future__ import annotations

import builtins
import importlib
import sys
from collections import deque
from collections.abc import Callable
from typing import Any

MAX_DEPTH = 200
MAX_ITEMS = 10_000

_PLAIN = frozenset({bool, type(None), float})
_INTS, _TEXTS, _NESTED = frozenset({int}), frozenset({str}), frozenset({list, dict})
_SMALL = 1 << 62
_TYPES = (
    bool, int, float, complex, str, bytes, bytearray, list, tuple, dict, set, frozenset, range, type(None), object,
    type,
)  # fmt: skip
_TYPE_NAMES = {t.__name__: t for t in _TYPES}
_EMPTY: dict[Any, Any] = {}
_VIEWS = (type(_EMPTY.keys()), type(_EMPTY.values()), type(_EMPTY.items()))


class CannotCross(Exception):
    """A value that the wall does not let through: too deep, too large, or (for arguments) not plain data."""


class Violation(Exception):
    """The other side sent something that is not a message of this protocol."""


def pack(value: Any, opaque: Callable[[Any], Any], depth: int = 0) -> Any:
    """Turns a value into JSON-ready data; `opaque` decides what stands for a value that is not plain data.

    Raises CannotCross when the value is nested too deep.
    """
    kind = type(value)
    if kind in _PLAIN:
        return value
    if kind is int:
        return value if -_SMALL < value < _SMALL else {"i": hex(value)}
    if kind is str:
        return _text(value)
    if depth >= MAX_DEPTH:
        raise CannotCross(f"a value nested deeper than {MAX_DEPTH} levels")
    below = depth + 1
    if kind is list:
        return _row(value, opaque, below)
    if kind is tuple:
        return {"t": _row(value, opaque, below)}
    if kind is dict:
        return {"d": [[pack(k, opaque, below), pack(v, opaque, below)] for k, v in value.items()]}
    return _rarer(value, kind, opaque, below)


def _row(items: Any, opaque: Callable[[Any], Any], below: int) -> list[Any]:
    """The packed items of a list or tuple; rows of small numbers or plain texts, the usual case, stay as they are."""
    kinds = set(map(type, items))
    if kinds <= _PLAIN:
        return list(items)
    if kinds == _INTS:
        if max(items) < _SMALL and min(items) > -_SMALL:
            return list(items)
    elif kinds == _TEXTS and all(map(str.isascii, items)):
        return list(items)
    return [pack(item, opaque, below) for item in items]


def _text(value: str) -> Any:
    if not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError:  # JSON would join a pair of lone surrogates into one character
            return {"s": [ord(c) for c in value]}
    return value


def _rarer(value: Any, kind: type, opaque: Callable[[Any], Any], below: int) -> Any:
    """The types that are seldom seen, and subclasses, read by their base type's own methods."""

    def many(items: Any) -> list[Any]:
        return [pack(item, opaque, below) for item in items]

    if issubclass(kind, int):
        return pack(int.__add__(value, 0), opaque, below)
    if issubclass(kind, float):
        return float.__add__(value, 0.0) if float.__ne__(value, 0.0) else float.__pos__(value)
    if issubclass(kind, str):
        return _text(str.__str__(value))
    if issubclass(kind, list):
        return many(list.__iter__(value))
    if issubclass(kind, tuple):
        return {"t": many(tuple.__iter__(value))}
    if issubclass(kind, dict):
        pairs = dict.items(value)
        return {"d": [[pack(k, opaque, below), pack(v, opaque, below)] for k, v in pairs]}
    if issubclass(kind, frozenset):
        return {"F": many(frozenset.__iter__(value))}
    if issubclass(kind, set):
        return {"S": many(set.__iter__(value))}
    if issubclass(kind, complex):
        return {"c": [value.real, value.imag]}
    if issubclass(kind, bytes):
        return {"b": bytes.hex(value)}
    if issubclass(kind, bytearray):
        return {"B": bytearray.hex(value)}
    if kind is range:
        return {"r": many((value.start, value.stop, value.step))}
    if issubclass(kind, deque):
        return {"q": [many(deque.__iter__(value)), value.maxlen]}
    made = _of_library(value, kind, many)
    if made is not None:
        return made
    if kind is type and value in _TYPES:
        return {"T": value.__name__}
    if value is Ellipsis or value is NotImplemented:
        return {"k": "Ellipsis" if value is Ellipsis else "NotImplemented"}
    return opaque(value)


def _of_library(value: Any, kind: type, many: Callable[[Any], list[Any]]) -> Any:
    """Numbers and dates of the standard library, whose modules are not loaded here for their sake."""

    def is_a(module: str, *names: str) -> bool:
        return module in sys.modules and any(kind is getattr(sys.modules[module], name, None) for name in names)

    if is_a("decimal", "Decimal"):
        return {"D": str(value)}
    if is_a("fractions", "Fraction"):
        return {"f": many((value.numerator, value.denominator))}
    if is_a("datetime", "datetime", "date", "time"):
        return {"iso": [kind.__name__, value.isoformat()]}
    if is_a("datetime", "timedelta"):
        return {"td": [value.days, value.seconds, value.microseconds]}
    return None


def _library(module: str, name: str) -> Any:
    return getattr(importlib.import_module(module), name)


def pack_iterator(value: Any, opaque: Callable[[Any], Any]) -> Any:
    """Packs an iterator or a dict view by running it; None when `value` is neither.

    The packed form is `{"it": [type name, items, complete]}`; an exception of the iterator itself is passed on.
    """
    kind = type(value)
    if kind in _PLAIN or kind in _TYPES:
        return None
    if not (isinstance(value, _VIEWS) or (hasattr(kind, "__next__") and hasattr(kind, "__iter__"))):
        return None
    items: list[Any] = []
    for item in value:
        if len(items) >= MAX_ITEMS:
            return {"it": [kind.__name__, items, False]}
        items.append(pack(item, opaque, 1))
    return {"it": [kind.__name__, items, True]}


def unpack(data: Any, standin: Callable[[str, Any], Any], depth: int = 0) -> Any:
    """The inverse of `pack`; `standin(tag, content)` makes what stands for iterators ("it") and opaque values ("o").

    Raises Violation for anything that `pack` does not make.
    """
    kind = type(data)
    if kind not in _NESTED:
        return data
    if depth > MAX_DEPTH:
        raise Violation("a message nested too deep")
    if kind is list:
        if _NESTED.isdisjoint(map(type, data)):
            return data[:]
        return [unpack(x, standin, depth + 1) if type(x) in _NESTED else x for x in data]
    if len(data) != 1:
        raise Violation("a value with other than one tag")
    ((tag, content),) = data.items()
    try:
        return _tagged(tag, content, standin, depth)
    except Violation:
        raise
    except (TypeError, ValueError, ArithmeticError, LookupError, AttributeError) as error:
        raise Violation(f"a bad value of tag {tag[:8]!r}: {type(error).__name__}") from None


def _tagged(tag: str, content: Any, standin: Callable[[str, Any], Any], depth: int) -> Any:
    below = depth + 1
    match tag:
        case "t":
            return tuple(_items(content, standin, below))
        case "d":
            return {unpack(k, standin, below): unpack(v, standin, below) for k, v in content}
        case "S":
            return set(_items(content, standin, below))
        case "F":
            return frozenset(_items(content, standin, below))
        case "i":
            return int(_str(content), 16)
        case "s":
            return "".join(map(chr, content))
        case "b":
            return bytes.fromhex(content)
        case "B":
            return bytearray.fromhex(content)
        case "c":
            return complex(float(content[0]), float(content[1]))
        case "r":
            return range(*_items(content, standin, below))
        case "q":
            return deque(_items(content[0], standin, below), content[1])
        case "D":
            return _library("decimal", "Decimal")(_str(content))
        case "f":
            return _library("fractions", "Fraction")(*_items(content, standin, below))
        case "iso":
            name = {"datetime": "datetime", "date": "date", "time": "time"}[content[0]]
            return _library("datetime", name).fromisoformat(content[1])
        case "td":
            return _library("datetime", "timedelta")(*content)
        case "T":
            return _TYPE_NAMES[content]
        case "k":
            return {"Ellipsis": Ellipsis, "NotImplemented": NotImplemented}[content]
        case "it":
            name, items, complete = content
            return standin("it", (_str(name)[:80], _items(items, standin, below), bool(complete)))
        case "o" | "g":
            return standin(tag, _str(content)[:80])
    raise Violation(f"an unknown tag {tag[:8]!r}")


def _items(content: Any, standin: Callable[[str, Any], Any], depth: int) -> list[Any]:
    if type(content) is not list:
        raise Violation("items that are not a list")
    found: list[Any] = unpack(content, standin, depth)
    return found


def _str(content: Any) -> str:
    if type(content) is not str:
        raise Violation("a text was expected")
    return content


def builtin_name(value: Any) -> str | None:
    """The name of a built-in function or exception type, which tests may hand to a candidate; None for others."""
    name = getattr(value, "__name__", None)
    if isinstance(name, str) and getattr(builtins, name, None) is value:
        return name
    return None
