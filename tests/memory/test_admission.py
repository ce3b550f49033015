"""Killed anywhere, a run admits what its tasks taught exactly once, and pays no call twice."""

import json
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from tests.memory.banks import item

from hardwon.memory.bank.sqlite import SqliteBank

SCRIPT = Path(__file__).with_name("working.py")


def start(folder: Path, kill_at: int) -> subprocess.CompletedProcess[str]:
    folder.mkdir(exist_ok=True)
    places = [str(folder / name) for name in ("run", "bank.sqlite", "paid")]
    command = [sys.executable, str(SCRIPT), *places, str(kill_at)]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


def fill(folder: Path) -> None:
    folder.mkdir()
    bank = SqliteBank(folder / "bank.sqlite")
    bank.write([item("Graph cycles", "Traverse a graph with care: cycles never end.", kind="function")], "added")
    bank.close()


def outcome(folder: Path) -> tuple[Any, ...]:
    """Rows, items and uses, without what differs by time and by the run's own name."""
    lines = (folder / "run" / "results.jsonl").read_text().splitlines()
    rows = [{k: v for k, v in json.loads(line).items() if k != "wall_s"} for line in lines]
    for row in rows:
        row["induced"] = len(row["induced"])  # an item's id has the run's own in it
    bank = SqliteBank(folder / "bank.sqlite")
    items = sorted((r.item.title, r.item.label, r.item.provenance.task) for r in bank.scan() if r.item)
    uses = Counter((use.item_id, use.task, use.shown, use.won, use.tokens) for use in bank.outcomes())
    found = rows, items, uses, bank.counts(), bank.check()
    bank.close()
    return found


def test_a_run_killed_at_any_step_admits_neither_half_nor_twice(tmp_path: Path) -> None:
    fill(tmp_path / "whole")
    whole = start(tmp_path / "whole", 0)
    assert whole.returncode == 0, whole.stderr
    steps = int(whole.stdout)
    wanted = outcome(tmp_path / "whole")
    rows, items, uses, counts, damage = wanted
    assert [title for title, *_ in items] == [
        "Graph cycles",
        "Mark visited nodes (first)",
        "Mark visited nodes (second)",
        "Mark visited nodes (third)",
    ]
    assert [label for _, label, _ in items] == ["unknown", "success", "success", "failure"]
    assert (len(uses), counts, damage) == (3, (3, 3), None)
    assert [row["calls_by_role"]["induce"] for row in rows] == [1, 2, 1]
    assert steps > 20
    paid = Counter((tmp_path / "whole" / "paid").read_text().splitlines())
    for kill_at in range(1, steps + 1, 3):
        folder = tmp_path / f"killed{kill_at}"
        fill(folder)
        assert start(folder, kill_at).returncode == -signal.SIGKILL
        resumed = start(folder, 0)
        assert resumed.returncode == 0, resumed.stderr
        assert outcome(folder) == wanted
        assert Counter((folder / "paid").read_text().splitlines()) == paid
