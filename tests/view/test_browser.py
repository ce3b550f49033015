"""The view in a real browser: every page, live, by keyboard, in the dark, on a phone, with no request to elsewhere."""

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.view.conftest import View, Watched
from tests.view.made import HOSTILE, LESSON, call, checked, learned, make_run, problem, program, row, written

from hardwon.runs.journal import Key

Start = Callable[..., View]
TASK = "task?id=own/learned&arm=reflexion&seed=0"


def axe_violations(page: Any) -> list[str]:
    """What axe-core holds for serious or critical."""
    from axe_playwright_python.base import AXE_FILE_PATH

    page.evaluate(Path(AXE_FILE_PATH).read_text(encoding="utf-8"))
    found = page.evaluate("() => axe.run()")["violations"]
    return [
        f"{page.url}: {v['id']}: {v['nodes'][0]['html'][:200]}" for v in found if v["impact"] in ("serious", "critical")
    ]


@pytest.fixture
def compared(tmp_path: Path) -> Path:
    """A comparison of two arms on four tasks."""
    with written(tmp_path / "compared", arms=("single", "reflexion"), tasks=4) as journal:
        for n in range(4):
            learned(journal, f"own/{n}")
            key = Key(f"own/{n}", "single", 0)
            journal.append(key, "task", 0, problem(f"own/{n}"))
            journal.append(key, "act", 0, call(program("max(xs)")), 1.0)
            journal.append(key, "check", 0, checked("fail"), 2.0)
            solved = {"solved": n > 1, "verdict": "fail", "stop": "trials"}
            journal.append(key, "row", 0, row(f"own/{n}", "single", **solved), 2.0)
    return tmp_path / "compared"


def test_every_page_is_whole_quiet_accessible_and_asks_nobody_else(
    tmp_path: Path, compared: Path, view: Start, tab: Watched
) -> None:
    from playwright.sync_api import expect

    started = view(make_run(tmp_path / "run"), compared)
    page = tab.page
    page.goto(started.address)
    assert "token" not in page.url
    run, many = started.run(), started.run("compared")
    trouble = []
    paths = ["/", run, f"{run}/{TASK}", f"{run}/{TASK}".replace("/task", "/calls"), many, f"{many}/compare", "/bank"]
    for dark in (False, True):
        page.emulate_media(color_scheme="dark" if dark else "light")
        for path in paths:
            page.goto(started.base + path)
            expect(page.locator("h1")).to_have_count(1)
            trouble += axe_violations(page)
    assert trouble == []
    assert tab.trouble == []
    assert tab.asked == {f"127.0.0.1:{started.port}"}


def test_an_event_is_seen_within_a_second(tmp_path: Path, view: Start, tab: Watched) -> None:
    from playwright.sync_api import expect

    with written(tmp_path / "run") as journal:
        learned(journal, "own/first")
        started = view(tmp_path / "run")
        page = tab.page
        page.goto(started.address)
        page.get_by_role("link", name="run", exact=True).click()
        page.get_by_text("live", exact=True).wait_for()
        expect(page.get_by_role("link", name="own/second")).to_have_count(0)
        learned(journal, "own/second", finish=False)
        began = time.monotonic()
        page.get_by_role("link", name="own/second").first.wait_for(timeout=5000)
        took = time.monotonic() - began
        page.get_by_role("link", name="own/second").first.click()
        page.get_by_text("Trial 1").wait_for()
        page.get_by_text("live", exact=True).wait_for()
        journal.append(Key("own/second", "reflexion", 0), "act", 1, call(program("0"), f"Write it. {LESSON}"), 4.0)
        page.get_by_text("Trial 2").wait_for(timeout=5000)
        page.locator("mark", has_text="guard against emptiness").wait_for()
        page.goto(started.base + started.run())
        page.locator(".state.running").wait_for()
    page.locator(".state.stopped").wait_for(timeout=5000)
    assert took < 1.0
    assert tab.trouble == []


def test_a_reader_keeps_what_was_opened_when_the_page_goes_on(tmp_path: Path, view: Start, tab: Watched) -> None:
    from playwright.sync_api import expect

    with written(tmp_path / "run") as journal:
        learned(journal, "own/learned", finish=False)
        started = view(tmp_path / "run")
        page = tab.page
        page.goto(started.address)
        page.goto(f"{started.base}{started.run()}/{TASK}")
        page.get_by_text("live", exact=True).wait_for()
        page.locator("#output-1 > summary").click()
        expect(page.locator("#output-1 pre")).to_be_hidden()
        journal.append(Key("own/learned", "reflexion", 0), "act", 1, call(program("0")), 4.0)
        page.locator("#trial-2").wait_for()
        expect(page.locator("#output-1 pre")).to_be_hidden()


def test_tasks_are_filtered_by_a_click_and_the_difference_is_shown(tmp_path: Path, view: Start, tab: Watched) -> None:
    from playwright.sync_api import expect

    started = view(make_run(tmp_path / "run"))
    page = tab.page
    page.goto(started.address)
    page.get_by_role("link", name="run", exact=True).click()
    tasks = page.locator("#tasks tbody tr")
    expect(tasks).to_have_count(2)
    page.get_by_role("link", name="solved at trial 2").click()
    expect(tasks).to_have_count(1)
    page.locator("#tasks").get_by_role("link", name="own/learned").click()
    expect(page.locator(".d-new")).to_have_text("added:     return max(xs) if xs else None")
    expect(page.locator(".d-gone")).to_have_text("removed:     return max(xs)")


def test_everything_can_be_reached_by_keyboard(tmp_path: Path, view: Start, tab: Watched) -> None:
    from playwright.sync_api import expect

    started = view(make_run(tmp_path / "run"))
    page = tab.page
    page.goto(started.address)
    page.goto(started.base + started.run())
    page.keyboard.press("/")
    page.keyboard.type("failed")
    page.keyboard.press("Enter")
    page.get_by_text("1 task of 2").wait_for()
    page.goto(f"{started.base}{started.run()}/task?id=own/failed&arm=reflexion&seed=0")
    page.keyboard.press("]")
    page.get_by_role("heading", name="own/learned").wait_for()
    page.wait_for_load_state()
    page.keyboard.press("[")
    page.get_by_role("heading", name="own/failed").wait_for()
    page.wait_for_load_state()
    page.keyboard.press("Tab")
    expect(page.locator(":focus")).to_have_text("Skip to the content")


def test_a_hostile_reply_runs_nothing_and_stays_in_its_box(tmp_path: Path, view: Start, tab: Watched) -> None:
    text = HOSTILE + "x" * 300_000
    started = view(make_run(tmp_path / "run", text=text))
    page = tab.page
    page.goto(started.address)
    for width in (1200, 390):
        page.set_viewport_size({"width": width, "height": 800})
        for path in ("", f"/{TASK}", f"/{TASK}".replace("/task", "/calls"), f"/{TASK}".replace("learned", "failed")):
            page.goto(started.base + started.run() + path)
            assert page.evaluate("window.broken") is None
            assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert tab.trouble == []


def test_dark_mode_is_dark_and_a_phone_needs_no_sideways_scrolling(
    tmp_path: Path, compared: Path, view: Start, tab: Watched
) -> None:
    started = view(make_run(tmp_path / "run"), compared)
    page = tab.page
    page.goto(started.address)
    page.emulate_media(color_scheme="dark")
    page.set_viewport_size({"width": 360, "height": 740})
    run, many = started.run(), started.run("compared")
    for path in ("/", run, f"{run}/{TASK}", many, f"{many}/compare"):
        page.goto(started.base + path)
        red, green, blue = page.evaluate("getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number)")
        assert max(red, green, blue) < 60
        assert page.evaluate("document.documentElement.scrollWidth") <= 360


def test_a_folder_that_moves_while_its_page_is_open_is_told(tmp_path: Path, view: Start, tab: Watched) -> None:
    folder = make_run(tmp_path / "run")
    started = view(folder)
    page = tab.page
    page.goto(started.address)
    page.goto(started.base + started.run())
    page.get_by_text("live", exact=True).wait_for()
    folder.rename(tmp_path / "moved")
    page.get_by_text("no run folder there (any more)").wait_for(timeout=5000)


def test_an_exported_page_has_its_colours_and_leads_to_its_tasks(tmp_path: Path, compared: Path, tab: Watched) -> None:
    from playwright.sync_api import expect

    from hardwon.view.export import export_pages

    page = tab.page
    page.goto(export_pages([compared], tmp_path / "out").as_uri())
    page.get_by_role("link", name="compared").click()
    page.get_by_role("link", name="reflexion: solved at trial 2").first.click()
    expect(page.locator(".d-new")).to_have_count(1)
    assert page.evaluate("getComputedStyle(document.querySelector('.d-new')).backgroundColor") != "rgba(0, 0, 0, 0)"
    assert tab.trouble == []
    assert tab.asked == {""}


@pytest.fixture
def real(tmp_path: Path) -> Path:
    """A real comparison of a scripted model, made by the command."""
    import subprocess
    import sys

    from tests.cli.own_suite import SCRIPT, TASKS

    (tmp_path / "tasks.jsonl").write_text("".join(json.dumps(task) + "\n" for task in TASKS))
    (tmp_path / "script.json").write_text(json.dumps(SCRIPT))
    command = [sys.executable, "-m", "hardwon", "compare", "tasks.jsonl", "--arms", "single,reflexion,auto"]
    command += ["--budget", "tokens=4000", "--model", "script:script.json", "--out", "real"]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, timeout=100)
    return tmp_path / "real"


def test_a_real_comparison_shows_on_every_page(real: Path, view: Start, tab: Watched) -> None:
    from playwright.sync_api import expect

    started = view(real)
    page = tab.page
    page.goto(started.address)
    run = started.run("real")
    for path in (run, f"{run}/compare", f"{run}/task?id=own/largest&arm=reflexion&seed=0"):
        page.goto(started.base + path)
        expect(page.locator("h1")).to_have_count(1)
        expect(page.get_by_text("does not read")).to_have_count(0)
    expect(page.get_by_role("heading", name="Trial 2")).to_have_count(1)
    page.get_by_role("link", name="prompts and replies").click()
    page.locator("details").nth(2).wait_for()
    assert tab.trouble == []
