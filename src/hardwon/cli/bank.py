"""`hardwon bank`: look into the reasoning bank, and keep it in order."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hardwon.cli import options as o
from hardwon.cli.bank_prove import prove

bank = typer.Typer(no_args_is_help=True, help="The reasoning bank: lessons that outlive their task, and their effect.")

bank.command()(prove)

ItemId = Annotated[str, typer.Argument(metavar="ITEM", help="An item's id, or how it begins.")]
Off = Annotated[bool, typer.Option("--off", help="Make it an active item again.")]
Title = Annotated[str | None, typer.Option("--title", help="A few words.")]
Description = Annotated[str | None, typer.Option("--description", help="One sentence that says what it is.")]
Content = Annotated[str | None, typer.Option("--content", help="What to do, and why.")]
Applies = Annotated[str | None, typer.Option("--applies", help="When it applies.")]
Avoid = Annotated[str | None, typer.Option("--not-for", help="When it does not.")]
Tags = Annotated[list[str] | None, typer.Option("--tag", help="A word of your own; may be given several times.")]
Kind = Annotated[str, typer.Option("--kind", help="function, stdio, text, question, game or repository.")]
Repository = Annotated[str, typer.Option("--repository", metavar="OWNER/NAME", help="The repository it is about.")]


@bank.command("list")
def list_items(
    state: Annotated[str | None, typer.Option("--state", help="Only items in this state.")] = None,
    place: o.BankPlace = None,
    as_json: o.Json = False,
) -> None:
    """List the items: id, state, label, measured effect, title."""
    from hardwon.cli.bank_view import list_items

    list_items(place, o.one_of("--state", state, o.STATES), as_json)


@bank.command()
def show(item: ItemId, place: o.BankPlace = None, as_json: o.Json = False) -> None:
    """Show an item: its texts, what it rests on, its measured effect, its history."""
    from hardwon.cli.bank_view import show_item

    show_item(place, item, as_json)


@bank.command()
def search(
    text: Annotated[str, typer.Argument(help="A task's text, or any words.")],
    recall: Annotated[int, typer.Option("--recall", min=1, help="At most so many.")] = 5,
    kind: Kind = "",
    tags: Tags = None,
    repository: Repository = "",
    embedder: o.EmbedderName = None,
    place: o.BankPlace = None,
    as_json: o.Json = False,
) -> None:
    """Show what a task would recall, and why."""
    from hardwon.cli.bank_view import search_items
    from hardwon.memory.bank.retrieval import Query

    search_items(place, Query(text, kind, repository, tags=tuple(tags or ())), recall, embedder, as_json)


@bank.command()
def why(
    run: Annotated[Path, typer.Argument(help="A run folder.")],
    task: Annotated[str | None, typer.Argument(help="A task's id. Default: the run as a whole.")] = None,
    as_json: o.Json = False,
) -> None:
    """Show what a run or one of its tasks recalled and why, what was withheld, and what it taught."""
    from hardwon.cli.bank_why import explain

    explain(run, task, as_json)


@bank.command()
def stats(place: o.BankPlace = None, as_json: o.Json = False) -> None:
    """Show how many items there are, and what the bank is measured to have done."""
    from hardwon.cli.bank_view import show_stats

    show_stats(place, as_json)


@bank.command()
def add(
    title: Annotated[str, typer.Option("--title", help="A few words.")],
    content: Annotated[str, typer.Option("--content", help="What to do, and why.")],
    description: Description = None,
    applies: Applies = None,
    avoid: Avoid = None,
    kind: Kind = "",
    tags: Tags = None,
    repository: Repository = "",
    place: o.BankPlace = None,
) -> None:
    """Add an item of your own."""
    from hardwon.cli.bank_change import add_item
    from hardwon.memory.bank.item import Scope

    texts = {"title": title, "content": content, "description": description, "applies": applies, "avoid": avoid}
    add_item(place, texts, Scope(kind=kind, repository=repository, tags=tuple(tags or ())))


@bank.command()
def edit(
    item: ItemId,
    title: Title = None,
    content: Content = None,
    description: Description = None,
    applies: Applies = None,
    avoid: Avoid = None,
    place: o.BankPlace = None,
) -> None:
    """Change the texts of an item; what is not given stays."""
    from hardwon.cli.bank_change import edit_item

    texts = {"title": title, "content": content, "description": description, "applies": applies, "avoid": avoid}
    edit_item(place, item, texts)


@bank.command()
def pin(item: ItemId, off: Off = False, place: o.BankPlace = None) -> None:
    """Exempt an item from quarantine and retirement."""
    from hardwon.cli.bank_change import set_state

    set_state(place, item, "active" if off else "pinned")


@bank.command()
def quarantine(item: ItemId, off: Off = False, place: o.BankPlace = None) -> None:
    """Keep an item, and recall it no more."""
    from hardwon.cli.bank_change import set_state

    set_state(place, item, "active" if off else "quarantined")


@bank.command()
def merge(
    items: Annotated[list[str], typer.Argument(metavar="ITEM…", help="The first one stays.")], place: o.BankPlace = None
) -> None:
    """Take items into the first of them: it has their credit, they are superseded."""
    from hardwon.cli.bank_change import merge_items

    merge_items(place, items)


@bank.command()
def review(
    apply: Annotated[bool, typer.Option("--apply", help="Make the changes, instead of only saying them.")] = False,
    place: o.BankPlace = None,
    as_json: o.Json = False,
) -> None:
    """Find items that harm, help, are never relevant, say the same as another or contradict it."""
    from hardwon.cli.bank_change import review_items

    review_items(place, apply, as_json)


@bank.command()
def rollback(
    snapshot: Annotated[int, typer.Argument(min=0, help="The number of a snapshot.")], place: o.BankPlace = None
) -> None:
    """Make the bank hold again what it held at a snapshot; nothing is forgotten."""
    from hardwon.cli.bank_change import roll_back

    roll_back(place, snapshot)


@bank.command("export")
def export_items(
    out: Annotated[Path | None, typer.Option("--out", help="A file. Default: standard output.")] = None,
    form: Annotated[str, typer.Option("--format", help="jsonl or markdown.")] = "jsonl",
    at: Annotated[int | None, typer.Option("--at", min=0, help="A snapshot. Default: now.")] = None,
    place: o.BankPlace = None,
) -> None:
    """Write the items as JSONL, or as Markdown to be read."""
    from hardwon.cli.bank_change import export_items

    export_items(place, out, o.one_of("--format", form, ("jsonl", "markdown")), at)


@bank.command("import")
def import_items(
    path: Annotated[Path, typer.Argument(help="A file that export wrote as JSONL.")], place: o.BankPlace = None
) -> None:
    """Take in the items of a file: all of them, or none."""
    from hardwon.cli.bank_change import import_items

    import_items(place, path)
