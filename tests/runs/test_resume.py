"""Law 6: killed anywhere, a run resumes at the step it was at, and nothing is paid twice."""

import json
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

SCRIPT = Path(__file__).with_name("interrupted.py")
TIMED = {"wall_s"}


def start(folder: Path, paid: Path, kill_at: int) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(SCRIPT), str(folder), str(paid), str(kill_at)]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


def results(folder: Path) -> list[dict[str, Any]]:
    lines = (folder / "results.jsonl").read_text().splitlines()
    return [{k: v for k, v in json.loads(line).items() if k not in TIMED} for line in lines]


def test_a_run_killed_at_any_step_resumes_to_the_same_results_and_pays_no_call_twice(tmp_path: Path) -> None:
    whole = start(tmp_path / "whole", tmp_path / "whole-paid", 0)
    assert whole.returncode == 0, whole.stderr
    steps = int(whole.stdout)
    calls = sorted((tmp_path / "whole-paid").read_text().splitlines())
    assert len(set(calls)) == len(calls)
    assert steps > 20
    for kill_at in range(1, steps + 1, 2):
        folder, paid = tmp_path / f"run{kill_at}", tmp_path / f"paid{kill_at}"
        killed = start(folder, paid, kill_at)
        assert killed.returncode == -signal.SIGKILL
        resumed = start(folder, paid, 0)
        assert resumed.returncode == 0, resumed.stderr
        assert results(folder) == results(tmp_path / "whole")
        assert Counter(paid.read_text().splitlines()) == Counter(calls)


def test_a_run_killed_again_and_again_still_comes_to_its_end(tmp_path: Path) -> None:
    folder, paid = tmp_path / "run", tmp_path / "paid"
    sittings = 0
    while start(folder, paid, 4 + sittings).returncode == -signal.SIGKILL:
        sittings += 1
        assert sittings < 40
    assert sittings > 3
    paid_calls = paid.read_text().splitlines()
    assert len(set(paid_calls)) == len(paid_calls)
    assert [row["solved"] for row in results(folder)] == [True, False, True]


def test_a_finished_run_is_not_worked_again(tmp_path: Path) -> None:
    start(tmp_path / "run", tmp_path / "paid", 0)
    before = (tmp_path / "paid").read_text()
    again = start(tmp_path / "run", tmp_path / "paid", 0)
    assert again.stdout == "0\n"
    assert (tmp_path / "paid").read_text() == before
