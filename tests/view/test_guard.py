"""Who may ask the view, and what an answer may do."""

import asyncio
import json
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.view.conftest import View
from tests.view.made import HOSTILE, call, checked, config, learned, make_run, row, written

from hardwon.runs.journal import Key
from hardwon.view.app import make_app
from hardwon.view.folders import Shelf

Start = Callable[..., View]


def test_only_who_has_the_token_may_look(tmp_path: Path, view: Start) -> None:
    started = view(make_run(tmp_path / "run"))
    cookie = f"hardwon-{started.port}={started.token}"
    assert started.ask("/")[0] == 403
    assert started.ask("/", Cookie=f"hardwon-{started.port}=wrong")[0] == 403
    assert started.ask("/?token=wrong")[0] == 403
    assert started.ask("/?token=wr%C3%B6ng")[0] == 403
    status, _, headers = started.ask(f"/?find=x&token={started.token}")
    assert (status, headers["location"]) == (303, "/?find=x")
    assert "HttpOnly" in headers["set-cookie"]
    assert started.ask("/", Cookie=cookie)[0] == 200
    run = started.run()
    for path in (run, f"{run}/events", f"{run}/compare", "/events", "/compare", "/bank"):
        assert started.ask(path)[0] == 403


def test_a_foreign_name_that_points_here_is_refused(tmp_path: Path, view: Start) -> None:
    started = view(make_run(tmp_path / "run"))
    cookie = f"hardwon-{started.port}={started.token}"
    assert started.ask("/", Cookie=cookie, Host="evil.example")[0] == 421
    assert started.ask("/static/view.js", Host=f"evil.example:{started.port}")[0] == 421
    assert started.ask("/", Cookie=cookie, Host=f"localhost:{started.port}")[0] == 200


@pytest.mark.parametrize(("port", "status"), [(80, 200), (8080, 421)])
def test_the_usual_port_may_be_left_out_of_the_name_and_no_other(tmp_path: Path, port: int, status: int) -> None:
    async def asked(host: bytes) -> int:
        answers: list[Any] = []

        async def receive() -> Any:
            return {"type": "http.request", "body": b"", "more_body": False}

        async def send(message: Any) -> None:
            answers.append(message)

        headers = [(b"host", host), (b"cookie", f"hardwon-{port}=t".encode())]
        scope = {"type": "http", "method": "GET", "path": "/bank", "query_string": b"", "headers": headers}
        app = make_app(Shelf([tmp_path]), "t", port, str(tmp_path / "bank.sqlite"))
        await app({**scope, "raw_path": b"/bank", "root_path": "", "scheme": "http"}, receive, send)
        return int(answers[0]["status"])

    for host in (b"127.0.0.1", b"localhost"):
        assert asyncio.run(asked(host)) == status
        assert asyncio.run(asked(host + f":{port}".encode())) == 200
    assert asyncio.run(asked(b"evil.example")) == 421


def test_the_prompts_of_an_oracle_run_say_so(tmp_path: Path, view: Start) -> None:
    with written(tmp_path / "oracle") as journal:
        learned(journal, "a")
        key = Key("b", "reflexion", 0)
        journal.append(key, "act", 0, call("x"))
        journal.append(key, "check", 0, {**checked("fail"), "source": "oracle"})
    with written(tmp_path / "begun", feedback="oracle") as journal:
        journal.append(Key("b", "reflexion", 0), "act", 0, call("x"))
    started = view(tmp_path)
    query = "arm=reflexion&seed=0"
    assert "oracle feedback" in started.get(f"{started.run('oracle')}/calls?id=b&{query}")
    assert "oracle feedback" not in started.get(f"{started.run('oracle')}/calls?id=a&{query}")
    assert "oracle feedback" in started.get(f"{started.run('begun')}/calls?id=b&{query}")


def test_a_change_from_another_origin_is_refused(tmp_path: Path, view: Start) -> None:
    started = view(make_run(tmp_path / "run"))
    cookie = f"hardwon-{started.port}={started.token}"
    assert started.ask("/", "POST", Cookie=cookie, Origin="http://evil.example")[0] == 403
    assert started.ask("/", "POST", Cookie=cookie)[0] == 403
    assert started.ask("/", "POST", Cookie=cookie, Origin=started.base)[0] == 405


def test_every_answer_forbids_inline_scripts_and_foreign_hosts(tmp_path: Path, view: Start) -> None:
    started = view(make_run(tmp_path / "run"))
    cookie = f"hardwon-{started.port}={started.token}"
    for path in ("/", started.run(), "/nowhere", "/static/view.css", "/run/none"):
        _, _, headers = started.ask(path, Cookie=cookie)
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["server"] is None


def test_what_a_model_wrote_is_escaped_on_every_page(tmp_path: Path, view: Start) -> None:
    with written(tmp_path / "hostile") as journal:
        learned(journal, "own/x</title><script>", text=HOSTILE)
    started = view(tmp_path / "hostile")
    run = started.run("hostile")
    query = "id=own/x%3C/title%3E%3Cscript%3E&arm=reflexion&seed=0"
    for path in ("/", run, f"{run}/task?{query}", f"{run}/calls?{query}"):
        text = started.get(path)
        assert text.count("<script") == 1, "the view's own"
        assert "<img" not in text
        assert "\x1b" not in text
        assert "\u202e" not in text
        assert "\x00" not in text
    assert "&lt;script&gt;window.broken" in text
    assert "‹202E›" in text


def test_a_missing_task_a_missing_run_and_nonsense_get_a_page_that_says_so(tmp_path: Path, view: Start) -> None:
    started = view(make_run(tmp_path / "run"))
    run, cookie = started.run(), f"hardwon-{started.port}={started.token}"
    for path, status in (
        ("/run/none", 404),
        (f"{run}/task?id=none&arm=x&seed=0", 404),
        (f"{run}/task", 404),
        (f"{run}/task?seed=%D9%A3", 404),
        *(
            (f"{run}/{page}?id=none&arm=reflexion&seed={seed}", 404)
            for page in ("task", "calls")
            for seed in ("--5", "5-", "-", "9" * 40, "-5")
        ),
        (f"{run}/compare", 409),
        ("/compare", 409),
        ("/compare?run=none", 409),
        ("/nowhere", 404),
        (f"{run}?page=abc&order=%00&outcome=%FF&find=%ED%A0%80", 200),
        ("/static/../app.py", 404),
    ):
        found, text, _ = started.ask(path, Cookie=cookie)
        assert found == status, path
        assert "Traceback" not in text
        assert "<h1>" in text or status == 404


def test_runs_without_grades_without_rows_and_without_a_journal_have_their_pages(tmp_path: Path, view: Start) -> None:
    with written(tmp_path / "ungraded") as journal:
        nothing = {"solved": None, "graded_on": "nothing", "cost_usd": None, "trial_scores": [], "trial_verdicts": []}
        journal.append(Key("a", "reflexion", 0), "row", 0, row("a", **nothing))
    with written(tmp_path / "untouched"):
        pass
    kept = tmp_path / "kept"
    kept.mkdir()
    (kept / "config.json").write_text(json.dumps(config()))
    (kept / "results.jsonl").write_text(json.dumps(row("a")) + "\n")
    (kept / "lock").touch()
    (tmp_path / "damaged").mkdir()
    (tmp_path / "damaged" / "journal.sqlite").write_bytes(b"nonsense" * 100)
    (tmp_path / "damaged" / "config.json").write_text(json.dumps(config()))
    started = view(tmp_path)
    assert "not graded: " in started.get(started.run("ungraded"))
    assert "No task has finished yet" in started.get(started.run("untouched"))
    assert "solved at trial 1: " in started.get(started.run("kept"))
    assert "not a readable journal" in started.get("/")


def test_a_key_is_never_shown(tmp_path: Path, view: Start) -> None:
    with written(tmp_path / "run", model="http://me:secretword@host/v1#x") as journal:
        learned(journal, "a", text="Incorrect API key provided: sk-thisisnotarealkeybutlookslikeone")
    started = view(tmp_path / "run")
    run = started.run()
    for path in ("/", run, f"{run}/task?id=a&arm=reflexion&seed=0", f"{run}/calls?id=a&arm=reflexion&seed=0"):
        text = started.get(path)
        assert "thisisnotarealkey" not in text
        assert "secretword" not in text


def test_a_browser_that_goes_and_an_interruption_leave_nothing_behind(tmp_path: Path, view: Start) -> None:
    import http.client

    started = view(make_run(tmp_path / "run"))
    for _ in range(3):
        door = http.client.HTTPConnection("127.0.0.1", started.port, timeout=20)
        door.request("GET", f"{started.run()}/events", headers={"Cookie": f"hardwon-{started.port}={started.token}"})
        assert door.getresponse().read(10).startswith(b"retry")
        door.close()
    assert started.get("/")
    started.process.send_signal(signal.SIGINT)
    assert started.process.wait(timeout=10) in (0, 130)


def test_a_port_that_is_taken_and_a_missing_folder_are_told_in_one_line(tmp_path: Path, view: Start) -> None:
    started = view(make_run(tmp_path / "run"))
    for arguments in (["--port", str(started.port), str(tmp_path)], [str(tmp_path / "none")]):
        command = [sys.executable, "-m", "hardwon", "view", *arguments]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == 2
        assert len(done.stderr.splitlines()) == 1
        assert "Traceback" not in done.stderr
