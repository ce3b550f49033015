"""The store: a bank only grows, a snapshot never changes, an episode is admitted once; in SQLite and PostgreSQL."""

import tempfile
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.memory.banks import WordEmbedder, item
from tests.memory.conftest import OpenBank

from hardwon.errors import UsageError
from hardwon.memory.bank.place import open_bank
from hardwon.memory.bank.retrieval import Index, Limits, Query
from hardwon.memory.bank.sqlite import SqliteBank
from hardwon.memory.bank.store import Bank, BankError, Episode, Use


def held(bank: Bank, at: int | None = None) -> dict[str, str]:
    return {r.item.title: r.item.state for r in bank.scan(at) if r.item is not None}


def test_a_snapshot_never_changes_and_a_rollback_forgets_nothing(opened: OpenBank) -> None:
    bank = opened()
    one, two = item("One"), item("Two")
    first = bank.write([one], "added")
    second = bank.write([two, replace(one, state="active")], "added")
    assert (held(bank, first), held(bank, second)) == ({"One": "provisional"}, {"One": "active", "Two": "provisional"})
    third = bank.rollback(first)
    assert held(bank) == {"One": "provisional"} == held(opened())
    assert held(bank, second) == {"One": "active", "Two": "provisional"}
    assert [r.reason for r in bank.history(one.id)] == ["added", "added", f"rolled back to {first}"]
    assert bank.history(two.id)[-1].item is None
    bank.rollback(second)
    assert held(bank) == held(bank, second)
    assert held(bank, third) == {"One": "provisional"}
    with pytest.raises(UsageError, match="its snapshots are 0 to"):
        bank.rollback(99)


def test_an_item_comes_back_as_it_went_in(opened: OpenBank) -> None:
    bank = opened()
    sent = item(
        "שלום and ‏RTL, می‌خواهم",
        "Zeile\n\tπ ≠ 3 🙂",
        suite="s",
        kind="function",
        tags=("a", "b"),
        task="t/1",
        state="pinned",
    )
    bank.write([sent], "added")
    (revision,) = opened().scan()
    assert revision.item == sent
    assert opened().revisions([revision.seq]) == [revision]


def test_an_episode_is_admitted_once_with_its_items_and_uses(opened: OpenBank) -> None:
    bank, old = opened(), item("Old")
    bank.write([old], "added")
    episode = Episode("run", "task", "arm", 0, True, 120)
    uses = [Use(old.id, True, 1, 0.5)]
    assert bank.admit(episode, [item("New")], uses)
    head = bank.head()
    assert not opened().admit(episode, [item("Other")], uses)
    assert bank.admit(replace(episode, task="unseen", won=None), [], [Use(old.id, False, 1, 0.5)])
    assert (bank.head(), bank.counts(), set(held(bank))) == (head, (2, 2), {"Old", "New"})
    (outcome,) = bank.outcomes()
    assert (outcome.item_id, outcome.shown, outcome.won, outcome.tokens) == (old.id, True, True, 120)


def test_of_a_transaction_that_fails_nothing_stays(opened: OpenBank) -> None:
    bank = opened()
    twice = [Use("x", True, 1, 0.5), Use("x", True, 2, 0.4)]
    with pytest.raises(BankError, match="nothing admitted is lost"):
        bank.admit(Episode("run", "task", "arm", 0, True, 1), [item("New")], twice)
    assert (bank.head(), bank.counts(), held(bank)) == (0, (0, 0), {})


def test_an_embedding_belongs_to_a_model_and_a_text(opened: OpenBank) -> None:
    bank = opened()
    bank.keep_vectors("m", {"aa": b"\x00\x3c", "bb": b"\x00\x00"})
    bank.keep_vectors("m", {"aa": b"\x00\x00"})
    assert dict(opened().vectors("m")) == {"aa": b"\x00\x3c", "bb": b"\x00\x00"}
    assert dict(bank.vectors("other")) == {}


def test_a_bank_keeps_its_identity(opened: OpenBank) -> None:
    assert len({opened().id, opened().id}) == 1


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.sampled_from("wr"), st.integers(0, 3), st.integers(0, 30)), max_size=12))
def test_every_snapshot_is_what_the_writes_up_to_it_made_of_the_bank(steps: list[tuple[str, int, int]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        bank = SqliteBank(Path(folder, "bank.sqlite"))
        now: dict[str, str] = {}
        past = {0: now}
        for step, which, number in steps:
            if step == "w":
                bank.write([item("x", f"text {number}", id=f"i{which}")], "write")
                now = {**now, f"i{which}": f"text {number}"}
            else:
                now = past[sorted(past)[number % len(past)]]
                bank.rollback(sorted(past)[number % len(past)])
            past[bank.head()] = now
        for snapshot, wanted in past.items():
            assert {r.item_id: r.item.content for r in bank.scan(snapshot) if r.item} == wanted
        assert {r.item_id: r.item.content for r in bank.scan() if r.item} == now
        bank.close()


def test_an_embedder_that_has_another_size_under_its_name_embeds_anew_once(opened: OpenBank) -> None:
    bank = opened()
    bank.write([item("Cycles in a graph"), item("A leap year's date")], "added")
    Index(bank, bank.head(), WordEmbedder())
    other = WordEmbedder()
    other.size = 32
    for _ in range(2):
        (found, *_) = Index(bank, bank.head(), other).search(Query("cycles of a graph"), Limits())
        assert found.item.title == "Cycles in a graph"
        assert found.meaning is not None
    assert len(other.embedded) == 2


@pytest.mark.parametrize(
    "address",
    [
        "postgresql://u:s3cret@127.0.0.1:1/x",
        "postgresql://u:s3cret%zz@127.0.0.1:1/x?application_name=a@b",
        "postgresql://u:a s3cret@127.0.0.1:1/x",
        "postgresql://u:s3cret?x@127.0.0.1:1/x",
        "postgresql://u:@127.0.0.1:1/x?user=u&password=s3cret&connect_timeout=1",
        "postgresql://u:a@s3cret@127.0.0.1:1/x",
        "postgresql://u:a/s3cret@127.0.0.1:1/x",
    ],
)
def test_a_password_in_an_address_is_never_told(address: str) -> None:
    with pytest.raises((BankError, UsageError), match=r"no connection|signs that an address") as raised:
        open_bank(address)
    assert "s3cret" not in f"{raised.value}{raised.value.__cause__}"
