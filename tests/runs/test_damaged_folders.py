"""A damaged run folder, or one that another version made, is refused in one line that names the file."""

import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from tests.view.made import config, make_run, row

from hardwon.errors import UsageError
from hardwon.runs.folder import read_config
from hardwon.runs.journal import FILE, Journal, Key
from hardwon.runs.results import read_rows
from hardwon.runs.row import Row

NOT_ROWS: list[Any] = [
    [],
    {},
    {name: value for name, value in row("a").items() if name != "trials"},
    row("a", trials="x"),
    row("a", trials=True),
    row("a", tokens_in=1 << 70),
    row("a", wall_s=float("nan")),
    row("a", solved="yes"),
    row("a", submission=5),
    row("a", trial_scores="1"),
    row("a", trial_verdicts=[[1]]),
    row("a", tokens_by_role=[1]),
    row("a", calls_by_role={"act": "x"}),
    row("a", curve=[{"calls": 1}]),
    row("a", curve=[5]),
    row("a", notes={}),
]


def damage(folder: Path, payload: str) -> None:
    with sqlite3.connect(folder / FILE) as db:
        db.execute("UPDATE events SET payload = ? WHERE kind = 'row'", (payload,))
    db.close()


@pytest.mark.parametrize("values", NOT_ROWS)
def test_a_row_of_another_version_is_refused_by_journal_and_results_with_the_place(tmp_path: Path, values: Any) -> None:
    damage(make_run(tmp_path / "run"), json.dumps(values))
    with pytest.raises(UsageError, match=r"journal\.sqlite: ") as refused:
        read_rows(tmp_path / "run")
    assert "\n" not in str(refused.value)
    (tmp_path / "results.jsonl").write_text(f"{json.dumps(row('a'))}\n{json.dumps(values)}\n")
    with pytest.raises(UsageError, match=r"results\.jsonl:2: a row of another version"):
        read_rows(tmp_path)


def test_a_row_comes_back_as_it_was_and_unknown_fields_do_no_harm() -> None:
    known = Row.from_json(row("a", solved=None, cost_usd=None, wall_s=1, colour="red"))
    assert Row.from_json(json.loads(json.dumps(known.as_json()))) == known
    assert Row.from_json(known.as_json()) == known


@pytest.mark.parametrize("text", ["{", "", "[1]", "5", "[" * 100_000])
def test_an_event_that_is_no_json_is_refused_with_the_file(tmp_path: Path, text: str) -> None:
    damage(make_run(tmp_path / "run"), text)
    journal = Journal(tmp_path / "run" / FILE, read_only=True)
    for read in (
        lambda: list(journal.payloads("row")),
        lambda: journal.record(Key("own/learned", "reflexion", 0)),
        lambda: read_rows(tmp_path / "run"),
    ):
        with pytest.raises(UsageError, match=r"journal\.sqlite: an event does not read"):
            read()
    journal.close()


def test_a_journal_whose_table_is_another_is_refused_when_it_is_opened(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / FILE) as db:
        db.executescript("CREATE TABLE events (seq INTEGER PRIMARY KEY); PRAGMA user_version=1")
    db.close()
    with pytest.raises(UsageError, match="not a readable journal"):
        Journal(tmp_path / FILE, read_only=True)


@pytest.mark.parametrize(
    ("settings", "about", "said"),
    [
        ({}, None, "about is no object"),
        ({}, [], "about is no object"),
        ({"arms": {"reflexion": 3}}, {}, "settings.arms"),
        ({"arms": ["reflexion"]}, {}, "settings.arms"),
        ({"budget": [1]}, {}, "settings.budget"),
        ({"budget": {"tokens": "x"}}, {}, "settings.budget"),
        ({"seeds": 3}, {}, "settings.seeds"),
        ({"seeds": None}, {}, "settings.seeds"),
        ({"sampling": 3}, {}, "settings.sampling"),
        ({}, {"baseline": [1]}, "about.baseline"),
        ({}, {"data": 5}, "about.data"),
    ],
)
def test_a_configuration_of_another_version_is_refused_with_file_and_mend(
    tmp_path: Path, settings: dict[str, Any], about: Any, said: str
) -> None:
    (tmp_path / "config.json").write_text(
        json.dumps({"settings": {**config()["settings"], **settings}, "about": about})
    )
    with pytest.raises(UsageError, match=rf"config\.json: {said}.*give another run folder"):
        read_config(tmp_path)
