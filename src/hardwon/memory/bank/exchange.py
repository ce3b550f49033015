"""A bank as a text: JSONL, one item a line, that another bank takes in; and Markdown to be read."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path

from hardwon.errors import UsageError
from hardwon.memory.bank.item import Item

_LONGEST_LINE = 64 << 10


def jsonl(items: Iterable[Item]) -> str:
    return "".join(json.dumps(item.as_json(), ensure_ascii=False) + "\n" for item in items)


def markdown(items: Sequence[Item]) -> str:
    """Every item with its texts and where it comes from; lines of an item are quoted."""
    parts = [f"# Reasoning bank: {len(items)} item{'' if len(items) == 1 else 's'}"]
    for item in items:
        origin = item.provenance
        parts.append(f"## {' '.join(item.title.split())}")
        if item.description:
            parts.append(_quoted(item.description))
        parts.append(_quoted(item.content))
        facts = [("Applies", item.applies), ("Not for", item.avoid)]
        facts += [("Label", f"{item.label} (by {item.labelled_by})"), ("State", item.state), ("Id", item.id)]
        facts += [("From", f"{origin.task}, trial {origin.trial}" if origin.task else "")]
        facts += [("Evidence", ", ".join(origin.evidence))]
        parts.append("\n".join(f"- {name}: {' '.join(text.split())}" for name, text in facts if text))
    return "\n\n".join(parts) + "\n"


def read_jsonl(path: Path) -> list[Item]:
    """The items of a file that `jsonl` wrote. Raises UsageError that names the line: all of it is taken in, or nothing.

    An item without an id gets one; the same id on two lines is refused.
    """
    try:
        lines = path.read_text(encoding="utf-8").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path}: can not be read ({error}); give a JSONL file of items") from error
    found: dict[str, int] = {}
    items = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            if len(line) > _LONGEST_LINE:
                raise UsageError(f"{len(line)} characters; at most {_LONGEST_LINE} are read")
            item = Item.from_json(json.loads(line))
        except (UsageError, ValueError, RecursionError) as error:
            raise UsageError(f"{path}:{number}: {error}; mend the line") from error
        if item.id in found:
            raise UsageError(f"{path}:{number}: id {item.id} is on line {found[item.id]} too; give each item its own")
        found[item.id] = number
        items.append(item)
    return items


def _quoted(text: str) -> str:
    return "\n".join(f"> {line}".rstrip() for line in text.splitlines())
