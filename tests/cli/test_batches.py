"""Batches over repositories from the command line: picked, run, exported for other harnesses."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.cli.own_suite import rows
from tests.suites.instances import PATCH, instance, make_checkout

from hardwon.runs.predictions import read_predictions
from hardwon.runs.trajectories import read_attempt

Hardwon = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def batch(tmp_path: Path) -> list[object]:
    """The arguments of a run over four instances of which a scripted expert solves those that are asked for."""
    mapping = make_checkout(tmp_path)
    data = tmp_path / "instances.jsonl"
    data.write_text("".join(json.dumps(instance(tmp_path, n)) + "\n" for n in range(4)))
    mend = f"I mend it.\n\n```bash\ngit apply <<'END'\n{PATCH}END\n```"
    script = tmp_path / "expert.json"
    script.write_text(json.dumps({"*": {"act": [mend, "```bash\nsubmit\n```"]}}))
    asked = ["run", "swebench", "--data", data, "--checkouts", mapping, "--model", f"script:{script}"]
    return [*asked, "--feedback", "oracle", "--strategy", "single", "--out", "out"]


def test_a_batch_is_picked_run_and_exported(hardwon: Hardwon, batch: list[object], tmp_path: Path) -> None:
    done = hardwon(*batch, "--select", "-[123]$", "--shuffle", 4, "--slice", ":2")
    assert done.returncode == 0, done.stderr
    ids = [row["task_id"] for row in rows(tmp_path / "out")]
    assert len(ids) == 2
    assert all(row["solved"] and row["submission"].startswith("diff --git ") for row in rows(tmp_path / "out"))
    assert json.loads((tmp_path / "out" / "config.json").read_text())["about"]["picked"] == {
        "pattern": "-[123]$",
        "shuffle": 4,
        "part": ":2",
    }
    for name in ("preds.json", "preds.jsonl"):
        assert hardwon("export", "out", "--format", "swebench", "-o", name).returncode == 0
        predictions = read_predictions(tmp_path / name)
        assert [p.instance_id for p in predictions] == ids
        assert {p.model_name_or_path for p in predictions} == {"hardwon-single-expert.json"}
    told = hardwon("export", "out", "--format", "trajectories", "-o", "told")
    assert told.returncode == 0, told.stderr
    for task_id in ids:
        attempt = read_attempt(tmp_path / "told" / task_id / f"{task_id}.traj.json")
        assert (attempt.exit_status, attempt.calls) == ("Submitted", 2)


def test_bad_input_is_one_line_and_writes_nothing(hardwon: Hardwon, batch: list[object], tmp_path: Path) -> None:
    for asked, said in (
        (["--select", "("], "--select (: no regular expression"),
        (["--slice", "x"], "--slice x: want FIRST:END"),
        (["--checkouts", "gone.json"], "--checkouts gone.json: no such file"),
    ):
        done = hardwon(*batch, *asked)
        assert (done.returncode, done.stdout, len(done.stderr.splitlines())) == (2, "", 1), done.stderr
        assert said in done.stderr
    assert not (tmp_path / "out").exists()


def test_exports_that_do_not_fit_the_run_are_refused(
    hardwon: Hardwon, tasks: Path, script: str, tmp_path: Path
) -> None:
    assert hardwon("run", tasks, "--model", script, "--out", "out").returncode == 0
    for asked, said in (
        (["--format", "swebench"], "is no work in a repository"),
        (["--format", "trajectories"], "give one with --output"),
        (["--format", "trajectories", "-o", "told"], "the run holds no episode"),
        (["--format", "parquet"], "choose humaneval, evalplus, answers, swebench or trajectories"),
        (["--seed", "5"], "--seed 5: the run has no such seed"),
    ):
        done = hardwon("export", "out", *asked)
        assert done.returncode == 2, asked
        assert said in done.stderr
