"""What a bank keeps, and the `Bank` protocol that every store fulfils.

A bank only grows: a change is a new revision of an item, numbered through the whole bank. A snapshot is such a number;
what a bank held at a snapshot never changes, whatever is written later. Rolling back is writing the old state anew.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Protocol

from hardwon.errors import InfrastructureError
from hardwon.memory.bank.item import Item


class BankError(InfrastructureError):
    """The bank could not be written or read now: a full disk, a lock that is never freed, a server that is gone."""


@dataclass(frozen=True, slots=True)
class Revision:
    """One version of an item, `seq` within the bank (from 1); `item` is None where a rollback took it away."""

    seq: int
    item_id: str
    item: Item | None
    at: float
    reason: str


@dataclass(frozen=True, slots=True)
class Episode:
    """A task worked with the bank: whose it is, and how it went on what the loop could see (None: no evidence)."""

    run: str
    task: str
    arm: str
    seed: int
    won: bool | None
    tokens: int


@dataclass(frozen=True, slots=True)
class Use:
    """An item that retrieval chose for an episode, and whether it was `shown` or withheld at random."""

    item_id: str
    shown: bool
    rank: int
    score: float


@dataclass(frozen=True, slots=True)
class Outcome:
    """A use together with how its episode went, as credit counts it."""

    item_id: str
    task: str
    shown: bool
    won: bool
    tokens: int


class Sealed(Protocol):
    """A set of embeddings that never changes, under an index of the store; each has a place in it.

    Vectors are float16 values in little-endian order. Raises BankError.
    """

    def digests(self) -> Iterator[tuple[bytes, int]]:
        """The digest of each text, and its place."""
        ...

    def nearest(self, query: Sequence[float], most: int) -> list[tuple[int, bytes]]:
        """About the nearest of all: place and vector, at most `most`."""
        ...

    def nearest_of(self, query: Sequence[float], places: Sequence[int], most: int) -> list[tuple[int, bytes]]:
        """Exactly the nearest at these places."""
        ...

    def vectors(self, places: Sequence[int]) -> list[tuple[int, bytes]]: ...


class Bank(Protocol):
    """A store of items. Raises BankError when it can not be read or written now, UsageError where that is for good."""

    @property
    def id(self) -> str:
        """Made with the bank, the same for its whole life."""
        ...

    @property
    def name(self) -> str:
        """Where it is, without a password."""
        ...

    def head(self) -> int:
        """The snapshot of now: the number of the last revision, 0 for an empty bank."""
        ...

    def scan(self, at: int | None = None) -> Iterator[Revision]:
        """What the bank held at a snapshot (None: now), by item id; one at a time."""
        ...

    def revisions(self, seqs: Sequence[int]) -> list[Revision]:
        """These revisions, in the order asked for."""
        ...

    def history(self, item_id: str) -> list[Revision]:
        """Every revision of one item, oldest first."""
        ...

    def write(self, items: Iterable[Item], reason: str) -> int:
        """New revisions of these items, in one transaction; the snapshot after it."""
        ...

    def rollback(self, at: int) -> int:
        """Makes the bank hold again what it held at a snapshot; the snapshot after it."""
        ...

    def admit(self, episode: Episode, items: Sequence[Item], uses: Sequence[Use]) -> bool:
        """Takes in an episode with its items and uses, in one transaction; False where it was admitted before."""
        ...

    def outcomes(self) -> list[Outcome]:
        """Every use whose episode had evidence, oldest first."""
        ...

    def counts(self) -> tuple[int, int]:
        """How many episodes were admitted, and how many uses."""
        ...

    def need_writable(self) -> None:
        """Raises UsageError where it can only be read."""
        ...

    def idle(self) -> dict[str, int]:
        """For each item, the episodes admitted since it was last changed or recalled."""
        ...

    def vectors(self, model: str, digests: Sequence[str] | None = None) -> Iterator[tuple[str, bytes]]:
        """The embeddings by a model, or those of these texts: digest, and float16 values in little-endian order."""
        ...

    def keep_vectors(self, model: str, vectors: Mapping[str, bytes]) -> None:
        """Keeps embeddings by digest; those that are there already stay, unless they have another size."""
        ...

    def indexes(self, size: int) -> bool:
        """Whether the store can search embeddings of so many values by an index of its own."""
        ...

    def sealed(self, model: str, size: int, snapshot: int) -> Sealed | None:
        """The last set of a model's embeddings that was sealed at a snapshot or before it."""
        ...

    def seal(self, model: str, size: int, snapshot: int, digests: Set[str]) -> Sealed:
        """Seals the embeddings that it has of these texts; only where it `indexes` them."""
        ...

    def nearness(self) -> str:
        """How embeddings are compared in this store, in words."""
        ...

    def close(self) -> None: ...
