"""Reads JSON, JSONL and .gz of both into rows that know their place, so that every error names file and line."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from hardwon.errors import UsageError

_MEND = "give JSON, JSONL or a .gz of one"
_KINDS = {dict: "an object", list: "an array", str: "a text", bool: "true or false", type(None): "null"}


@dataclass(frozen=True, slots=True)
class Row:
    """One JSON object of a data file and where it is, as FILE:LINE."""

    place: str
    fields: Mapping[str, Any]

    def wrong(self, message: str) -> UsageError:
        """The error to raise for this row; `message` says what is wrong and how to mend it."""
        return UsageError(f"{self.place}: {message}")

    def text(self, name: str, *, required: bool = True, filled: bool = False) -> str | None:
        """The text in a field; None if an optional one is missing or null. Raises UsageError."""
        value = self.fields.get(name)
        if value is None and not required:
            return None
        if name not in self.fields:
            raise self.wrong(f"the field {name!r} is missing; add it")
        if not isinstance(value, str):
            raise self.wrong(f"{name!r} is {kind(value)}; give a text in quotes")
        if filled and not value.strip():
            raise self.wrong(f"{name!r} is empty; fill it in")
        if not is_unicode(value):
            raise self.wrong(f"{name!r} holds half of a surrogate pair; give whole characters")
        return value

    def need(self, name: str) -> str:
        """The text in a field that must be there and not be blank. Raises UsageError."""
        value = self.text(name, filled=True)
        assert value is not None
        return value

    def array(self, name: str, *, required: bool = False) -> list[Any]:
        """The array in a field; empty if an optional one is missing or null. Raises UsageError."""
        value = self.fields.get(name)
        if value is None and not required:
            return []
        if name not in self.fields:
            raise self.wrong(f"the field {name!r} is missing; add it")
        if not isinstance(value, list):
            raise self.wrong(f"{name!r} is {kind(value)}; give an array in [ ]")
        return value

    def only(self, known: Collection[str]) -> None:
        """Raises UsageError for a field that is not known, with the nearest known name."""
        for name in self.fields:
            if name not in known:
                near = get_close_matches(name, known, 1)
                hint = f"did you mean {near[0]!r}? " if near else ""
                raise self.wrong(f"unknown field {name!r}; {hint}the fields are {', '.join(known)}")


def kind(value: object) -> str:
    """What a JSON value is, in words."""
    return _KINDS.get(type(value), "a number")


def is_unicode(text: str) -> bool:
    """Whether a text can be written as UTF-8; JSON escapes can spell half a surrogate pair, which can not."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def read_rows(path: Path) -> list[Row]:
    """Every object in a file: one a line, or a JSON array of objects, or one JSON object.

    Blank lines and a byte order mark are skipped. Raises UsageError for a file that is missing, empty, not gzip (.gz),
    not UTF-8 or not JSON, and for anything else than an object.
    """
    lines = _lines(path)
    rows: list[Row] = []
    for number, line in lines:
        if not line.strip():
            continue
        if not rows and _opens_document(line, path):
            rest = "".join(text for _, text in lines)
            rows = _document("\n" * (number - 1) + line + rest, path)
        else:
            rows.append(_row(_decode(line, f"{path}:{number}"), f"{path}:{number}"))
    if not rows:
        raise UsageError(f"{path}:1: there is nothing in the file; put at least one task into it")
    return rows


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    """The lines with their numbers, decoded one at a time."""
    number = 0
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
            for number, raw in enumerate(file, 1):
                yield number, raw.decode("utf-8-sig" if number == 1 else "utf-8")
    except FileNotFoundError:
        raise UsageError(f"{path}: no such file; {_MEND}") from None
    except UnicodeDecodeError as error:
        raise UsageError(
            f"{path}:{number}: byte {error.start + 1} of the line is not UTF-8; save the file as UTF-8"
        ) from None
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise UsageError(
            f"{path}:{number + 1}: not gzip, or damaged ({error}); compress it again, or drop .gz from its name"
        ) from None
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}; {_MEND}") from error


def _opens_document(line: str, path: Path) -> bool:
    """Whether a first line begins a JSON document of many lines, or an array, and not a line of JSONL."""
    if line.lstrip().startswith("["):
        return True
    if ".json" not in path.suffixes or not line.lstrip().startswith("{"):
        return False
    try:
        json.loads(line)
    except ValueError:
        return True
    return False


def _document(text: str, path: Path) -> list[Row]:
    """The objects of a JSON document, each with the line on which it begins."""
    whole = _decode(text, f"{path}:", whole=True)
    position = _skip(text, 0)
    line = text.count("\n", 0, position) + 1
    if isinstance(whole, dict):
        return [_row(whole, f"{path}:{line}")]
    decoder = json.JSONDecoder(object_pairs_hook=_pairs)
    rows: list[Row] = []
    last, position = position, _skip(text, position + 1)
    while text[position] != "]":
        line += text.count("\n", last, position)
        value, end = decoder.raw_decode(text, position)
        rows.append(_row(value, f"{path}:{line}"))
        last, position = position, _skip(text, end)
        if text[position] == ",":
            position = _skip(text, position + 1)
    return rows


def _skip(text: str, position: int) -> int:
    while text[position].isspace():
        position += 1
    return position


def _decode(text: str, place: str, *, whole: bool = False) -> object:
    """`place` is FILE:LINE, or FILE: for a whole document, which knows its own lines."""
    try:
        return json.loads(text, object_pairs_hook=_pairs)
    except json.JSONDecodeError as error:
        where = f"{place}{error.lineno}" if whole else place
        raise UsageError(f"{where}: not JSON at column {error.colno} ({error.msg}); mend the line") from None
    except (ValueError, RecursionError) as error:
        where = f"{place}1" if whole else place
        raise UsageError(f"{where}: JSON that can not be used ({error}); mend it") from None


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the field {twice!r} is there twice")
    return fields


def _row(value: object, place: str) -> Row:
    if not isinstance(value, dict):
        raise UsageError(f"{place}: this is {kind(value)}; a task is an object in {{ }}")
    return Row(place, value)
