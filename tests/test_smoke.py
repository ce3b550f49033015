"""The whole loop on a real model: the embedded 0.5B on three of the bundled tasks."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.timeout(400)
def test_the_embedded_model_works_three_tasks_from_end_to_end(tmp_path: Path) -> None:
    """How many it solves is its own affair; that each is tried, checked, counted and graded is ours."""
    command = [sys.executable, "-m", "hardwon", "run", "starter", "--limit", "3", "--out", "out", "--max-tokens", "300"]
    done = subprocess.run(
        [*command, "--model", "local:qwen2.5-coder-0.5b", "--trials", "2"],
        cwd=tmp_path,
        env={**os.environ, "HARDWON_CONFIG": str(tmp_path / "none.toml")},
        capture_output=True,
        text=True,
        timeout=380,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    rows = [json.loads(line) for line in (tmp_path / "out" / "results.jsonl").read_text().splitlines()]
    assert len(rows) == 3
    for row in rows:
        assert row["error"] is None
        assert row["solved"] in (True, False)
        assert row["feedback"] == "grounded"
        assert row["verdict"] in ("pass", "fail")
        assert row["tokens_in"] > 0
        assert 0 < row["tokens_out"] <= 4 * 300
        assert row["cost_usd"] == 0.0
        assert len(row["trial_verdicts"]) == row["trials"] <= 2
