"""What if a lesson or a setting had been another: a branch is a run of its own, made by the real command."""

import json
import os
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
from tests.view.made import learned, make_run, written

import hardwon
from hardwon.errors import UsageError
from hardwon.memory.bank.item import Item
from hardwon.memory.bank.sqlite import SqliteBank
from hardwon.runs.journal import FILE, Key
from hardwon.view.branch import Change, branch, origin_of
from hardwon.view.branching import change_from, start
from hardwon.view.events import Events
from hardwon.view.reader import Reader

OTHER = "Nothing guards emptiness here: decide what comes back before comparing anything at all."
PACKAGE = Path(hardwon.__file__).parent
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
    """Waits until the run is over."""
    reader = Reader(folder)
    deadline = time.monotonic() + 90
    while not reader.look().rows.all or reader.look().state == "running":
        assert time.monotonic() < deadline, (folder / "what-if.log").read_text()
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
        (Change(1, None, {"trials": "1"}), "give more of them too"),
        (Change(1), "Nothing is changed"),
        (
            Change(1, None, {"trials": "4", "show": "lesson"}, f"script:{tmp_path}/script.json", "tokens=9000"),
            "Nothing",
        ),
        (Change(1, OTHER, {"lesson": "evidence"}), "change one of them"),
    ):
        with pytest.raises(UsageError, match=said):
            branch(run, KEY, change)
    with pytest.raises(UsageError, match="no such trial"):
        branch(run, Key("own/none", "reflexion", 0), Change(1, OTHER, {}))
    with (tmp_path / "tasks.jsonl").open("a") as data:
        data.write("\n")
    with pytest.raises(UsageError, match="has changed since"):
        branch(run, KEY, Change(1, OTHER, {}))
    (tmp_path / "tasks.jsonl").unlink()
    with pytest.raises(UsageError, match="data is not there"):
        branch(run, KEY, Change(1, OTHER, {}))
    assert not list(tmp_path.glob("*what-if*"))


def test_a_form_is_read_strictly() -> None:
    form = {"trial": "1", "lesson": "b", "before": "a", "set.x": " 1", "set.y": "a=b", "model": "m", "other": "z"}
    assert change_from(form) == Change(1, "b", {"x": "1", "y": "a=b"}, "m", None)
    assert change_from({"trial": "1", "lesson": "a\r\nb", "before": "a\nb", "budget": ""}) == Change(1, budget="")
    for wrong in ({}, {"trial": "-1"}, {"trial": "٣"}, {"trial": "1" * 9}):
        with pytest.raises(UsageError, match="names no trial"):
            change_from(wrong)


WRONG = "```python\ndef largest(xs):\n    return {}\n```"
THREE = {
    "own/largest": {
        "act": [WRONG.format("max(xs)"), WRONG.format("xs[0]"), WRONG.format("max(xs) if xs else None")],
        "reflect": [LESSON, "The first number is not the largest: compare every number with the best so far."],
    }
}


def made(folder: Path, script: object, *options: str, **environment: str) -> Path:
    """A run of one task with a script of its own."""
    folder.mkdir(exist_ok=True)
    (folder / "tasks.jsonl").write_text(json.dumps(TASKS[1]) + "\n")
    (folder / "script.json").write_text(json.dumps(script))
    command = [sys.executable, "-m", "hardwon", "run", str(folder / "tasks.jsonl"), "--out", str(folder / "run")]
    command += ["--model", f"script:{folder}/script.json", *options]
    subprocess.run(command, check=True, capture_output=True, timeout=100, env={**os.environ, **environment})
    return folder / "run"


def test_settings_are_others_from_the_trial_on_and_earlier_ones_stay(tmp_path: Path) -> None:
    run = made(tmp_path, THREE)
    out, mine = start(run, KEY, Change(1, None, {"show": "last", "retry_temperature": "0.2", "memory": "1"}))
    finished(out)
    was, became = events(run, KEY), events(out, mine)
    assert became["act", 0] == was["act", 0]
    assert "return max(xs)" in became["act", 1]["messages"][-1][1]
    assert "return max(xs)" not in was["act", 1]["messages"][-1][1]
    assert became["act", 1]["temperature"] == 0.2


def test_a_branch_has_the_prompts_and_the_way_of_acting_of_its_run(tmp_path: Path) -> None:
    (tmp_path / "prompts" / "actors").mkdir(parents=True)
    own = (PACKAGE / "actors" / "prompts" / "program.txt").read_text()
    (tmp_path / "prompts" / "actors" / "program.txt").write_text(f"Mind the edges.\n{own}")
    run = made(tmp_path, THREE, "--prompts", str(tmp_path / "prompts"))
    out, mine = start(run, KEY, Change(1, OTHER))
    finished(out)
    assert events(out, mine)["act", 1]["messages"][-1][1].startswith("Mind the edges.")

    lesson = "The answer was guessed; look for the paragraph that is on it first."
    acts = {"tool_calls": [{"name": "search", "arguments": {"query": "x"}}]}
    (tmp_path / "acts.json").write_text(json.dumps({"*": {"act": [acts], "reflect": [lesson]}}))
    command = [sys.executable, "-m", "hardwon", "run", "multi-hop", "--limit", "1", "--feedback", "oracle"]
    command += ["--tools", "native", "--trials", "2", "--out", str(tmp_path / "native")]
    command += ["--model", f"script:{tmp_path}/acts.json"]
    subprocess.run(command, check=True, capture_output=True, timeout=100)
    key = Key(Reader(tmp_path / "native").look().rows.all[0].task_id, "reflexion", 0)
    out, mine = start(tmp_path / "native", key, Change(1, OTHER.replace("emptiness", "the paragraphs")))
    finished(out)
    assert json.loads((out / "config.json").read_text())["settings"]["tools"] == "native"


def test_after_a_later_trial_the_model_and_the_budget_are_others_and_what_earlier_prompts_hold_is_not(
    tmp_path: Path,
) -> None:
    run = made(tmp_path, THREE)
    other = {"own/largest": {"act": [WRONG.format("None")] * 9}}
    (tmp_path / "other.json").write_text(json.dumps(other))
    for settings in ({"show": "best"}, {"retry_temperature": "0.1"}, {"memory": "0", "trials": "9"}):
        with pytest.raises(UsageError, match=r"were made with it as it was|want a whole number"):
            branch(run, KEY, Change(2, None, settings))
    out, mine = start(run, KEY, Change(2, model=f"script:{tmp_path}/other.json", budget="tokens=90000"))
    finished(out)
    was, became = events(run, KEY), events(out, mine)
    assert became["act", 1] == was["act", 1]
    assert became["lesson", 1] == was["lesson", 1]
    assert became["act", 2]["completion"]["text"] == WRONG.format("None")
    assert became["row", 0]["verdict"] == "fail"


def test_a_lesson_that_is_to_be_made_in_another_way_is_made_anew(tmp_path: Path) -> None:
    run = made(tmp_path, THREE)
    out, mine = start(run, KEY, Change(1, None, {"lesson": "evidence"}))
    finished(out)
    assert events(out, mine)["lesson", 0]["origin"] == "evidence"


def test_a_branch_has_the_advice_its_task_had_and_the_bank_learns_nothing_from_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bank = SqliteBank(tmp_path / "mine.sqlite")
    advice = "For the largest number of an empty list give None back."
    bank.write([Item("Guard the largest number of an empty list", "", advice, state="active")], "by the user")
    options = ("--recall", "2", "--withhold", "0", "--embedder", "none", "--learn", "next")
    run = made(tmp_path, THREE, *options, HARDWON_BANK=bank.name)
    before = bank.head(), bank.counts()
    assert before[1][1] == 1
    out, mine = start(run, KEY, Change(1, OTHER), bank.name)
    finished(out)
    became = events(out, mine)
    assert became["recall", 0] == events(run, KEY)["recall", 0]
    assert advice in became["act", 1]["messages"][-1][1]
    assert became["row", 0]["solved"] is not None
    assert (bank.head(), bank.counts()) == before
    bank.close()
    SqliteBank(tmp_path / "another.sqlite").close()
    with pytest.raises(UsageError, match="not the reasoning bank that the run had"):
        branch(run, KEY, Change(1, OTHER), str(tmp_path / "another.sqlite"))
    monkeypatch.setenv("HARDWON_BANK", str(tmp_path / "none.sqlite"))
    with pytest.raises(UsageError, match="no bank there"):
        branch(run, KEY, Change(1, OTHER))
    assert not (tmp_path / "none.sqlite").exists()


def test_what_no_run_of_a_suite_made_can_not_be_branched_and_says_so(tmp_path: Path) -> None:
    for name, said in (("solve", "its check is not in the run folder"), ("-x", "is no suite")):
        with written(tmp_path / name, suite=name) as journal:
            learned(journal, KEY.task_id)
        with pytest.raises(UsageError, match=said):
            branch(tmp_path / name, KEY, Change(1, OTHER))
    with written(tmp_path / "untold", arms=("single",)) as journal:
        learned(journal, KEY.task_id)
    with pytest.raises(UsageError, match="does not tell its strategy"):
        branch(tmp_path / "untold", KEY, Change(1, OTHER))


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
    from playwright.sync_api import expect

    started = view(run)
    page = tab.page
    page.goto(started.address)
    page.goto(f"{started.base}{started.run()}/task?{urlencode({'id': KEY.task_id, 'arm': KEY.arm, 'seed': 0})}")
    page.locator("#what-if-1 > summary").click()
    page.locator("#what-if-1 textarea").fill(OTHER)
    page.locator("#what-if-1").get_by_label("show").select_option("last")
    page.get_by_role("button", name="Run it").click(no_wait_after=True)
    page.get_by_text("Branched from").wait_for(timeout=60_000)
    page.locator("#trial-2").wait_for(timeout=60_000)
    page.locator("#was-trial-2").wait_for()
    page.get_by_text("with show=last").wait_for()
    expect(page.locator("mark").first).to_have_text(OTHER)
    page.get_by_role("link", name="Runs", exact=True).first.click()
    page.get_by_role("link", name="run-what-if-1").first.wait_for()
    assert tab.trouble == []
    finished(run.with_name("run-what-if-1"))
