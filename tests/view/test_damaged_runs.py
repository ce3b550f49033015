"""Among damaged runs the others are shown, and each damaged one says what is wrong with it."""

import json
import sqlite3
from collections.abc import Callable
from pathlib import Path

from tests.view.conftest import View
from tests.view.made import config, make_run, row

from hardwon.runs.journal import FILE
from hardwon.view.export import export_pages
from hardwon.view.folders import Shelf

DAMAGED = {
    "no_about": {**config(), "about": None},
    "arms": config(arms=("reflexion",)) | {"settings": {**config()["settings"], "arms": {"reflexion": 3}}},
    "budget": config(budget=[1]),
}
EVENTS = {
    "row_empty": "{}",
    "row_older": json.dumps({k: v for k, v in row("a").items() if k != "stop"}),
    "row_typed": json.dumps(row("a", trials="x")),
    "row_listed": "[1]",
    "row_torn": "{",
}


def make_damaged(place: Path) -> None:
    for name, values in DAMAGED.items():
        make_run(place / name)
        (place / name / "config.json").write_text(json.dumps(values))
    for name, payload in EVENTS.items():
        make_run(place / name)
        change(place / name, "row", payload)


def change(folder: Path, kind: str, payload: str) -> None:
    with sqlite3.connect(folder / FILE) as db:
        db.execute("UPDATE events SET payload = ? WHERE kind = ?", (payload, kind))
    db.close()


def test_a_damaged_run_is_a_line_in_the_list_its_page_says_why_and_the_others_go_on(
    tmp_path: Path, view: Callable[..., View]
) -> None:
    make_damaged(tmp_path)
    make_run(tmp_path / "good")
    make_run(tmp_path / "bare")
    (tmp_path / "bare" / "config.json").write_text('{"settings": {}}')
    started = view(tmp_path)
    listed = started.get("/")
    assert listed.count("can not be read") == len(DAMAGED) + len(EVENTS)
    assert "solved at trial 2" in started.get(started.run("good"))
    assert "solved at trial 2" in started.get(started.run("bare"))
    cookie = f"hardwon-{started.port}={started.token}"
    for reader in Shelf([tmp_path]).readers():
        if reader.name not in ("good", "bare"):
            for page in ("", "/task?id=own/learned&arm=reflexion&seed=0", "/compare"):
                status, text, _ = started.ask(f"/run/{reader.id}{page}", Cookie=cookie)
                assert (status, str(reader.path) in text) == (409, True), (reader.name, page)


def test_events_of_another_version_break_no_more_than_their_own_page(tmp_path: Path, view: Callable[..., View]) -> None:
    for kind in ("act", "check", "lesson", "grade", "task"):
        for name, payload in (("empty", "{}"), ("other", '{"completion": 5, "checks": 5, "text": 5}')):
            change(make_run(tmp_path / f"{kind}_{name}"), kind, payload)
    started = view(tmp_path)
    cookie = f"hardwon-{started.port}={started.token}"
    for reader in Shelf([tmp_path]).readers():
        started.get(started.run(reader.name))
        for page in ("task", "calls"):
            path = f"/run/{reader.id}/{page}?id=own/learned&arm=reflexion&seed=0"
            assert started.ask(path, Cookie=cookie)[0] == 409, (reader.name, page)


def test_an_export_of_damaged_runs_holds_the_good_ones(tmp_path: Path) -> None:
    make_damaged(tmp_path / "runs")
    make_run(tmp_path / "runs" / "good")
    first = export_pages([tmp_path / "runs"], tmp_path / "out")
    assert first.read_text().count("can not be read") == len(DAMAGED) + len(EVENTS)
    assert len(list(first.parent.glob("*.html"))) == 1 + 1 + 2 * 2
