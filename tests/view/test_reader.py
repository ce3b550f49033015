"""Looking at a run folder while anything may happen to it."""

import shutil
import sqlite3
from pathlib import Path

import pytest
from tests.view.made import config, learned, make_run, row, written

from hardwon.errors import UsageError
from hardwon.runs.journal import FILE, Key
from hardwon.view.folders import Shelf
from hardwon.view.reader import Reader
from hardwon.view.rows import outcome
from hardwon.view.wanted import PAGE, Wanted, listed


def test_a_look_takes_in_what_the_journal_has_gained(tmp_path: Path) -> None:
    reader = Reader(tmp_path / "run")
    with written(tmp_path / "run") as journal:
        assert reader.look().state == "running"
        assert reader.look().rows.all == ()
        learned(journal, "a")
        first = reader.look()
        assert [r.task_id for r in first.rows.all] == ["a"]
        assert reader.look().rows is first.rows
        learned(journal, "b")
        assert [r.task_id for r in reader.look().rows.sorted] == ["a", "b"]
        assert reader.look().left_s == 0.0
    assert reader.look().state == "finished"


def test_an_error_counts_until_the_task_finishes_after_all(tmp_path: Path) -> None:
    reader, key = Reader(tmp_path / "run"), Key("a", "reflexion", 0)
    with written(tmp_path / "run") as journal:
        failed = row("a", solved=None, error="down", stop="error")
        journal.append(key, "error", 0, {"error": "down", "traceback": None, "row": failed})
        assert [outcome(r) for r in reader.look().rows.all] == ["error"]
        journal.append(key, "row", 0, row("a"))
        assert [outcome(r) for r in reader.look().rows.all] == ["first"]


def test_a_run_that_ended_early_is_stopped_and_an_untouched_one_empty(tmp_path: Path) -> None:
    reader = Reader(tmp_path / "run")
    with written(tmp_path / "run"):
        pass
    assert reader.look().state == "empty"
    with written(tmp_path / "run") as journal:
        learned(journal, "a")
    assert reader.look().state == "stopped"


def test_a_journal_that_rests_is_opened_again_when_it_goes_on(tmp_path: Path) -> None:
    reader = Reader(make_run(tmp_path / "run"))
    first = reader.look()
    reader.close()
    assert reader.look().rows is first.rows
    assert reader.mark() == first.mark
    with written(tmp_path / "run") as journal:
        assert reader.mark() == f"{first.mark}+"
        learned(journal, "later")
        assert len(reader.look().rows.all) == 3
        assert reader.mark() == reader.look().mark
    reader.close()
    assert len(reader.look().rows.all) == 3


def test_looking_takes_no_lock_that_a_run_needs(tmp_path: Path) -> None:
    reader = Reader(make_run(tmp_path / "run"))
    for _ in range(20):
        reader.look()
        with written(tmp_path / "run"):
            assert reader.look().state == "running"


def test_a_run_made_afresh_in_the_folder_replaces_the_old_one(tmp_path: Path) -> None:
    folder = make_run(tmp_path / "run")
    reader = Reader(folder)
    assert len(reader.look().rows.all) == 2
    reader.close()  # so that the system may give the new file the old one's place
    shutil.rmtree(folder)
    with written(folder) as journal:
        learned(journal, "new")
    assert [r.task_id for r in reader.look().rows.all] == ["new"]


@pytest.mark.parametrize("harm", ["damaged", "cut", "older", "moved", "no config", "config cut", "not a table"])
def test_a_folder_that_can_not_be_read_is_told_in_one_line(tmp_path: Path, harm: str) -> None:
    folder = make_run(tmp_path / "run")
    reader = Reader(folder)
    if harm == "moved":
        reader.look()
    journal = folder / FILE
    if harm == "damaged":
        journal.write_bytes(b"SQLite format 3\0" + b"\xff" * 5000)
    elif harm == "cut":
        data = journal.read_bytes()
        journal.write_bytes(data[:5000])
    elif harm == "older":
        with sqlite3.connect(journal) as db:
            db.execute("PRAGMA user_version=7")
        db.close()
    elif harm == "moved":
        folder.rename(tmp_path / "elsewhere")
    elif harm == "no config":
        (folder / "config.json").unlink()
    elif harm == "config cut":
        (folder / "config.json").write_text('{"settings"')
    else:
        with sqlite3.connect(journal) as db:
            db.execute("UPDATE events SET payload = 'nonsense' WHERE kind = 'row'")
        db.close()
    with pytest.raises(UsageError) as caught:
        reader.look()
    assert "\n" not in str(caught.value)
    assert str(tmp_path) in str(caught.value)


def test_results_without_a_journal_are_shown_too(tmp_path: Path) -> None:
    import json

    (tmp_path / "config.json").write_text(json.dumps(config()))
    (tmp_path / "results.jsonl").write_text(json.dumps(row("a")) + "\n")
    assert [r.task_id for r in Reader(tmp_path).look().rows.all] == ["a"]


def test_runs_are_found_below_a_folder_and_a_moved_one_is_not_forgotten(tmp_path: Path) -> None:
    make_run(tmp_path / "all" / "one")
    make_run(tmp_path / "all" / "deep" / "two")
    (tmp_path / "all" / "none").mkdir()
    shelf = Shelf([tmp_path / "all"])
    assert {r.name for r in shelf.readers()} == {"one", "two"}
    gone = next(r for r in shelf.readers() if r.name == "one")
    gone.look()
    gone.path.rename(tmp_path / "moved")
    assert gone in shelf.readers()
    with pytest.raises(UsageError, match="any more"):
        gone.look()
    shelf.close()


def test_a_page_of_tasks_is_what_was_asked_for(tmp_path: Path) -> None:
    with written(tmp_path / "run") as journal:
        for n in range(250):
            solved, trials = n % 5 != 0, 1 + n % 3
            came = row(f"t/{n}", solved=solved, trials=trials, trial_scores=[0.0] * (trials - 1) + [1.0])
            journal.append(Key(f"t/{n}", "reflexion", 0), "row", 0, {**came, "tokens_in": n})
    rows = Reader(tmp_path / "run").look().rows
    assert [t for t, _ in listed(rows, Wanted()).tasks] == [f"t/{n}" for n in range(PAGE)]
    assert listed(rows, Wanted(page=99)).page == 3
    assert len(listed(rows, Wanted(page=3)).tasks) == 50
    assert listed(rows, Wanted(outcome="unsolved")).count == 50
    assert listed(rows, Wanted(find="T/24")).count == 11
    assert listed(rows, Wanted(order="tokens")).tasks[0][0] == "t/249"
    assert {t for t, _ in listed(rows, Wanted(outcome="third")).tasks} == {
        f"t/{n}" for n in range(250) if n % 5 and n % 3 == 2
    }


def test_nonsense_in_an_address_is_as_if_it_were_not_there() -> None:
    nonsense = {"page": "-3", "order": "sideways", "outcome": "<b>", "find": "x" * 999}
    assert Wanted.read(nonsense) == Wanted(find="x" * 200)
    assert Wanted.read({"page": "٣"}) == Wanted()
    wanted = Wanted(outcome="first", arm="a&b", page=4)
    assert Wanted.read(wanted.query(page=4)) == wanted
