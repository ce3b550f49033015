"""One reply of a script: a text, or a text with calls of tools."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

from hardwon.errors import UsageError

_FIELDS = ("text", "tool_calls")
_CALL = ("name", "arguments")


@dataclass(frozen=True, slots=True)
class Reply:
    """A text, and calls as name and arguments; the arguments are JSON, or whatever the script has in its place."""

    text: str
    calls: tuple[tuple[str, str], ...]


def read_reply(value: object, place: str) -> str | Reply:
    """A reply as it stands in a script. Raises UsageError that names the place and the mend."""
    if isinstance(value, str):
        return value
    if not isinstance(value, Mapping):
        raise UsageError(f"{place}: want a text, not {kind_of(value)}; quote it")
    _only(value, _FIELDS, place)
    text, calls = value.get("text", ""), value.get("tool_calls", [])
    if not isinstance(text, str):
        raise UsageError(f"{place}.text: want a text, not {kind_of(text)}; quote it")
    if not isinstance(calls, list | tuple):
        raise UsageError(f"{place}.tool_calls: want a list, not {kind_of(calls)}; write [call, …]")
    return Reply(text, tuple(_call(call, f"{place}.tool_calls[{number}]") for number, call in enumerate(calls)))


def kind_of(value: object) -> str:
    """What a value is called in JSON, for a message."""
    names = {dict: "an object", list: "a list", str: "a text", bool: "a boolean", type(None): "null"}
    return names.get(type(value), "a number" if isinstance(value, int | float) else type(value).__name__)


def _call(call: object, place: str) -> tuple[str, str]:
    if not isinstance(call, Mapping):
        raise UsageError(f'{place}: want an object, not {kind_of(call)}; write {{"name": …, "arguments": {{…}}}}')
    _only(call, _CALL, place)
    name, arguments = call.get("name"), call.get("arguments", {})
    if not isinstance(name, str):
        raise UsageError(f"{place}.name: want a text, not {kind_of(name)}; name the tool")
    if not isinstance(arguments, str | Mapping):
        raise UsageError(f"{place}.arguments: want an object, not {kind_of(arguments)}; write {{…}}")
    return name, arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)


def _only(value: Mapping[str, object], known: tuple[str, ...], place: str) -> None:
    for key in value:
        if key not in known:
            raise UsageError(f"{place}: unknown field {key!r}; the fields are {' and '.join(known)}")
