"""Installed packages add strategies, suites and models by entry points."""

import os
import subprocess
import sys
from pathlib import Path

PLUGIN = """
from dataclasses import dataclass
from typing import ClassVar

from hardwon import Problem, ScriptedModel, Session, Submission, Task
from hardwon.suites.protocol import Suite


@dataclass(frozen=True)
class Patient:
    name: ClassVar[str] = "patient"
    needs_feedback: ClassVar[bool] = False
    tries: int = 2

    async def solve(self, problem: Problem, session: Session) -> Submission:
        for _ in range(self.tries):
            await session.attempt()
        return session.submit("trials")


TASK = Task(Problem("one/1", "Write f."), None, None, "d")
SUITE = Suite("one", "one task", False, "visible", lambda options, sandbox: (TASK,))


def parrot(rest: str, parallel: int) -> ScriptedModel:
    return ScriptedModel.from_replies({"*": {"act": [f"def f(): return {rest!r}"]}})
"""
POINTS = """
[hardwon.strategies]
patient = plugged:Patient
broken = plugged:Missing

[hardwon.suites]
one = plugged:SUITE

[hardwon.models]
parrot = plugged:parrot
"""


def hardwon(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    site = folder / "site"
    info = site / "plugged-1.0.dist-info"
    info.mkdir(parents=True, exist_ok=True)
    (site / "plugged.py").write_text(PLUGIN)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: plugged\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(POINTS)
    return subprocess.run(
        [sys.executable, "-m", "hardwon", *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(site), "HARDWON_CONFIG": str(folder / "none.toml")},
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )


def test_a_plug_in_that_does_not_load_is_named(tmp_path: Path) -> None:
    done = hardwon(
        tmp_path, "run", "one", "--strategy", "patient", "--set", "tries=3", "--model", "parrot:hello", "--out", "out"
    )
    assert done.returncode == 2
    assert "broken" in done.stderr
    assert "plugged:Missing" in done.stderr


def test_a_package_adds_a_strategy_a_suite_and_a_model(tmp_path: Path) -> None:
    hardwon(tmp_path, "--version")
    points = tmp_path / "site" / "plugged-1.0.dist-info" / "entry_points.txt"
    points.write_text(POINTS.replace("broken = plugged:Missing\n", ""))
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "hardwon",
            "run",
            "one",
            "-s",
            "patient",
            "--set",
            "tries=3",
            "-m",
            "parrot:hi",
            "--out",
            "out",
        ],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path / "site"), "HARDWON_CONFIG": str(tmp_path / "none.toml")},
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    row = (tmp_path / "out" / "results.jsonl").read_text()
    assert '"trials": 3' in row
    assert "return 'hi'" in row
