"""A small suite of the user's own, a scripted model, and the command line as a user starts it."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.cli.own_suite import SCRIPT, TASKS

Hardwon = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def tasks(tmp_path: Path) -> Path:
    path = tmp_path / "tasks.jsonl"
    path.write_text("".join(json.dumps(task) + "\n" for task in TASKS))
    return path


@pytest.fixture
def script(tmp_path: Path) -> str:
    path = tmp_path / "script.json"
    path.write_text(json.dumps(SCRIPT))
    return f"script:{path}"


@pytest.fixture
def hardwon(tmp_path: Path) -> Hardwon:
    """Runs the command in a folder of its own; keyword `env` adds to the environment, `stdin` is typed in."""

    def start(
        *arguments: object, stdin: str = "", env: dict[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        environment = {k: v for k, v in os.environ.items() if not k.endswith("_API_KEY")}
        environment |= {"HARDWON_CONFIG": str(tmp_path / "no-config.toml"), **(env or {})}
        command = [sys.executable, "-m", "hardwon", *map(str, arguments)]
        return subprocess.run(
            command,
            capture_output=True,
            text=True,
            cwd=tmp_path,
            input=stdin,
            env=environment,
            timeout=100,
            check=False,
        )

    return start
