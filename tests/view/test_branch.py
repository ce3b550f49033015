"""What if a lesson or a setting had been another: a branch is a run of its own, made by the real command."""

import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from tests.cli.own_suite import LESSON, SCRIPT, TASKS
from tests.view.conftest import View, Watched
from tests.view.made import make_run

from hardwon.errors import UsageError
from hardwon.runs.journal import FILE, Key
from hardwon.view.branch import Change, branch, origin_of
from hardwon.view.branching import change_from, start
from hardwon.view.events import Events
from hardwon.view.reader import Reader

OTHER = "Nothing guards emptiness here: decide what comes back before comparing anything at all."
KEY = Key("own/largest", "reflexion", 0)


@pytest.fixture
def run(tmp_path: Path) -> Path:
    (tmp_path / "tasks.jsonl").write_text("".join(json.dumps(task) + "\n" for task in TASKS))
    (tmp_path / "script.json").write_text(json.dumps(SCRIPT))
    command = [sys.executable, "-m", "hardwon", "run", str(tmp_path / "tasks.jsonl"), "--budget", "tokens=9000"]
    command += ["--model", f"script:{tmp_path}/script.json", "--out", str(tmp_path / "run"), "--trials", "4"]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, timeout=100)
    return tmp_path / "run"


def events(folder: Path, key: Key) -> dict[tuple[str, int], dict[str, Any]]:
    journal = Events(folder)
    try:
        return {(event.kind, event.index): event.payload for event in journal.of(key)}
    finally:
        journal.close()


def finished(folder: Path) -> None:
    reader = Reader(folder)
    for _ in range(400):
        if reader.look().rows.all and reader.look().state != "running":
            break
        time.sleep(0.05)
    reader.close()


def test_a_branch_pays_no_earlier_call_again_and_carries_the_changed_lesson(run: Path) -> None:
    before = (run / FILE).read_bytes()
    out, made = start(run, KEY, Change(1, OTHER, {"trials": "3"}))
    finished(out)
    was, became = events(run, KEY), events(out, made)
    assert became["act", 0] == was["act", 0]
    assert became["lesson", 0]["text"] == OTHER
    assert OTHER in became["act", 1]["messages"][-1][1]
    assert LESSON in was["act", 1]["messages"][-1][1]
    assert became["row", 0]["solved"] is True
    assert (run / FILE).read_bytes() == before
    origin = origin_of(out)
    assert origin is not None
    assert (origin["run"], origin["trial"], origin["lesson"]) == (str(run), 1, OTHER)


def test_what_can_not_be_changed_is_told_and_leaves_no_folder(run: Path, tmp_path: Path) -> None:
    for change, said in (
        (Change(1, "short", {}), "guard would refuse"),
        (Change(1, "```python\na = 1\nb = 2\nc = 3\n```", {}), "guard would refuse"),
        (Change(2, OTHER, {}), "only after a trial that failed"),
        (Change(9, OTHER, {}), "no such trial"),
        (Change(1, None, {"sideways": "1"}), "no setting"),
        (Change(1, None, {"trials": "many"}), "want a whole number"),
    ):
        with pytest.raises(UsageError, match=said):
            branch(run, KEY, change)
    with pytest.raises(UsageError, match="no such trial"):
        branch(run, Key("own/none", "reflexion", 0), Change(1, OTHER, {}))
    (tmp_path / "tasks.jsonl").unlink()
    with pytest.raises(UsageError, match="data is not there"):
        branch(run, KEY, Change(1, OTHER, {}))
    assert not list(tmp_path.glob("*what-if*"))


def test_a_form_is_read_strictly() -> None:
    assert change_from({"trial": "1", "lesson": "b", "before": "a", "settings": "x=1 y=a=b"}) == Change(
        1, "b", {"x": "1", "y": "a=b"}
    )
    assert change_from({"trial": "1", "lesson": "a\r\nb", "before": "a\nb", "settings": "x=1"}).lesson is None
    for form in ({}, {"trial": "-1"}, {"trial": "1"}, {"trial": "1", "settings": "--x"}, {"trial": "1", "lesson": " "}):
        with pytest.raises(UsageError):
            change_from(form)


def test_only_the_views_own_pages_may_start_a_branch(tmp_path: Path, view: Callable[..., View]) -> None:
    started = view(make_run(tmp_path / "run"))
    cookie = f"hardwon-{started.port}={started.token}"
    path = f"{started.run()}/what-if?{urlencode({'id': 'own/learned', 'arm': 'reflexion', 'seed': 0})}"
    assert started.ask(path, "POST", Origin=started.base)[0] == 403
    assert started.ask(path, "POST", Cookie=cookie)[0] == 403
    assert started.ask(path, "POST", Cookie=cookie, Origin="null")[0] == 403
    assert started.ask(path, "GET", Cookie=cookie)[0] == 405
    status, text, _ = started.ask(path, "POST", Cookie=cookie, Origin=started.base)
    assert status == 409
    assert "names no trial" in text
    assert [p.name for p in tmp_path.iterdir()] == ["run"]


def test_both_sides_of_a_branch_stand_on_one_page(run: Path, view: Callable[..., View], tab: Watched) -> None:
    started = view(run)
    page = tab.page
    page.goto(started.address)
    page.goto(f"{started.base}{started.run()}/task?{urlencode({'id': KEY.task_id, 'arm': KEY.arm, 'seed': 0})}")
    page.locator("#what-if-1 > summary").click()
    page.locator("#what-if-1 textarea").fill(OTHER)
    page.get_by_role("button", name="Run it").click()
    page.get_by_text("Branched from").wait_for()
    page.locator("#trial-2").wait_for()
    page.locator("#was-trial-2").wait_for()
    assert page.locator("mark").first.inner_text() == OTHER
    page.get_by_role("link", name="Runs", exact=True).first.click()
    page.get_by_role("link", name="run-what-if-1").first.wait_for()
    assert tab.trouble == []
    finished(run.with_name("run-what-if-1"))
