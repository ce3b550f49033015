"""Lower walls than could be are never silent."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.cli.own_suite import SCRIPT, TASKS

from hardwon.sandbox.choose import bubblewrap_trouble


def told(folder: Path, path: str, *more: str) -> str:
    """What a run says on standard error where programs are looked for in `path` alone."""
    (folder / "tasks.jsonl").write_text("".join(json.dumps(task) + "\n" for task in TASKS))
    (folder / "script.json").write_text(json.dumps(SCRIPT))
    command = [sys.executable, "-m", "hardwon", "run", "tasks.jsonl", "--model", "script:script.json", "--fresh", *more]
    done = subprocess.run(
        command, cwd=folder, env={**os.environ, "PATH": path}, capture_output=True, text=True, timeout=100
    )
    assert done.returncode == 0, done.stderr
    return done.stderr


def test_a_run_without_bubblewrap_warns_once_and_works(tmp_path: Path) -> None:
    said = told(tmp_path, str(tmp_path))
    assert said.count("warning: programs run as bare processes, bubblewrap is not used: it is not installed;") == 1
    assert "warning" not in told(tmp_path, str(tmp_path), "--sandbox", "process")  # asked for, so known


@pytest.mark.skipif(bubblewrap_trouble() is not None, reason="bubblewrap does not work here")
def test_a_run_behind_bubblewrap_does_not_warn(tmp_path: Path) -> None:
    assert "warning" not in told(tmp_path, os.environ["PATH"])
