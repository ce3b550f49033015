"""Large banks on PostgreSQL: searched by an index of the server, and a frozen snapshot stays frozen all the same."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import psycopg
import pytest
from numpy.typing import NDArray
from tests.memory.banks import item
from tests.memory.conftest import new_database

from hardwon.memory.bank.item import Item
from hardwon.memory.bank.meaning import IN_MEMORY
from hardwon.memory.bank.place import open_bank
from hardwon.memory.bank.retrieval import Index, Limits, Query
from hardwon.memory.bank.store import Bank

COUNT = IN_MEMORY + 100


class Numbered:
    """A direction of its own for each number that a text ends in; close numbers are no closer than others."""

    name = "numbered"
    size = 32

    def __init__(self) -> None:
        self.embedded = 0

    def embed(self, texts: Sequence[str], *, query: bool = False) -> NDArray[np.float32]:
        self.embedded += 0 if query else len(texts)
        made = [np.random.default_rng(int(text.split()[-1])).normal(size=self.size) for text in texts]
        return np.stack(made).astype(np.float32)


def numbered(n: int, **given: str) -> Item:
    return item(f"i{n}", f"Content of item {n}", id=given.pop("id", f"i{n}"), **given)


def found(index: Index, n: int, **asked: str) -> list[str]:
    limits = Limits(most=5, floor=0.2, variety=0.0)
    return [f.item.title for f in index.search(Query(f"zzz {n}", **asked), limits)]


@pytest.fixture(scope="module")
def place(server: str) -> str:
    place = new_database(server)
    bank = open_bank(place)
    kinds = {7: "game", 8: "game"}
    bank.write([numbered(n, kind=kinds.get(n, "function")) for n in range(COUNT)], "made")
    vectors = Numbered().embed([str(n) for n in range(COUNT)])
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    kept = {numbered(n).digest: vector.astype("<f2").tobytes() for n, vector in enumerate(vectors)}
    bank.keep_vectors("numbered", kept)
    bank.close()
    return place


@pytest.fixture
def bank(place: str) -> Iterator[Bank]:
    bank = open_bank(place)
    yield bank
    bank.close()


def test_a_large_bank_is_searched_on_the_server_and_nothing_is_embedded_twice(bank: Bank) -> None:
    embedder = Numbered()
    index = Index(bank, COUNT, embedder)
    assert f"{COUNT:,} of numbered" in bank.nearness()
    for n in (0, 41, COUNT - 1):
        assert found(index, n)[0] == f"i{n}"
    assert embedder.embedded == 0


def test_what_the_server_finds_is_what_comparing_all_finds(bank: Bank) -> None:
    index = Index(bank, COUNT, Numbered())
    rows = Numbered().embed([str(n) for n in range(COUNT)])
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    same = 0
    for n in range(100, 120):
        nearest = [f"i{row}" for row in np.argsort(-(rows @ rows[n]))[:3]]
        same += len(set(nearest) & set(found(index, n)))
    assert same >= 57  # of 60: the index is approximate


def test_a_filter_that_leaves_few_items_is_exact(bank: Bank) -> None:
    index = Index(bank, COUNT, Numbered())
    assert found(index, 7, kind="game")[0] == "i7"
    assert set(found(index, 7, kind="game")) <= {"i7", "i8"}
    assert found(index, 9, kind="function")[0] == "i9"


def test_nothing_that_is_admitted_after_the_snapshot_is_found_or_changes_what_is(bank: Bank) -> None:
    index = Index(bank, COUNT, Numbered())
    before = [found(index, n) for n in range(20)]
    twin = replace(numbered(11, kind="game"), id="twin", title="Later")
    bank.write(
        [twin, *(numbered(COUNT + n, id=f"late{n}") for n in range(50)), replace(numbered(3), state="pinned")], "x"
    )
    later = Index(bank, bank.head(), Numbered())
    assert (
        [found(index, n) for n in range(20)] == before == [found(Index(bank, COUNT, Numbered()), n) for n in range(20)]
    )
    assert found(later, COUNT + 5)[0] == f"i{COUNT + 5}"
    assert found(later, 11, kind="game")[0] == "Later"
    bank.rollback(COUNT)


def test_a_larger_set_is_sealed_when_much_is_beside_it_and_older_snapshots_keep_their_own(bank: Bank) -> None:
    first = bank.sealed("numbered", 32, COUNT)
    snapshot = bank.head()
    digests = {numbered(n).digest for n in range(0, COUNT, 2)}
    second = bank.seal("numbered", 32, snapshot, digests)
    assert bank.sealed("numbered", 32, COUNT) == first
    assert bank.sealed("numbered", 32, snapshot) == second
    assert {digest.hex() for digest, _ in second.digests()} == digests
    assert bank.sealed("numbered", 16, snapshot) is None


def test_a_set_that_somebody_reads_stays_and_a_later_snapshots_is_not_hidden(bank: Bank, place: str) -> None:
    index = Index(bank, COUNT, Numbered())
    before = [found(index, n) for n in range(5)]
    other = open_bank(place)
    snapshot = other.head()
    largest = {numbered(n).digest for n in range(0, COUNT, 2)}
    for n in range(1, 5):
        other.write([numbered(9000 + n, id=f"after-{n}")], "later")
        other.seal("numbered", 32, snapshot + n, largest - {numbered(2 * n).digest})
    last = other.sealed("numbered", 32, other.head())
    assert [found(index, n) for n in range(5)] == before
    other.seal("numbered", 32, COUNT, largest)
    again = other.sealed("numbered", 32, other.head())
    other.close()
    assert (last and last.number) == (again and again.number)


def test_without_pgvector_all_is_compared_in_memory_and_said_so(server: str) -> None:
    place = new_database(server)
    with psycopg.connect(place, autocommit=True) as db:
        name = db.execute("SELECT current_database()").fetchone()
        assert name is not None
        db.execute("DROP ROLE IF EXISTS plain")
        db.execute("CREATE ROLE plain LOGIN")
        db.execute(f"GRANT CREATE ON DATABASE {name[0]} TO plain")
    bank = open_bank(place.replace("postgres:@", "plain:@"))
    assert not bank.indexes(32)
    assert "in memory (pgvector is not there: permission denied" in bank.nearness()
    bank.write([numbered(n) for n in range(3)], "made")
    assert found(Index(bank, 3, Numbered()), 2)[0] == "i2"
    bank.close()
