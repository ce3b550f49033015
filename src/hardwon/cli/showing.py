"""Shows what a run folder came to: one arm's summary, or the comparison where there are several."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import typer

from hardwon.errors import UsageError
from hardwon.runs.folder import write_text
from hardwon.runs.row import Row

TEXTS = ("table", "json", "markdown")
FILES = ("html", "png", "svg")


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
    if len(arms) > 1:
        text = _comparison(folder, config, rows, form, output)
    else:
        text = _summaries(folder, config, rows, form, output)
    typer.echo(text)


def _summaries(folder: Path, config: Mapping[str, Any], rows: Sequence[Row], form: str, output: Path | None) -> str:
    from hardwon.runs import report
    from hardwon.runs.page import as_html
    from hardwon.runs.summary import summarise

    if form == "html":
        path = output or folder / "report.html"
        write_text(path, as_html(config, rows))
        return str(path)
    summaries = summarise(rows)
    faces = {"table": report.as_table, "json": report.as_json, "markdown": report.as_markdown}
    return faces[form](config, summaries)


def _comparison(folder: Path, config: Mapping[str, Any], rows: Sequence[Row], form: str, output: Path | None) -> str:
    from hardwon.runs import comparison as c

    baseline = config.get("about", {}).get("baseline") or next(iter(config["settings"]["arms"]))
    compared = c.compare(rows, baseline, config["settings"]["budget"])
    if form in FILES:
        path = output or folder / f"comparison.{form}"
        if form == "html":
            write_text(path, c.as_html(config, compared))
        else:
            c.draw(compared, path)
        return str(path)
    faces = {"table": c.as_table, "json": c.as_json, "markdown": c.as_markdown}
    return faces[form](config, compared)
