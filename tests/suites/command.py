"""The command line as a user starts it, for the suites that are worked through it, and the rows it leaves."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any


def hardwon(folder: Path, *arguments: object) -> subprocess.CompletedProcess[str]:
    """Runs `hardwon` in a folder, without the user's configuration."""
    return subprocess.run(
        [sys.executable, "-m", "hardwon", *map(str, arguments)],
        cwd=folder,
        env={**os.environ, "HARDWON_CONFIG": str(folder / "none.toml")},
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )


def run(
    folder: Path, suite: str, script: Mapping[str, Mapping[str, Sequence[str]]], *arguments: object
) -> list[dict[str, Any]]:
    """The rows of a run of the scripted tasks alone, which must succeed; the folder is `folder/out`."""
    (folder / "script.json").write_text(json.dumps(script))
    ids = ",".join(script)
    done = hardwon(folder, "run", suite, "--ids", ids, "--model", "script:script.json", "--out", "out", *arguments)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in (folder / "out" / "results.jsonl").read_text().splitlines()]
