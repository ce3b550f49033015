"""The instances of a batch, read from its journal while it grows."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hardwon.errors import UsageError
from hardwon.runs.instances import Instances, Standing
from hardwon.runs.journal import FILE, Journal, Key
from hardwon.runs.stages import ORDER, Stage

ROW = {"solved": True, "tokens_in": 70, "tokens_out": 7, "cost_usd": 0.5}


class Batch:
    """A journal, and the events of a batch in the words of the runner."""

    def __init__(self, path: Path) -> None:
        self.journal = Journal(path)
        self.began = time.time()

    def stage(self, name: str, stage: Stage) -> None:
        self.append(name, "stage", ORDER.index(stage), {"stage": stage})

    def call(self, name: str, index: int, role: str = "act", cost_usd: float | None = 0.0) -> None:
        usage = {"tokens_in": 10, "tokens_out": 1, "tokens_cached": 0, "cost_usd": cost_usd, "attempts": 1}
        self.append(name, role, index, {"completion": {"text": "…", "usage": usage}})

    def append(self, name: str, kind: str, index: int, payload: dict[str, Any]) -> None:
        self.journal.append(Key(name, "reflexion", 0), kind, index, payload, 1.0)

    def look(self, instances: Instances, **options: Any) -> Standing:
        return instances.look(**{"since": self.began, **options})


@pytest.fixture
def batch(tmp_path: Path) -> Iterator[Batch]:
    made = Batch(tmp_path / FILE)
    for name in ("a", "b", "c"):
        made.stage(name, "queued")
    yield made
    made.journal.close()


@pytest.fixture
def instances(tmp_path: Path) -> Iterator[Instances]:
    made = Instances(tmp_path / FILE)
    yield made
    made.close()


def test_an_instance_in_work_tells_its_stage_trial_step_and_what_it_has_taken(
    batch: Batch, instances: Instances
) -> None:
    assert [(s.total, s.waiting, s.working) for s in [batch.look(instances)]] == [(3, 3, ())]
    batch.stage("a", "workspace ready")
    batch.call("a", 0, cost_usd=0.25)
    batch.call("a", 1, cost_usd=0.25)
    [seen] = batch.look(instances).working
    assert (seen.key.task_id, seen.stage, seen.trial, seen.step) == ("a", "workspace ready", 1, 2)
    assert (seen.tokens, seen.cost_usd) == (22, 0.5)
    assert 1.0 <= seen.seconds < 60.0
    batch.stage("a", "attempted")
    batch.append("a", "episode", 0, {})
    batch.call("a", 0, role="reflect", cost_usd=None)
    batch.call("a", 2)
    [seen] = batch.look(instances).working
    assert (seen.stage, seen.trial, seen.step, seen.tokens) == ("attempted", 2, 1, 44)
    assert seen.cost_usd is None, "unknown is unknown"


def test_what_is_done_is_counted_by_its_outcome_and_is_in_work_no_more(batch: Batch, instances: Instances) -> None:
    for name in ("a", "b", "c"):
        batch.stage(name, "workspace ready")
        batch.call(name, 0)
    batch.append("a", "row", 0, ROW)
    batch.append("b", "row", 0, {**ROW, "solved": False})
    batch.append("c", "error", 0, {"row": {**ROW, "solved": None}})
    standing = batch.look(instances)
    assert (standing.solved, standing.unsolved, standing.errors, standing.finished) == (1, 1, 1, 3)
    assert (standing.working, standing.waiting, standing.tokens, standing.cost_usd) == ((), 0, 231, 1.5)
    assert standing.stages == {"workspace ready": 3}


def test_what_an_earlier_sitting_left_waits_until_this_one_goes_on_with_it(batch: Batch, instances: Instances) -> None:
    batch.call("a", 0)
    batch.append("b", "error", 0, {"row": {**ROW, "solved": None}})
    later = time.time()
    standing = batch.look(instances, since=later)
    assert (standing.waiting, standing.errors, standing.working) == (3, 0, ())
    standing = batch.look(instances, since=later, started={("b", "reflexion"): later})
    assert [seen.key.task_id for seen in standing.working] == ["b"]
    batch.call("a", 1)
    assert [seen.key.task_id for seen in batch.look(instances, since=later).working] == ["a"]


def test_a_journal_that_was_begun_afresh_is_read_from_its_beginning(
    batch: Batch, instances: Instances, tmp_path: Path
) -> None:
    assert batch.look(instances).total == 3
    batch.journal.close()
    for path in tmp_path.iterdir():
        path.unlink()
    batch.journal = Journal(tmp_path / FILE)
    batch.stage("z", "queued")
    assert batch.look(instances).total == 1


def test_another_runs_tasks_have_no_instances(tmp_path: Path, instances: Instances) -> None:
    made = Batch(tmp_path / FILE)
    made.call("a", 0)
    assert made.look(instances).total == 0
    made.journal.close()


def test_a_damaged_journal_is_named(batch: Batch, instances: Instances, tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / FILE) as db:
        db.execute("UPDATE events SET kind = 'act', payload = '{'")
    db.close()
    with pytest.raises(UsageError, match=r"journal\.sqlite: does not read"):
        batch.look(instances)
