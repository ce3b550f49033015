"""`solve` from Python with a bank: what one task taught the next recalls, and it is admitted with its effect."""

from pathlib import Path

import pytest
from tests.memory.banks import WordEmbedder, item

from hardwon import ScriptedModel, solve
from hardwon.errors import UsageError
from hardwon.memory.bank.sqlite import SqliteBank

INSIGHT = """Title: Sum, not maximum
Description: A total of numbers is their sum.
Content: Where numbers are to be added use their sum, since the maximum is one of them.
Evidence: trial 1"""
MODEL = ScriptedModel.from_replies({"*": {"act": ["def total(n): return sum(n)"], "induce": [INSIGHT]}})
CHECK = "assert total([1, 2]) == 3"
PROMPT = "Write total(n), which adds the numbers of a list."
OTHER = "Write total(n): add numbers in the list up to their sum."


def test_what_a_task_taught_the_next_recalls_but_not_the_same_again(tmp_path: Path) -> None:
    place = tmp_path / "bank.sqlite"
    first = solve(PROMPT, check=CHECK, model=MODEL, bank=place, recall=0, learn=True)
    assert len(first.taught) == 1
    assert first.recalled == ()
    same = solve(PROMPT, check=CHECK, model=MODEL, bank=place, embedder="none")
    assert same.recalled == same.taught == ()
    recalled = [solve(OTHER, check=CHECK, model=MODEL, bank=place, embedder=WordEmbedder()).recalled for _ in range(3)]
    assert first.taught in recalled  # held back from one task in ten, by chance
    bank = SqliteBank(place)
    assert bank.counts()[0] == 5
    (revision,) = bank.scan()
    assert revision.item is not None
    assert revision.item.provenance.task.startswith("task/")


def test_without_a_bank_nothing_is_recalled_and_a_bank_that_is_not_there_is_refused(tmp_path: Path) -> None:
    assert solve(PROMPT, check=CHECK, model=MODEL).recalled == ()
    with pytest.raises(UsageError, match="no bank there"):
        solve(PROMPT, check=CHECK, model=MODEL, bank=tmp_path / "none.sqlite", embedder="none")
    SqliteBank(tmp_path / "bank.sqlite").write([item("One")], "added")
    with pytest.raises(UsageError, match="want recall of at least 1"):
        solve(PROMPT, check=CHECK, model=MODEL, bank=tmp_path / "bank.sqlite", recall=0)
