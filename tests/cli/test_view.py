"""`hardwon view --export` and `hardwon watch`."""

import subprocess
from collections.abc import Callable
from pathlib import Path

from tests.view.made import HOSTILE, learned, make_run, written

Hardwon = Callable[..., subprocess.CompletedProcess[str]]


def test_watch_shows_a_run_once_where_the_output_is_no_terminal(hardwon: Hardwon, tmp_path: Path) -> None:
    with written(tmp_path / "run", tasks=3) as journal:
        learned(journal, "own/a")
        learned(journal, f"own/{HOSTILE}", finish=False)
        done = hardwon("watch", "run")
    assert done.returncode == 0
    assert "running: 1 of 3 rows" in done.stdout
    assert "1 of 1" in done.stdout
    assert "own/<script>" in done.stdout
    assert "\x1b" not in done.stdout
    assert "\u202e" not in done.stdout


def test_watch_tells_in_one_line_of_a_folder_without_a_run(hardwon: Hardwon, tmp_path: Path) -> None:
    done = hardwon("watch", tmp_path)
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1


def test_watch_leaves_when_the_run_is_over(hardwon: Hardwon, tmp_path: Path) -> None:
    make_run(tmp_path / "run")
    done = hardwon("watch", "run")
    assert "finished: 2 of 2 rows" in done.stdout


def test_export_prints_where_the_first_page_is(hardwon: Hardwon, tmp_path: Path) -> None:
    make_run(tmp_path / "run")
    done = hardwon("view", "run", "--export", "out")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / done.stdout.strip()).is_file()
    again = hardwon("view", "run", "--export", "out")
    assert again.returncode == 2
    assert len(again.stderr.splitlines()) == 1
