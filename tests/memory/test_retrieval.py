"""Retrieval: the relevant ones of a frozen snapshot, or none; never the task's own; within limits, and with reasons."""

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from tests.memory.banks import WordEmbedder, item

from hardwon.errors import ModelError, UsageError
from hardwon.memory.bank.retrieval import Index, Limits, Query, shared
from hardwon.memory.bank.sqlite import SqliteBank
from hardwon.memory.bank.vectors import Vectors
from hardwon.memory.bank.words import Words

SORTING = item("Stable sorting", "Sort by the second key first, then by the first; Python's sort keeps equal order.")
DATES = item("Parse dates", "Check leap years and month lengths before computing calendar differences.")
GRAPHS = item("Visited set", "Graph search needs a visited set, or cycles never end the traversal.")
ASKED = Query("Write a graph search that finds a traversal of all nodes, even with cycles.")


@pytest.fixture
def bank(tmp_path: Path) -> SqliteBank:
    bank = SqliteBank(tmp_path / "bank.sqlite")
    bank.write([SORTING, DATES, GRAPHS], "added")
    return bank


def titles(index: Index, query: Query = ASKED, limits: Limits = Limits()) -> list[str]:  # noqa: B008
    return [found.item.title for found in index.search(query, limits)]


@pytest.mark.parametrize("embedder", [None, WordEmbedder()])
def test_what_fits_is_found_with_its_reasons_and_what_does_not_is_left(
    bank: SqliteBank, embedder: WordEmbedder | None
) -> None:
    index = Index(bank, bank.head(), embedder)
    (found,) = index.search(ASKED, Limits())
    assert found.item == GRAPHS
    assert {"graph", "search", "cycles", "traversal"} <= set(found.words)
    assert (found.meaning is None) == (embedder is None)
    assert titles(index, Query("Bake a cake with butter and sugar")) == []


def test_a_run_reads_its_frozen_snapshot_whatever_is_written_later(bank: SqliteBank) -> None:
    snapshot = bank.head()
    before = Index(bank, snapshot)
    bank.write(
        [replace(GRAPHS, state="quarantined"), item("Graph cycles", "Traversal of graph cycles by search.")], "x"
    )
    assert titles(before) == titles(Index(bank, snapshot)) == ["Visited set"]
    assert titles(Index(bank, bank.head())) == ["Graph cycles"]


def test_neither_the_same_task_nor_the_same_text_under_another_id_is_recalled(bank: SqliteBank) -> None:
    own = [replace(GRAPHS, id="", title=name, provenance=where.provenance) for name, where in (
        ("By id", item("x", task="suite/7")), ("By text", item("x", task="copy/7", problem="abc")),
        ("Another", item("x", task="suite/8", problem="def")),
    )]  # fmt: skip
    bank.write([replace(GRAPHS, state="superseded"), *own], "added")
    assert titles(Index(bank, bank.head()), replace(ASKED, task="suite/7", problem="abc")) == ["Another"]


def test_items_of_another_kind_suite_repository_or_tag_are_left_out(bank: SqliteBank) -> None:
    scoped = item(
        "Graph walls", "Graph search traversal of cycles.", suite="s", kind="game", repository="r", tags=("t",)
    )
    bank.write([scoped, replace(GRAPHS, state="superseded")], "added")
    index = Index(bank, bank.head())
    assert titles(index) == titles(index, replace(ASKED, kind="game", repository="r", suites=("s",), tags=("t",)))
    for other in ({"kind": "function"}, {"repository": "q"}, {"suites": ("z",)}, {"tags": ("u",)}):
        assert titles(index, replace(ASKED, **other)) == []


def test_items_of_the_tasks_own_repository_come_first_but_only_relevant_ones(bank: SqliteBank) -> None:
    text = "Graph search needs a set of nodes, or cycles never end."
    bank.write([item(name, text, repository=name) for name in ("a/one", "b/two")], "added")
    bank.write([replace(GRAPHS, state="superseded"), item("Cake", "Butter and sugar.", repository="b/two")], "added")
    index, limits = Index(bank, bank.head()), Limits(most=5, variety=0.0)
    for home in ("a/one", "b/two"):
        found = titles(index, replace(ASKED, home=home), limits)
        assert found[0] == home
        assert "Cake" not in found


def test_the_token_budget_and_the_number_bind_and_twins_are_not_told_twice(bank: SqliteBank) -> None:
    long = item("Graph search", "Traversal of nodes in cycles. " * 40)
    twin = replace(GRAPHS, id="twin")
    bank.write([long, twin, item("Graph nodes", "Search all nodes of the graph once in traversal.")], "added")
    index = Index(bank, bank.head())
    assert len(titles(index, limits=Limits(most=5, tokens=2000))) == 3
    assert len(titles(index, limits=Limits(most=1))) == 1
    assert "Graph search" not in titles(index, limits=Limits(most=5, tokens=100))


def test_changing_the_embedder_embeds_anew_and_an_edit_embeds_only_what_changed(bank: SqliteBank) -> None:
    first = WordEmbedder("one")
    Index(bank, bank.head(), first)
    Index(bank, bank.head(), first)
    assert len(first.embedded) == 3
    bank.write([replace(DATES, content="Another text.")], "edited")
    Index(bank, bank.head(), first)
    assert first.embedded[3:] == ["Parse dates\nAnother text."]
    second = WordEmbedder("two")
    assert titles(Index(bank, bank.head(), second)) == ["Visited set"]
    assert len(second.embedded) == 3


def test_a_bank_that_can_only_be_read_is_searched_all_the_same(bank: SqliteBank) -> None:
    bank.close()
    reading = SqliteBank(Path(bank.name), read_only=True)
    assert titles(Index(reading, reading.head(), WordEmbedder())) == ["Visited set"]


@pytest.mark.parametrize("embedder", [None, WordEmbedder()])
def test_general_advice_is_found_by_the_task_it_was_learned_from_and_told_once(
    bank: SqliteBank, embedder: WordEmbedder | None
) -> None:
    general = [
        item("Begin small", "Try the smallest input first.", task=f"t/{n}", asked=f"Count the cycles of graph {word}")
        for n, word in enumerate(("nodes", "edges"))
    ]
    bank.write([*general, replace(GRAPHS, state="superseded")], "added")
    assert titles(Index(bank, bank.head(), embedder)) == ["Begin small"]


@dataclass
class Broken:
    """An embedder that gives what it was told to."""

    given: float
    size: int = 4
    name: str = "broken"

    def embed(self, texts: list[str], *, query: bool = False) -> NDArray[np.float32]:
        return np.full((len(texts), 4), self.given, np.float32)


def test_an_embedder_that_gives_no_number_or_the_wrong_size_is_an_error(bank: SqliteBank) -> None:
    with pytest.raises(ModelError, match="no number"):
        Index(bank, bank.head(), Broken(np.nan))
    with pytest.raises(ModelError, match=r"gave \(3, 4\)"):
        Index(bank, bank.head(), Broken(1.0, size=5))


def test_limits_that_make_no_sense_are_refused() -> None:
    for wrong in ({"most": 0}, {"floor": 1.5}, {"tokens": 0}, {"variety": -0.1}):
        with pytest.raises(UsageError, match="between 0 and 1"):
            Limits(**wrong)


def test_an_empty_bank_has_nothing_to_say(tmp_path: Path) -> None:
    bank = SqliteBank(tmp_path / "empty.sqlite")
    for embedder in (None, WordEmbedder()):
        assert titles(Index(bank, 0, embedder)) == []


@given(st.lists(st.text("abc xyz", max_size=30), max_size=12), st.text("abc xyz", max_size=12))
def test_relevance_by_words_is_a_share_and_only_for_texts_that_have_a_word_of_the_query(
    texts: list[str], query: str
) -> None:
    index = Words(texts)
    asked = index.rarest_first(query)
    for text, relevance in zip(texts, index.relevance(asked), strict=True):
        assert 0 <= relevance < 1
        assert bool(relevance > 0) == bool(shared(asked, text))


@settings(max_examples=5, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_sign_bits_lose_none_of_the_nearest_five(seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(9000, 64)).astype(np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    query = rows[5] + 0.08 * rng.normal(size=64).astype(np.float32)
    vectors = Vectors(rows.astype(np.float16))
    among = np.ones(9000, np.bool_)
    among[:3] = False
    near = vectors.nearest(query, among)
    assert len(near) < 9000
    assert 5 in near
    assert not set(near) & {0, 1, 2}
