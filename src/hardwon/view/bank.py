"""The pages of the reasoning bank: its items with their measured effect, and what a person may change of them.

Every change is shown once more before it is made; who made it, and when, is in the bank's history.
"""

from __future__ import annotations

import getpass
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from datetime import datetime
from typing import get_args

from hardwon.errors import UsageError
from hardwon.memory.bank.credit import Effect
from hardwon.memory.bank.curation import current, find, measured, merge
from hardwon.memory.bank.item import Item, State
from hardwon.memory.bank.place import open_bank
from hardwon.memory.bank.store import Bank
from hardwon.view.links import Links
from hardwon.view.render import page
from hardwon.view.search import Hit, meaning_for, searched
from hardwon.view.wanted import PAGE

STATES: tuple[State, ...] = get_args(State)
_SETTABLE: dict[str, State] = {"pin": "pinned", "quarantine": "quarantined", "activate": "active"}
_TEXTS = ("title", "description", "content", "applies", "avoid")
_HISTORY = 30


@contextmanager
def opened(place: str | None) -> Iterator[Bank]:
    """The bank at a place, or the usual one. Raises UsageError where there is none."""
    bank = open_bank(place, make=False)
    try:
        yield bank
    finally:
        bank.close()


def bank_page(place: str | None, links: Links, query: Mapping[str, str]) -> str:
    """All items, those of a state, or those that a search for a text finds, the best first."""
    text, state = query.get("find", "")[:200].strip(), query.get("state", "")
    try:
        bank = open_bank(place, make=False)
    except UsageError as error:
        return page("message", links, heading="No reasoning bank", text=str(error))
    with closing(bank):
        items, known, head = current(bank), measured(bank), bank.head()
        episodes, uses = bank.counts()
        recent = bank.revisions(range(max(1, head - _HISTORY + 1), head + 1))
        name = bank.name
        embedder = meaning_for(bank, items) if text else None
        hits = searched(bank, items, text, embedder) if text else [Hit(item, "") for item in items]
    found = [hit for hit in hits if not state or hit.item.state == state]
    if not text:
        found.sort(key=lambda hit: (-(known[hit.item.id].lift or 0.0) if hit.item.id in known else 0.0, hit.item.title))
    number = query.get("page", "1")
    pages = max(1, -(-len(found) // PAGE))
    at = min(pages, max(1, int(number))) if number.isascii() and number.isdigit() and len(number) < 9 else 1
    return page(
        "bank",
        links,
        name=name,
        head=head,
        episodes=episodes,
        uses=uses,
        states=Counter(item.state for item in items),
        items=[(hit.item, effect_text(known.get(hit.item.id)), hit.why) for hit in found[(at - 1) * PAGE : at * PAGE]],
        by="words and meaning" if embedder else "words",
        count=len(found),
        find=text,
        state=state,
        page=at,
        pages=pages,
        recent=[(r, moment(r.at)) for r in reversed(recent)],
    )


def item_page(place: str | None, links: Links, item_id: str) -> str:
    """One item: its texts, what it rests on, what it did, its history. Raises LookupError."""
    with opened(place) as bank:
        history = bank.history(item_id)
        item = next((r.item for r in reversed(history) if r.item is not None), None)
        if item is None:
            raise LookupError(item_id)
        effect = measured(bank).get(item.id)
    return page(
        "bank_item",
        links,
        item=item,
        texts=_TEXTS,
        effect=effect_text(effect),
        history=[(r, moment(r.at)) for r in reversed(history)],
    )


def change_page(place: str | None, links: Links, form: Sequence[tuple[str, str]]) -> str | None:
    """Makes the change that a form asks for and gives None, or a page that asks to confirm it.

    Raises UsageError for a change that can not be made, BankError where the bank can not be written.
    """
    given = dict(form)
    ids = [value for name, value in form if name == "item"]
    with opened(place) as bank:
        said, made, reason = _change(bank, given, ids)
        if given.get("confirmed") != "yes":
            fields = [(name, value) for name, value in form if name != "confirmed"]
            return page("bank_confirm", links, said=said, fields=fields)
        if made is None:
            bank.rollback(int(given["to"]))
        else:
            bank.write(made, f"{reason} in the view by {_user()}")
    return None


def _change(bank: Bank, given: Mapping[str, str], ids: Sequence[str]) -> tuple[str, list[Item] | None, str]:
    """What is to be done in words, the new items (None: a rollback), and the reason to record."""
    what = given.get("do", "")
    if what == "rollback":
        to = given.get("to", "")
        if not (to.isascii() and to.isdigit() and len(to) < 16 and int(to) <= bank.head()):
            raise UsageError(f"snapshot {to}: want a number from 0 to {bank.head()}")
        return f"Make the bank hold again what it held at snapshot {to} (now at {bank.head()})", None, ""
    items = [find(bank, item_id) for item_id in ids]
    if not items:
        raise UsageError("No item is chosen.")
    if what in _SETTABLE:
        state = _SETTABLE[what]
        titles = ", ".join(f"“{item.title}”" for item in items)
        return f"Make {titles} {state}", [replace(item, state=state) for item in items], state
    if what == "merge":
        merged = merge(items)
        titles = ", ".join(f"“{item.title}”" for item in merged[1:])
        return f"Merge {titles} into “{merged[0].title}”", merged, f"merged into {merged[0].id}"
    if what == "edit":
        texts = {name: given[name].replace("\r\n", "\n").strip() for name in _TEXTS if name in given}
        changed = [name for name, text in texts.items() if getattr(items[0], name) != text]
        if not changed:
            raise UsageError("Nothing is changed.")
        edited = replace(items[0], **texts)  # type: ignore[arg-type]
        return f"Change {', '.join(changed)} of “{items[0].title}”", [edited], f"edited: {', '.join(changed)}"
    raise UsageError(f"{what}: no such change")


def effect_text(effect: Effect | None) -> str:
    """The measured effect in a few words, with its interval."""
    if effect is None:
        return "never recalled"
    if effect.lift is None:
        return f"not measured yet (shown {effect.shown.of}, withheld {effect.withheld.of})"
    low, high = effect.interval
    return (
        f"{effect.word}: {100 * effect.lift:+.0f} points ({100 * low:+.0f} to {100 * high:+.0f}), "
        f"shown {effect.shown.hits}/{effect.shown.of}, withheld {effect.withheld.hits}/{effect.withheld.of}"
    )


def moment(at: float) -> str:
    return datetime.fromtimestamp(at).strftime("%Y-%m-%d %H:%M")


def _user() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return "someone"
