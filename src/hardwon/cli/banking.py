"""What the commands that work ask of the reasoning bank, and opening it."""

from __future__ import annotations

import sys
from dataclasses import dataclass

from hardwon.cli.options import one_of
from hardwon.errors import UsageError
from hardwon.memory.bank.embedding import Embedder
from hardwon.memory.bank.retrieval import Limits
from hardwon.runs.bank import BankSettings, RunBank


@dataclass(frozen=True, slots=True)
class BankOptions:
    """What the command line asked for; without `recall` and `learn` there is no bank.

    `arms` are those that have it (None: all), with `shuffle` each seed has an order of its own, with `by_text` a task
    is known by what it asks, not by its id.
    """

    place: str | None = None
    recall: int | None = None
    learn: str | None = None
    withhold: float = 0.1
    embedder: str | None = None
    arms: tuple[str, ...] | None = None
    shuffle: bool = False
    judge: bool = False
    by_text: bool = False

    @property
    def proved(self) -> bool:
        """Whether arms with the bank are held against arms without."""
        return self.arms is not None

    def open(self, suite: str) -> RunBank | None:
        """The bank of a run; None where none is asked for. Raises UsageError, BankError, ModelError."""
        if self.judge and self.learn is None:
            raise UsageError("--judge: labels what the bank learns from; give --learn too")
        if self.recall is None and self.learn is None:
            if self.place is not None:
                raise UsageError(f"--bank {self.place}: give --recall K to read it, --learn next to add to it, or both")
            return None
        learn = one_of("--learn", self.learn, ("next", "stream"))
        settings = BankSettings(
            suite,
            recall=self.recall is not None,
            learn=learn is not None,
            stream=learn == "stream",
            withhold=self.withhold,
            limits=Limits(most=self.recall or 1),
            arms=self.arms,
            shuffle=self.shuffle,
            judge=self.judge,
            by_text=self.by_text,
        )
        from hardwon.memory.bank.place import open_bank

        embedder = embedder_named(self.embedder) if settings.recall else None
        return RunBank(open_bank(self.place, make=settings.learn), settings, embedder)


def embedder_named(name: str | None) -> Embedder | None:
    """The embedder of that name; where `auto` (or None) finds none, words alone are compared, which is said."""
    from hardwon.memory.bank.embedders import open_embedder

    embedder = open_embedder(name)
    if embedder is None and name != "none":
        print("bank: compares words alone (--embedder minilm fetches 23 MB and compares meaning too)", file=sys.stderr)
    return embedder
