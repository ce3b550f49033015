"""What `hardwon bank prove` adds to a comparison: the effect of each item."""

from __future__ import annotations

import json
from pathlib import Path

import typer

from hardwon.cli.bank_view import said
from hardwon.cli.plain import one_line
from hardwon.runs.folder import write_text
from hardwon.runs.journal import FILE, Journal
from hardwon.runs.proof import prove

EFFECTS = "effects.json"
_MOST = 20


def show_effects(out: Path, form: str) -> None:
    """Writes the effects into the run folder, and prints them below a table."""
    journal = Journal(out / FILE, read_only=True)
    try:
        proof = prove(journal)
    finally:
        journal.close()
    write_text(out / EFFECTS, json.dumps(proof.as_json(), indent=2, ensure_ascii=False) + "\n")
    if form not in ("table", "markdown"):
        return
    typer.echo("\nItems of the bank, on the hidden grader's word:")
    for title, effect in sorted(proof.items, key=lambda pair: -pair[1].shown.of)[:_MOST]:
        typer.echo(f"- {effect.item_id}  {said(effect)}  {one_line(title, 60)}")
    if len(proof.items) > _MOST:
        typer.echo(f"- and {len(proof.items) - _MOST} more, in {out / EFFECTS}")
    typer.echo(proof.sentence[:1].upper() + proof.sentence[1:])
