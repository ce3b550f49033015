"""The journal and its folder: one writer, one version, nothing half-written."""

import resource
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from hardwon.errors import JournalError, UsageError
from hardwon.runs.folder import open_folder, read_config, write_text
from hardwon.runs.journal import FILE, Journal, Key

KEY = Key("t/1", "arm", 0)
CONFIG = {"settings": {"model": "m", "seed": 0}}


def test_what_was_appended_is_there_for_the_next_process(tmp_path: Path) -> None:
    journal = Journal(tmp_path / FILE)
    journal.append(KEY, "act", 0, {"text": "é\ud800"}, 1.5)
    journal.close()
    reopened = Journal(tmp_path / FILE)
    record = reopened.record(KEY)
    assert record.get("act", 0) == {"text": "é\ud800"}
    assert record.get("act", 1) is None
    assert record.earlier_seconds == 1.5
    assert reopened.record(Key("t/1", "arm", 1)).get("act", 0) is None
    reopened.close()


def test_an_effect_is_written_once(tmp_path: Path) -> None:
    journal = Journal(tmp_path / FILE)
    journal.append(KEY, "act", 0, {"n": 1})
    with pytest.raises(JournalError):
        journal.append(KEY, "act", 0, {"n": 2})
    assert [payload for _, _, payload in journal.payloads("act")] == [{"n": 1}]
    journal.close()


def test_a_journal_of_another_version_is_refused_and_kept(tmp_path: Path) -> None:
    Journal(tmp_path / FILE).close()
    with sqlite3.connect(tmp_path / FILE) as db:
        db.execute("PRAGMA user_version=99")
    db.close()
    with pytest.raises(UsageError, match=r"schema 99.*--fresh"):
        Journal(tmp_path / FILE)


@pytest.mark.parametrize("content", [b"this is no database" * 99, b"SQLite format 3\x00" + b"\xff" * 5000])
def test_a_damaged_journal_is_refused_with_the_mend(tmp_path: Path, content: bytes) -> None:
    (tmp_path / FILE).write_bytes(content)
    with pytest.raises(UsageError, match="--fresh"):
        Journal(tmp_path / FILE)
    assert (tmp_path / FILE).read_bytes() == content


def test_two_processes_do_not_share_a_run_folder(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    code = (
        "import sys, pathlib\nfrom hardwon.runs.folder import open_folder\n"
        f"with open_folder(pathlib.Path({str(folder)!r}), {CONFIG!r}): pass"
    )
    with open_folder(folder, CONFIG):
        second = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert second.returncode == 1
    assert "another process is running in this folder" in second.stderr
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_a_changed_setting_is_a_new_run(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    with open_folder(folder, CONFIG) as journal:
        journal.append(KEY, "act", 0, {})
    changed = {"settings": {"model": "m", "seed": 1}}
    with pytest.raises(UsageError, match="seed was 0, is 1"), open_folder(folder, changed):
        pass
    assert read_config(folder) == CONFIG
    with open_folder(folder, changed, fresh=True) as journal:
        assert list(journal.payloads("act")) == []


def test_a_folder_with_other_things_in_it_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("mine")
    with pytest.raises(UsageError, match="holds other files"), open_folder(tmp_path, CONFIG, fresh=True):
        pass
    assert [p.name for p in tmp_path.iterdir()] == ["thesis.txt"]


def test_a_full_disk_ends_with_one_line_and_loses_nothing_that_was_finished(tmp_path: Path) -> None:
    """The limit on the size of files stands in for the disk: SQLite sees its write fail in the same way."""
    code = (
        "import pathlib, sys\nfrom hardwon.runs.journal import Journal, Key\n"
        "from hardwon.errors import JournalError\n"
        f"journal = Journal(pathlib.Path({str(tmp_path / FILE)!r}))\n"
        "n = 0\n"
        "try:\n"
        "    while True:\n"
        "        journal.append(Key('t', 'a', 0), 'act', n, {'text': 'x' * 4000}); n += 1\n"
        "except JournalError as error:\n"
        "    print(n); print(error)\n"
    )

    def small_files() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, 300_000))

    done = subprocess.run(
        [sys.executable, "-c", f"import signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n{code}"],
        preexec_fn=small_files,
        capture_output=True,
        text=True,
        check=True,
    )
    count, message = done.stdout.splitlines()
    assert "nothing finished is lost" in message
    journal = Journal(tmp_path / FILE)
    assert len(list(journal.payloads("act"))) == int(count) > 10
    journal.close()


def test_a_text_is_replaced_whole_or_not_at_all(tmp_path: Path) -> None:
    target = tmp_path / "results.jsonl"
    write_text(target, "old")
    with pytest.raises(UsageError, match="its folder does not exist"):
        write_text(tmp_path / "missing" / "results.jsonl", "new")
    with pytest.raises(UnicodeEncodeError):
        write_text(target, "new \ud800")
    assert target.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["results.jsonl"]
