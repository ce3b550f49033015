"""What `hardwon bank` changes; each command is one transaction, and says what it did."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal

import typer

from hardwon.cli.bank_view import opened
from hardwon.cli.plain import one_line
from hardwon.errors import UsageError
from hardwon.memory.bank import exchange
from hardwon.memory.bank.curation import apply, current, find, merge, review
from hardwon.memory.bank.item import Item, Scope, State
from hardwon.runs.folder import write_text

Texts = Mapping[str, str | None]


def add_item(place: str | None, texts: Texts, scope: Scope) -> None:
    given = {name: text or "" for name, text in texts.items()}
    item = Item(**given, labelled_by="user", state="active", scope=scope)  # type: ignore[arg-type]
    with opened(place, make=True) as bank:
        if any(other.id == item.id for other in current(bank)):
            raise UsageError(f"the bank has this item already ({item.id}); edit it instead")
        bank.write([item], "added by the user")
    typer.echo(f"added {item.id}")


def edit_item(place: str | None, item_id: str, texts: Texts) -> None:
    given = {name: text for name, text in texts.items() if text is not None}
    if not given:
        raise UsageError("edit: nothing to change; give --title, --description, --content, --applies or --not-for")
    with opened(place) as bank:
        item = replace(find(bank, item_id), **given)  # type: ignore[arg-type]
        bank.write([item], f"edited: {', '.join(given)}")
    typer.echo(f"edited {item.id}")


def set_state(place: str | None, item_id: str, state: State) -> None:
    with opened(place) as bank:
        item = find(bank, item_id)
        bank.write([replace(item, state=state)], f"{state} by the user")
    typer.echo(f"{item.id} is {state} (was {item.state})")


def merge_items(place: str | None, ids: Sequence[str]) -> None:
    with opened(place) as bank:
        merged = merge([find(bank, item_id) for item_id in ids])
        bank.write(merged, f"merged into {merged[0].id}")
    typer.echo(f"{merged[0].id} supersedes {', '.join(item.id for item in merged[1:])}")


def review_items(place: str | None, make: bool, as_json: bool) -> None:
    with opened(place) as bank:
        findings = review(bank)
        changed = apply(bank, findings) if make else 0
    if as_json:
        told = [
            {"item": f.item.id, "kind": f.kind, "reason": f.reason, "change": f.change, "other": f.other and f.other.id}
            for f in findings
        ]
        typer.echo(json.dumps(told, indent=2, ensure_ascii=False))
        return
    for f in findings:
        change = f"  {f.item.state} to {f.change}" if f.change else ""
        typer.echo(f"{f.item.id}  {f.kind}: {one_line(f.reason)}{change}  {one_line(f.item.title, 60)}")
    waiting = sum(f.change is not None or f.kind == "duplicate" for f in findings)
    typer.echo(f"{changed} items changed" if make else f"{len(findings)} findings; --apply acts on {waiting}")


def roll_back(place: str | None, snapshot: int) -> None:
    with opened(place) as bank:
        before = bank.head()
        after = bank.rollback(snapshot)
    typer.echo(f"the bank holds what it held at {snapshot}; rollback {before} undoes this (now at {after})")


def export_items(place: str | None, out: Path | None, form: Literal["jsonl", "markdown"], at: int | None) -> None:
    with opened(place) as bank:
        if at is not None and at > bank.head():
            raise UsageError(f"--at {at}: the bank's last snapshot is {bank.head()}")
        items = [revision.item for revision in bank.scan(at) if revision.item is not None]
    text = exchange.jsonl(items) if form == "jsonl" else exchange.markdown(items)
    if out is None:
        typer.echo(text, nl=False)
        return
    write_text(out, text)
    typer.echo(f"{len(items)} items written to {out}")


def import_items(place: str | None, path: Path) -> None:
    items = exchange.read_jsonl(path)
    with opened(place, make=True) as bank:
        known = {item.id: item for item in current(bank)}
        clash = next((item.id for item in items if item.id in known and known[item.id].said != item.said), None)
        if clash is not None:
            raise UsageError(f"{path}: id {clash} is another item of this bank; take the id out, or edit that item")
        fresh = [item for item in items if item.id not in known]
        if fresh:
            bank.write(fresh, f"imported from {one_line(path.name)}")
    typer.echo(f"{len(fresh)} items imported, {len(items) - len(fresh)} were there already")
    for item in items:
        here = known.get(item.id, item)
        for name in ("state", "label"):
            if getattr(here, name) != getattr(item, name):
                typer.echo(f"{item.id}: {name} stays {getattr(here, name)}; the file has {getattr(item, name)}")
