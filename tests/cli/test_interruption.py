"""Ctrl-C and a polite kill end a run cleanly: results written, no process left, and the way on is said."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tests.cli.own_suite import SCRIPT, rows


@pytest.mark.parametrize(("sent", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interrupted_run_says_how_to_go_on_and_does(tmp_path: Path, tasks: Path, sent: int, code: int) -> None:
    """The second task's check never ends, so the run is surely under way when the first task's line is read."""
    endless = {"act": ["```python\ndef largest(xs):\n    while True: pass\n```"]}
    (tmp_path / "s.json").write_text(json.dumps({**SCRIPT, "own/largest": endless}))
    command = [
        sys.executable,
        "-m",
        "hardwon",
        "run",
        str(tasks),
        "--model",
        "script:s.json",
        "--out",
        "out",
        "--workers",
        "1",
    ]
    environment = {**os.environ, "HARDWON_CONFIG": str(tmp_path / "none.toml")}
    process = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True, env=environment)
    assert process.stderr is not None
    for line in process.stderr:
        if "own/double solved" in line:
            break
    process.send_signal(sent)
    rest = process.stderr.read()
    process.stderr.close()
    assert process.wait(30) == code
    assert "the same command goes on from here" in rest
    assert "Traceback" not in rest
    assert [row["task_id"] for row in rows(tmp_path / "out")] == ["own/double"]
    again = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, env=environment, check=False)
    assert again.returncode == 0, again.stderr
    assert [row["solved"] for row in rows(tmp_path / "out")] == [True, False]
