"""What the checker holds in place of values that could not cross the wall as data.

An `Opaque` equals nothing, and touching it in any way that Python lets a class notice raises `OpaqueValue`. What can
not be noticed (`is`, `id`, `type`) is covered by the recorder: once an opaque value has crossed, no check passes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NoReturn


class OpaqueValue(Exception):
    """A test touched a value that could not cross the wall."""


class CandidateError(Exception):
    """An exception of the candidate whose type the tests can not know."""


class RemoteIterator:
    """An iterator that the candidate returned, already run to its end on the candidate's side. Equals nothing."""

    def __init__(self, name: str, items: list[Any], complete: bool) -> None:
        self._name, self._items, self._complete = name, iter(items), complete

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        for item in self._items:
            return item
        if not self._complete:
            raise OpaqueValue(f"the candidate's {self._name} goes on beyond what is taken over the wall")
        raise StopIteration

    def __repr__(self) -> str:
        return f"<{self._name} of the candidate>"


def _raises(self: object, *_args: Any, **_kwargs: Any) -> NoReturn:
    name = object.__getattribute__(self, "_name")
    raise OpaqueValue(f"the candidate returned a value of type {name}, which cannot cross the wall as plain data")


class Opaque:
    """A value that is not plain data: a class instance, a function, a module."""

    __slots__ = ("_name",)

    def __init__(self, name: str) -> None:
        object.__setattr__(self, "_name", name)

    __class__ = property(_raises)  # what isinstance asks


def describe(value: Any) -> str | None:
    """How to show a stand-in, None for anything else; never touches an opaque value."""
    if type(value) is Opaque:
        return f"<a value of type {object.__getattribute__(value, '_name')} that cannot cross the wall>"
    return None


_BINARY = "add sub mul matmul truediv floordiv mod divmod pow lshift rshift and or xor"
_TOUCHES = (
    "eq ne lt le gt ge hash bool len iter next call contains getitem setitem delitem getattribute setattr delattr "
    "str repr format bytes int float complex index neg pos abs invert round trunc floor ceil enter exit await aiter "
    "reversed copy deepcopy reduce reduce_ex sizeof dir length_hint fspath iadd isub imul iand ior ixor"
)
for _touch in [*_TOUCHES.split(), *_BINARY.split(), *(f"r{name}" for name in _BINARY.split())]:
    setattr(Opaque, f"__{_touch}__", _raises)


def standin_maker(crossed: Callable[[str], None]) -> Callable[[str, Any], Any]:
    """What `wire.unpack` asks for stand-ins; `crossed` hears the type name of each opaque value."""

    def make(tag: str, content: Any) -> Any:
        if tag == "it":
            return RemoteIterator(*content)
        crossed(content)
        return Opaque(content)

    return make
