"""Faults: killed writers, a damaged, full or unwritable file; nothing that was admitted is lost, torn or doubled."""

import asyncio
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest
from tests.memory.banks import item
from tests.memory.conftest import OpenBank
from tests.memory.working import TASKS, Paid, Steps

from hardwon.cli.carrying import carry_out
from hardwon.errors import UsageError
from hardwon.memory.bank.sqlite import SqliteBank
from hardwon.memory.bank.store import BankError
from hardwon.runs.bank import BankSettings, RunBank
from hardwon.runs.row import Row
from hardwon.runs.runner import Arm
from hardwon.strategies.reflexion import Reflexion

ROOT = Path(__file__).parents[2]
SECONDS = float(os.environ.get("HARDWON_CROWD_SECONDS", "4"))
PROCESSES = 8


def start(folder: Path, place: str, name: str, left: float) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "tests.memory.crowd", place, name, str(left), str(folder / name)]
    with (folder / "said").open("ab") as said:
        return subprocess.Popen(command, cwd=ROOT, stderr=said)


@pytest.mark.timeout(240)
def test_a_crowd_of_processes_that_are_killed_at_random_loses_tears_and_doubles_nothing(
    tmp_path: Path, place: str, opened: OpenBank
) -> None:
    opened()
    source, end = random.Random(8), time.monotonic() + SECONDS
    crowd = {f"p{n}": start(tmp_path, place, f"p{n}", SECONDS) for n in range(PROCESSES)}
    kills = 0
    while (left := end - time.monotonic()) > 1:
        name = source.choice(list(crowd))
        try:
            assert crowd[name].wait(source.uniform(0, min(0.6, left))) == 0, (tmp_path / "said").read_text()
        except subprocess.TimeoutExpired:
            crowd[name].send_signal(signal.SIGKILL)
            crowd[name].wait()
            kills += 1
            crowd[name] = start(tmp_path, place, name, end - time.monotonic())
    for process in crowd.values():
        assert process.wait(90) == 0, (tmp_path / "said").read_text()
    bank = opened()
    if isinstance(bank, SqliteBank):
        assert bank.check() is None
    titles = Counter(r.item.title for r in bank.scan() if r.item is not None)
    episodes, uses = bank.counts()
    acknowledged = {f"{name} {n}" for name in crowd for n in _lines(tmp_path / name)}
    admitted = {title.rpartition(" ")[0] for title in titles}
    assert kills >= 3
    assert acknowledged
    assert acknowledged <= admitted
    assert set(titles.values()) == {1}
    assert len(titles) == 2 * len(admitted) == 2 * episodes == 2 * uses
    assert bank.head() == len(titles)


def _lines(path: Path) -> list[str]:
    return path.read_text().splitlines() if path.exists() else []


def test_a_full_disk_is_said_and_the_bank_stays_whole(tmp_path: Path) -> None:
    bank = SqliteBank(tmp_path / "bank.sqlite")
    bank.write([item("One")], "added")
    pages = bank._db.execute("PRAGMA page_count").fetchone()[0]
    bank._db.execute(f"PRAGMA max_page_count = {pages}")
    with pytest.raises(BankError, match="full; nothing admitted is lost: free some space"):
        bank.write([item(f"More {n}", "x" * 2000) for n in range(50)], "added")
    assert [r.item.title for r in bank.scan() if r.item] == ["One"]
    assert bank.check() is None


def test_a_bank_that_can_only_be_read_says_so_when_it_is_written_to(tmp_path: Path) -> None:
    SqliteBank(tmp_path / "bank.sqlite").close()
    bank = SqliteBank(tmp_path / "bank.sqlite", read_only=True)
    with pytest.raises(UsageError, match="is read-only"):
        bank.write([item("One")], "added")


READ = """
import sys
from pathlib import Path
from hardwon.errors import UsageError
from hardwon.memory.bank.sqlite import SqliteBank
bank = SqliteBank(Path(sys.argv[1]))
print(*sorted(revision.item.title for revision in bank.scan()))
try:
    bank.need_writable()
except UsageError as error:
    print(error)
"""
WRITE = """
import os, sys
from pathlib import Path
from hardwon.memory.bank.item import Item
from hardwon.memory.bank.sqlite import SqliteBank
bank = SqliteBank(Path(sys.argv[1]))
bank.write([Item("One", "", "Do it."), Item("Two", "", "Do it.")], "added")
os._exit(9)
"""


def test_a_bank_in_a_read_only_folder_is_read_with_what_a_killed_writer_left_in_its_log(tmp_path: Path) -> None:
    if shutil.which("bwrap") is None:
        pytest.skip("no bubblewrap on this machine: apt-get install bubblewrap")
    for left in (True, False):
        folder = tmp_path / str(left)
        place = folder / "bank.sqlite"
        subprocess.run([sys.executable, "-c", WRITE, str(place)], timeout=60, check=False)
        assert (folder / "bank.sqlite-wal").stat().st_size > 0
        if not left:
            SqliteBank(place).close()
        (folder / "bank.sqlite-shm").unlink(missing_ok=True)
        wall = ["bwrap", "--dev-bind", "/", "/", "--ro-bind", str(folder), str(folder)]
        done = subprocess.run(
            [*wall, sys.executable, "-c", READ, str(place)], capture_output=True, text=True, timeout=60, check=False
        )
        assert done.stdout.splitlines() == ["One Two", f"{place}: is read-only; give a bank that can be written"]


def test_a_run_with_a_bank_that_can_only_be_read_is_refused_before_a_task_is_paid_for(tmp_path: Path) -> None:
    place, out, paid = tmp_path / "bank.sqlite", tmp_path / "run", tmp_path / "paid"

    def work(*, read_only: bool, tasks: int) -> list[Row]:
        bank = RunBank(SqliteBank(place, read_only=read_only), BankSettings("own"))
        arm = Arm("reflexion", Reflexion(trials=2))
        config, model = {"settings": {"model": "m"}}, Paid(Steps(0), paid)
        done = carry_out(config, out, TASKS[:tasks], [arm], model, workers=1, fresh=False, show=False, bank=bank)
        try:
            return asyncio.run(done)
        finally:
            bank.close()

    SqliteBank(place).close()
    with pytest.raises(UsageError, match="is read-only"):
        work(read_only=True, tasks=1)
    assert not out.exists()
    assert len(work(read_only=False, tasks=1)) == 1
    before = _lines(paid)
    assert len(work(read_only=True, tasks=1)) == 1  # what is finished needs the bank no more
    with pytest.raises(UsageError, match="is read-only"):
        work(read_only=True, tasks=2)
    assert _lines(paid) == before


def test_a_damaged_file_is_refused_with_its_name(tmp_path: Path) -> None:
    place = tmp_path / "bank.sqlite"
    bank = SqliteBank(place)
    bank.write([item(f"Item {n}", "x" * 500) for n in range(200)], "added")
    bank.close()
    raw = bytearray(place.read_bytes())
    raw[4096:-4096] = bytes(random.Random(1).randbytes(len(raw) - 8192))
    place.write_bytes(raw)
    with pytest.raises(UsageError, match=r"not a readable bank|but no bank"):
        list(SqliteBank(place).scan())
