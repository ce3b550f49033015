"""Reads git diffs as text: which files each part of one changes, and a diff without some of them."""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

_HEADER = re.compile(r"^diff --git ", re.MULTILINE)
_BODY = re.compile(r"^(?:@@ |GIT binary patch$|Binary files )", re.MULTILINE)
_NAMED = re.compile(r"^(?:--- |\+\+\+ |(?:rename|copy) (?:from|to) )(.*?)\t?$", re.MULTILINE)
_TEST = re.compile(r"(?:^|/)(?:tests?/.*|__tests__/.*|test_[^/]*|[^/]*_test\.\w+|[^/]*\.(?:test|spec)\.\w+)$")


@dataclass(frozen=True, slots=True)
class FileChange:
    """The part of a diff about one file: the paths it names (two where it was renamed), and whether it makes the file.

    `text` is the part itself, ending in a line end.
    """

    paths: frozenset[str]
    text: str
    new: bool


def changes(diff: str) -> tuple[FileChange, ...]:
    """The parts of a diff in the form that `git diff` writes; what stands before the first is left out."""
    starts = [found.start() for found in _HEADER.finditer(diff)]
    parts = [diff[start:end] for start, end in pairwise([*starts, len(diff)])]
    return tuple(_change(part if part.endswith("\n") else part + "\n") for part in parts)


def only(diff: str, wanted: Callable[[FileChange], bool]) -> str:
    """The diff with those parts alone that are wanted."""
    return "".join(change.text for change in changes(diff) if wanted(change))


def paths_of(diff: str) -> frozenset[str]:
    """Every path that a diff names."""
    return frozenset().union(*(change.paths for change in changes(diff)))


def looks_like_test(path: str) -> bool:
    """Whether a path is that of a test by the habits of pytest, unittest, Go and JavaScript."""
    return _TEST.search(path) is not None


def _change(part: str) -> FileChange:
    body = _BODY.search(part)
    head = part[: body.start()] if body else part
    first, _, rest = head.partition("\n")
    named = {path for text in _NAMED.findall(rest) if (path := _path(text)) is not None}
    new = re.search(r"^new file mode ", rest, re.MULTILINE) is not None
    return FileChange(frozenset(named or _of_header(first.removeprefix("diff --git "))), part, new)


def _path(text: str) -> str | None:
    """The path in `a/PATH`, `b/PATH`, a bare or a quoted one; None for /dev/null."""
    plain = _unquoted(text)
    if plain == "/dev/null":
        return None
    return plain[2:] if plain.startswith(("a/", "b/")) else plain


def _of_header(names: str) -> set[str]:
    """The path in `a/PATH b/PATH`, where nothing else names it: an empty file, a change of mode, a binary one."""
    if names.endswith('"'):
        return {_unquoted(f'"{names[:-1].rpartition(chr(34))[2]}"')[2:]}
    return {names[len(names) // 2 + 1 :].removeprefix("b/")}


def _unquoted(text: str) -> str:
    """Git quotes paths with odd characters as C does."""
    if len(text) < 2 or not (text.startswith('"') and text.endswith('"')):
        return text
    raw, _ = codecs.escape_decode(text[1:-1].encode())
    return bytes(raw).decode("utf-8", "replace")
