"""Where a run folder lies and what became of it: read-only, on a share, killed, huge, empty, in any script."""

import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from tests.view.conftest import View
from tests.view.made import call, config, learned, make_run, problem, row, written

from hardwon.errors import UsageError
from hardwon.runs.journal import FILE, Key
from hardwon.view import pages, writer
from hardwon.view.folders import Shelf
from hardwon.view.links import Addresses
from hardwon.view.reader import Reader
from hardwon.view.wanted import Wanted

KILLED = """
import os, sys
from pathlib import Path
from tests.view.made import learned, written
with written(Path(sys.argv[1]), tasks=3) as journal:
    learned(journal, "own/a")
    learned(journal, "own/b")
    os._exit(9)
"""
LOOK = """
import sys
from pathlib import Path
from hardwon.view.reader import Reader
look = Reader(Path(sys.argv[1])).look()
print(look.state, *(row.task_id for row in look.rows.sorted))
"""


def killed(folder: Path) -> Path:
    """A run that was killed: what it wrote last is in the write-ahead log alone."""
    done = subprocess.run([sys.executable, "-c", KILLED, str(folder)], timeout=60, check=False)
    assert done.returncode == 9
    assert (folder / f"{FILE}-wal").stat().st_size > 0
    return folder


def state_of(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_looking_at_a_run_that_nobody_writes_leaves_its_folder_as_it_was(tmp_path: Path) -> None:
    run = killed(tmp_path / "killed")
    (run / f"{FILE}-shm").unlink()
    for folder in (run, make_run(tmp_path / "finished")):
        before = state_of(folder)
        reader = Reader(folder)
        assert len(reader.look().rows.all) == 2
        key = Key(reader.look().rows.sorted[0].task_id, "reflexion", 0)
        pages.task_page(reader, Addresses(), key)
        reader.mark()
        reader.close()
        assert state_of(folder) == before


def test_a_read_only_folder_is_read_with_what_a_killed_run_left_in_its_log(tmp_path: Path) -> None:
    if shutil.which("bwrap") is None:
        pytest.skip("no bubblewrap on this machine: apt-get install bubblewrap")
    for folder, expected in (
        (killed(tmp_path / "killed"), "stopped own/a own/b"),
        (make_run(tmp_path / "finished"), "finished own/failed own/learned"),
    ):
        (folder / f"{FILE}-shm").unlink(missing_ok=True)
        wall = ["bwrap", "--dev-bind", "/", "/", "--ro-bind", str(folder), str(folder)]
        done = subprocess.run(
            [*wall, sys.executable, "-c", LOOK, str(folder)], capture_output=True, text=True, timeout=60, check=False
        )
        assert done.stdout.strip() == expected, done.stderr


def test_a_share_that_other_machines_write_in_goes_by_what_changed_lately(tmp_path: Path) -> None:
    device = tmp_path.stat().st_dev
    name = f"{os.major(device)}:{os.minor(device)}"
    for kind, share in (("nfs4", True), ("cifs", True), ("fuse.sshfs", True), ("ext4", False), ("fuse", False)):
        mounts = tmp_path / f"mountinfo-{kind}"
        mounts.write_text(
            f"21 1 0:1 / / rw - proc proc rw\n36 35 {name} / /mnt rw,noatime shared:1 - {kind} there rw\n"
        )
        assert writer._is_share(tmp_path, mounts) is share
    assert not writer._is_share(tmp_path, tmp_path / "none")
    run = make_run(tmp_path / "run")
    assert writer._changed_lately(run)
    os.utime(run / FILE, (time.time() - 3600,) * 2)
    assert not writer._changed_lately(run)


def test_a_journal_is_never_read_whole(tmp_path: Path) -> None:
    if not Path("/proc/self/io").exists():
        pytest.skip("the system does not count what a process reads")
    with written(tmp_path / "run", tasks=60) as journal:
        for n in range(60):
            key = Key(f"t/{n}", "reflexion", 0)
            journal.append(key, "task", 0, problem(f"t/{n}"))
            journal.append(key, "act", 0, call("x" * 200_000))
            journal.append(key, "row", 0, row(f"t/{n}"))
    assert (tmp_path / "run" / FILE).stat().st_size > 12_000_000
    reader = Reader(tmp_path / "run")
    began = bytes_read()
    assert "t/59" in pages.run_page(reader, Addresses(), Wanted())
    reader.mark()
    assert bytes_read() - began < 600_000
    pages.task_page(reader, Addresses(), Key("t/7", "reflexion", 0))
    pages.calls_page(reader, Addresses(), Key("t/7", "reflexion", 0))
    assert bytes_read() - began < 2_000_000


def bytes_read() -> int:
    return int(re.search(r"rchar: (\d+)", Path("/proc/self/io").read_text())[1])  # type: ignore[index]


def test_a_folder_without_runs_says_so_and_shows_the_first_that_comes(
    tmp_path: Path, view: Callable[..., View]
) -> None:
    (tmp_path / "runs").mkdir()
    started = view(tmp_path / "runs")
    assert "No run folder was found" in started.get("/")
    make_run(tmp_path / "runs" / "first")
    deadline = time.monotonic() + 20
    while "first" not in started.get("/"):
        assert time.monotonic() < deadline
        time.sleep(0.1)
    assert "solved at trial 2" in started.get(started.run("first"))


def test_an_older_journal_a_damaged_one_and_a_bare_folder_are_lines_of_the_list(tmp_path: Path) -> None:
    import sqlite3

    make_run(tmp_path / "older")
    with sqlite3.connect(tmp_path / "older" / FILE) as db:
        db.execute("PRAGMA user_version=0")
    db.close()
    torn = make_run(tmp_path / "torn") / FILE
    torn.write_bytes(torn.read_bytes()[:5000])
    (tmp_path / "bare").mkdir()
    (tmp_path / "bare" / "config.json").write_text(json.dumps(config()))
    (tmp_path / "bare" / FILE).touch()
    make_run(tmp_path / "good")
    text = pages.runs_page(Shelf([tmp_path]), Addresses())
    assert text.count("can not be read") == 3
    assert "written by another version (journal schema 0, this one reads 1)" in text
    for name in ("older", "torn", "bare"):
        with pytest.raises(UsageError, match=name):
            pages.run_page(Reader(tmp_path / name), Addresses(), Wanted())


SCRIPTS = ("שלום/עולם", "می‌خواهم", "漢字かな交じり", "ภาษาไทย", "हिन्दी", "Ελλάδα", "👩‍🔬", "e\u0301té")


def test_names_and_texts_of_every_script_stand_as_they_are_and_apart_from_their_surroundings(tmp_path: Path) -> None:
    with written(tmp_path / "漢字") as journal:
        for name in SCRIPTS:
            learned(journal, name, text=f"{name}: guard against emptiness, hence check before max.")
    reader = Reader(tmp_path / "漢字")
    listed = pages.run_page(reader, Addresses(), Wanted())
    for name in SCRIPTS:
        assert f"<bdi>{name}</bdi>" in listed
        shown = pages.task_page(reader, Addresses(), Key(name, "reflexion", 0))
        assert f"<h1><bdi>{name}</bdi></h1>" in shown
        assert f"<mark>{name}: guard" in shown
        assert name in pages.run_page(reader, Addresses(), Wanted(find=name))


def test_a_browser_that_is_gone_in_the_middle_of_a_stream_takes_its_connection_with_it(
    tmp_path: Path, view: Callable[..., View]
) -> None:
    import http.client

    started = view(make_run(tmp_path / "run"))
    path = f"{started.run()}/events"
    held = Path(f"/proc/{started.process.pid}/fd")
    if not held.exists():
        pytest.skip("the system does not tell what a process holds open")
    doors = [http.client.HTTPConnection("127.0.0.1", started.port, timeout=20) for _ in range(5)]
    for door in doors:
        door.request("GET", path, headers={"Cookie": f"hardwon-{started.port}={started.token}"})
        assert door.getresponse().read(5) == b"retry"
    during = sockets(held)
    for door in doors:
        door.close()
    deadline = time.monotonic() + 20
    while sockets(held) > during - len(doors):
        assert time.monotonic() < deadline
        time.sleep(0.05)


def sockets(held: Path) -> int:
    found = []
    for link in held.iterdir():
        with suppress(OSError):  # closed meanwhile
            found.append(str(link.readlink()))
    return sum(name.startswith("socket:") for name in found)
