"""Promises of the replay model: it answers from a run's journal, and from nothing else."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from hardwon.errors import ModelRefused, UsageError
from hardwon.models import Completion, Message, Request, Usage, open_model

USAGE = {"tokens_in": 5, "tokens_out": 2, "tokens_cached": 1, "cost_usd": 0.25, "attempts": 3}


def recorded(text: str, **fields: Any) -> str:
    completion = {"text": text, "reasoning": None, "usage": USAGE, "model": "m", "finish": "stop"} | fields
    return json.dumps({"completion": completion})


def journal(folder: Path, rows: list[tuple[Any, ...]]) -> Path:
    file = folder / "journal.sqlite"
    with sqlite3.connect(file) as db:
        db.execute("PRAGMA journal_mode=WAL")
        db.execute("CREATE TABLE events(task_id TEXT, arm TEXT, seed INTEGER, kind TEXT, idx INTEGER, payload TEXT)")
        db.executemany("INSERT INTO events VALUES (?, ?, ?, ?, ?, ?)", rows)
    db.close()
    return file


def ask(path: Path, task: str = "t", role: Any = "act", index: int = 0) -> Completion:
    async def run() -> Completion:
        model = open_model(f"replay:{path}")
        try:
            return await model.generate(Request(task, role, index, (Message("user", "go"),)))
        finally:
            await model.close()

    return asyncio.run(run())


def test_a_recorded_request_gets_its_completion_and_is_not_paid_again(tmp_path: Path) -> None:
    journal(tmp_path, [("t", "a", 0, "act", 1, recorded("two", reasoning="why", finish="length"))])
    got = ask(tmp_path, index=1)
    assert got == Completion("two", Usage(5, 2, 1, 0.0, 3), "m", "why", "length")


def test_the_journal_file_itself_may_be_named(tmp_path: Path) -> None:
    assert ask(journal(tmp_path, [("t", "a", 0, "act", 0, recorded("one"))])).text == "one"


def test_of_several_arms_and_seeds_the_first_answers(tmp_path: Path) -> None:
    rows = [("b", 0), ("a", 7), ("a", 2)]
    journal(tmp_path, [("t", arm, seed, "act", 0, recorded(f"{arm}{seed}")) for arm, seed in rows])
    assert ask(tmp_path).text == "a2"


def test_a_call_that_failed_then_is_no_completion(tmp_path: Path) -> None:
    failed = json.dumps({"completion": None, "error": "time-out"})
    journal(tmp_path, [("t", "a", 0, "act", 0, failed), ("t", "b", 0, "act", 0, recorded("second"))])
    assert ask(tmp_path).text == "second"


def test_a_request_that_was_never_made_is_refused_by_name(tmp_path: Path) -> None:
    journal(tmp_path, [("t", "a", 0, "act", 0, recorded("one")), ("t", "a", 0, "check", 5, "{}")])
    with pytest.raises(ModelRefused, match=r"'t', role act, index 1"):
        ask(tmp_path, index=1)


def test_the_journal_is_only_read(tmp_path: Path) -> None:
    file = journal(tmp_path, [("t", "a", 0, "act", 0, recorded("one"))])
    before = file.read_bytes()
    ask(tmp_path)
    assert file.read_bytes() == before


def test_a_journal_that_is_being_written_can_be_read(tmp_path: Path) -> None:
    file = journal(tmp_path, [])
    writer = sqlite3.connect(file)
    writer.execute("INSERT INTO events VALUES ('t', 'a', 0, 'act', 0, ?)", (recorded("fresh"),))
    writer.commit()
    assert ask(tmp_path).text == "fresh"
    writer.close()


def test_a_missing_or_foreign_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"journal\.sqlite: no such file"):
        ask(tmp_path)
    foreign = tmp_path / "notes.txt"
    foreign.write_text("not a database, whatever its length may be" * 50)
    with pytest.raises(UsageError, match=r"notes\.txt: cannot be read as a journal"):
        ask(foreign)
    empty = tmp_path / "empty.sqlite"
    sqlite3.connect(empty).close()
    empty.touch()
    with pytest.raises(UsageError, match="events"):
        ask(empty)


@pytest.mark.parametrize("payload", ["{", "[]", '{"completion": {"text": 3}}', recorded("x", finish="odd")])
def test_a_damaged_event_is_named_by_its_place(tmp_path: Path, payload: str) -> None:
    journal(tmp_path, [("t", "a", 0, "act", 0, payload)])
    with pytest.raises(UsageError, match=r"damaged at task 't', role act, index 0"):
        ask(tmp_path)
