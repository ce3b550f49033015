"""What `hardwon bank` shows."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import typer

from hardwon.cli.banking import embedder_named
from hardwon.cli.plain import one_line, printable
from hardwon.memory.bank.credit import Effect
from hardwon.memory.bank.curation import current, find, measured
from hardwon.memory.bank.item import Item, State
from hardwon.memory.bank.place import open_bank
from hardwon.memory.bank.retrieval import Index, Limits, Query
from hardwon.memory.bank.store import Bank


@contextmanager
def opened(place: str | None, *, make: bool = False) -> Iterator[Bank]:
    """The bank, which is made where it is missing only if `make`."""
    bank = open_bank(place, make=make)
    try:
        yield bank
    finally:
        bank.close()


def list_items(place: str | None, state: State | None, as_json: bool) -> None:
    with opened(place) as bank:
        items = [item for item in current(bank) if state in (None, item.state)]
        known = measured(bank)
    if as_json:
        _print([{**item.as_json(), "effect": _effect_json(known.get(item.id))} for item in items])
        return
    for item in items:
        typer.echo(
            f"{one_line(item.id)}  {item.state:<11}  {item.label:<7}  {_lift(known.get(item.id)):>16}  "
            f"{one_line(item.title, 70)}"
        )
    if not items:
        typer.echo("no items")


def show_item(place: str | None, item_id: str, as_json: bool) -> None:
    with opened(place) as bank:
        item = find(bank, item_id)
        effect = measured(bank).get(item.id)
        history = bank.history(item.id)
    told = [{"seq": r.seq, "at": r.at, "reason": r.reason, "state": r.item and r.item.state} for r in history]
    if as_json:
        _print({**item.as_json(), "effect": _effect_json(effect), "history": told})
        return
    origin = item.provenance
    for name, text in (
        ("", f"{item.title} ({one_line(item.id)})"),
        ("", item.description),
        ("", item.content),
        ("applies", item.applies),
        ("not for", item.avoid),
        ("state", item.state),
        ("label", f"{item.label}, by {item.labelled_by}"),
        ("scope", " ".join(filter(None, (item.scope.suite, item.scope.kind, item.scope.repository, *item.scope.tags)))),
        ("from", f"run {origin.run}, {origin.arm}, task {origin.task}, trial {origin.trial}" if origin.task else ""),
        ("evidence", ", ".join(origin.evidence)),
        ("supersedes", ", ".join(item.supersedes)),
        ("effect", said(effect)),
        ("history", "; ".join(f"{entry['seq']}: {entry['reason']}" for entry in told)),
    ):
        if text:
            typer.echo(f"{name}: {one_line(text, 2000)}" if name else printable(text))


def search_items(place: str | None, query: Query, most: int, embedder: str | None, as_json: bool) -> None:
    with opened(place) as bank:
        index = Index(bank, bank.head(), embedder_named(embedder))
        found = index.search(query, Limits(most=most, tokens=500 * most))
    if as_json:
        _print(
            [
                {"item": f.item.id, "title": f.item.title, "score": f.score, "meaning": f.meaning}
                | {"by_words": f.by_words, "words": f.words}
                for f in found
            ]
        )
        return
    for f in found:
        meaning = "" if f.meaning is None else f", meaning {f.meaning:.2f}"
        words = one_line(", ".join(f.words))
        typer.echo(
            f"{one_line(f.item.id)}  {f.score:.2f} (words {f.by_words:.2f}{meaning}: {words})  {one_line(f.item.title)}"
        )
    if not found:
        typer.echo("nothing relevant")


def show_stats(place: str | None, as_json: bool) -> None:
    with opened(place) as bank:
        items = current(bank)
        known = measured(bank)
        episodes, uses = bank.counts()
        head, name, nearness = bank.head(), bank.name, bank.nearness()
    told = {
        "bank": name,
        "snapshot": head,
        "items": dict(Counter(item.state for item in items)),
        "labels": dict(Counter(item.label for item in items)),
        "episodes": episodes,
        "uses": uses,
        "embeddings_compared": nearness,
        "effects": [effect.as_json() for effect in known.values()],
        "verdicts": dict(Counter(effect.word for effect in known.values())),
    }
    if as_json:
        _print(told)
        return
    typer.echo(f"{name}, snapshot {head}: {len(items)} items{_counted(told['items'])}")
    typer.echo(f"embeddings are compared {nearness}")
    typer.echo(f"{episodes} tasks worked with it, {uses} recalls{_counted(told['verdicts'])}")
    titles: dict[str, Item] = {item.id: item for item in items}
    for effect in sorted(known.values(), key=lambda e: -abs(e.lift or 0))[:20]:
        title = titles[effect.item_id].title if effect.item_id in titles else "(gone)"
        typer.echo(f"{one_line(effect.item_id)}  {said(effect)}  {one_line(title, 60)}")


def _counted(counts: Any) -> str:
    return f" ({', '.join(f'{count} {name}' for name, count in sorted(counts.items()))})" if counts else ""


def _lift(effect: Effect | None) -> str:
    if effect is None or effect.lift is None:
        return "not measured"
    low, high = effect.interval
    return f"{100 * effect.lift:+.0f} ({100 * low:+.0f}..{100 * high:+.0f})"


def said(effect: Effect | None) -> str:
    """An effect in words and numbers."""
    if effect is None:
        return "never recalled"
    counts = f"(shown {effect.shown.hits}/{effect.shown.of}, withheld {effect.withheld.hits}/{effect.withheld.of})"
    if effect.lift is None:
        return f"not measured {counts}"
    tokens = "" if effect.tokens is None else f", {effect.tokens:+.0f} tokens"
    return f"{effect.word}: {_lift(effect)} points of success{tokens} {counts}"


def _effect_json(effect: Effect | None) -> dict[str, Any] | None:
    return None if effect is None else effect.as_json()


def _print(value: object) -> None:
    typer.echo(json.dumps(value, indent=2, ensure_ascii=False))
