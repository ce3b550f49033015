"""What the items of a bank did in one run: tasks that an item was shown to, beside those that it was held back from.

This reads the hidden grader's word, which is for the report alone: the bank itself goes by what the loop could see.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from hardwon.memory.bank.credit import Effect, effects
from hardwon.memory.bank.store import Outcome
from hardwon.runs.journal import Journal, Key
from hardwon.runs.results import rows
from hardwon.runs.row import Row


@dataclass(frozen=True, slots=True)
class Proof:
    """The effect of each item, its title, and how many tasks recalled `none` of `worked`."""

    items: tuple[tuple[str, Effect], ...]
    worked: int
    none: int

    @property
    def sentence(self) -> str:
        """What the items come to together, in words."""
        shown = [(title, effect) for title, effect in self.items if effect.word != "no effect shown"]
        recalled = f"{self.worked - self.none} of {self.worked} tasks recalled something"
        if not shown:
            return f"no effect shown of any single item ({recalled}, {len(self.items)} items)."
        told = "; ".join(f"{effect.item_id} ({title}) {effect.word}" for title, effect in shown)
        return f"{told} ({recalled}, {len(self.items)} items)."

    def as_json(self) -> dict[str, Any]:
        items = [{"title": title, **effect.as_json()} for title, effect in self.items]
        return {"worked": self.worked, "recalled_nothing": self.none, "sentence": self.sentence, "items": items}


def prove(journal: Journal) -> Proof:
    """The proof in a run's journal; tasks that were not graded count for nothing."""
    graded = {Key(row.task_id, row.arm, row.seed): row for row in rows(journal) if row.solved is not None}
    recalled = {key: payload["found"] for key, _, payload in journal.payloads("recall")}
    titles = {use["item"]: use["title"] for found in recalled.values() for use in found}
    measured = effects(_outcomes(graded, recalled))
    none = sum(1 for found in recalled.values() if not found)
    return Proof(tuple((titles[item], effect) for item, effect in measured.items()), len(recalled), none)


def _outcomes(graded: dict[Key, Row], recalled: dict[Key, Any]) -> Iterator[Outcome]:
    for key, found in recalled.items():
        if (row := graded.get(key)) is not None:
            for use in found:
                tokens = row.tokens_in + row.tokens_out
                yield Outcome(use["item"], key.task_id, not use["withheld"], row.solved is True, tokens)
