"""A comparison as text: tables for reading in 80 columns, Markdown for pasting, JSON for programs."""

from __future__ import annotations

import html
import json
import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

from hardwon.runs.comparison.result import Comparison
from hardwon.runs.comparison.tables import Table, tables, title

_WIDTH = 80


def as_table(config: Mapping[str, Any], comparison: Comparison) -> str:
    """Plain text, one arm a line."""
    blocks = [title(config, comparison), *(_plain(table) for table in tables(comparison))]
    if sentences := [found.sentence for found in comparison.differences]:
        blocks.append("\n".join(_wrapped(sentence) for sentence in sentences))
    if comparison.remarks:
        blocks.append("\n".join(_wrapped(remark) for remark in comparison.remarks))
    return "\n\n".join(blocks)


def as_markdown(config: Mapping[str, Any], comparison: Comparison) -> str:
    """Markdown tables, one arm a row, the verdicts and remarks as lists."""
    blocks = [f"### {_safe(title(config, comparison))}"]
    for table in tables(comparison):
        rows = [" | ".join(_safe(cell) for cell in row) for row in (table.header, *table.rows)]
        rule = " | ".join(["---", *["---:" for _ in table.header[1:]]])
        blocks.append(
            f"**{_safe(table.caption)}**\n\n| {rows[0]} |\n| {rule} |\n" + "\n".join(f"| {r} |" for r in rows[1:])
        )
    for lines in ([found.sentence for found in comparison.differences], comparison.remarks):
        if lines:
            blocks.append("\n".join(f"- {_safe(line)}" for line in lines))
    return "\n\n".join(blocks)


def as_json(config: Mapping[str, Any], comparison: Comparison) -> str:
    """Everything the other forms show, and the settings."""
    report = {"settings": config.get("settings", {}), **comparison.as_json()}
    return json.dumps(report, indent=2, ensure_ascii=False, allow_nan=False)


def _plain(table: Table) -> str:
    lines = (table.header, *table.rows)
    widths = [max(len(line[i]) for line in lines) for i in range(len(table.header))]
    return "\n".join([_wrapped(f"{table.caption}:"), *(_line(line, widths) for line in lines)])


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    first, *rest = [
        cell.rjust(width) if i else cell.ljust(width) for i, (cell, width) in enumerate(zip(cells, widths, strict=True))
    ]
    return "  ".join([first, *rest]).rstrip()


def _wrapped(sentence: str) -> str:
    return textwrap.fill(sentence, _WIDTH, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)


def _safe(text: str) -> str:
    return html.escape(" ".join(text.split()), quote=False).replace("|", "\\|")
