"""Shows what a run folder came to: one arm's summary, or the comparison where there are several."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import typer

from hardwon.cli.plain import one_line, printable
from hardwon.errors import UsageError
from hardwon.runs.folder import write_text
from hardwon.runs.row import Row

TEXTS = ("table", "json", "markdown")
FILES = ("html", "png", "svg")
_WIDE = 80
"""A comparison's tables want so many columns."""


def check_form(form: str, arms: int) -> None:
    """Raises UsageError for a format that is unknown, or that draws what one arm alone does not have."""
    if form not in (*TEXTS, *FILES):
        raise UsageError(f"--format {form}: unknown; choose {', '.join((*TEXTS, *FILES))}")
    if form in ("png", "svg") and arms < 2:
        raise UsageError(
            f"--format {form}: draws the curves of several arms, and this run has one; use hardwon compare"
        )


def show(folder: Path, config: Mapping[str, Any], rows: Sequence[Row], form: str, output: Path | None = None) -> None:
    """Prints a text form, or writes a file form to `output` (default: into the run folder) and prints where it is."""
    arms = config.get("settings", {}).get("arms", {})
    check_form(form, len(arms))
    shown = _comparison if len(arms) > 1 else _summaries
    text = shown(folder, config, rows, form, output)
    typer.echo(printable(text) if form in ("table", "markdown") else text)


def _summaries(folder: Path, config: Mapping[str, Any], rows: Sequence[Row], form: str, output: Path | None) -> str:
    from hardwon.runs import report
    from hardwon.runs.page import as_html
    from hardwon.runs.report_exits import read_exits
    from hardwon.runs.summary import summarise

    if form == "html":
        path = output or folder / "report.html"
        write_text(path, as_html(config, rows, read_exits(folder, rows)))
        return str(path)
    summaries, exits = summarise(rows), read_exits(folder, rows)
    if form == "json":
        return report.as_json(config, summaries, exits)
    summaries = [replace(summary, arm=one_line(summary.arm)) for summary in summaries]
    exits = [replace(each, arm=one_line(each.arm)) for each in exits]
    if form == "markdown":
        return report.as_markdown(config, summaries, exits)
    return report.as_table(config, summaries, exits, terminal_width())


def _comparison(folder: Path, config: Mapping[str, Any], rows: Sequence[Row], form: str, output: Path | None) -> str:
    from hardwon.runs import comparison as c
    from hardwon.runs.report_exits import exit_items, exit_lines, json_with_exits, read_exits
    from hardwon.runs.report_narrow import as_narrow_table

    baseline = config.get("about", {}).get("baseline") or next(iter(config["settings"]["arms"]))
    budget = config["settings"]["budget"]
    if form in FILES:
        path, compared = output or folder / f"comparison.{form}", c.compare(rows, baseline, budget)
        if form == "html":
            write_text(path, c.as_html(config, compared, read_exits(folder, rows)))
        else:
            c.draw(compared, path)
        return str(path)
    exits = read_exits(folder, rows)
    if form == "json":
        text = c.as_json(config, c.compare(rows, baseline, budget))
        return json_with_exits(text, exits) if exits else text
    compared = c.compare([replace(row, arm=one_line(row.arm)) for row in rows], one_line(baseline), budget)
    exits = [replace(each, arm=one_line(each.arm)) for each in exits]
    if form == "markdown":
        return "\n".join([c.as_markdown(config, compared), *exit_items(exits)])
    width = terminal_width()
    wide = width is None or width >= _WIDE
    text = c.as_table(config, compared) if wide else as_narrow_table(config, compared, width or _WIDE)
    return "\n".join([text, *exit_lines(exits, width)])


def terminal_width() -> int | None:
    """The columns of the terminal that is written to; None where lines may be of any length, as in a pipe."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None
