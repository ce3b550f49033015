"""How long the view's pages take on a large run, and how soon a browser hears of an event.

    python benchmarks/view.py [--tasks N] [--json]

Makes a run folder of 10,000 tasks with two trials each, serves it with the real `hardwon view`, and asks for pages over
HTTP. `first_ms` is the first page of a run that came into the folder after the view had begun, so that nothing of it
was read ahead; `first_ratio` is the same beside a bare `json.loads` of the run's rows: on a busy machine it tells more
than milliseconds do. The others are medians. `live_percent` is the share of the machine's processors that the view
takes while a row is written every 0.1 s and a page is open that fetches itself anew as often as the view's script does.
Exits with 1 when a target is missed.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import re
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

from hardwon.runs.folder import open_folder
from hardwon.runs.journal import FILE, Journal, Key

TARGETS = {
    "first_ms": 300.0,
    "first_ratio": 6.0,
    "page_ms": 300.0,
    "task_ms": 100.0,
    "event_ms": 1000.0,
    "live_percent": 3.0,
}
_LIVE_S = 6.0
_SCAN_S = 2.5
"""The view looks for new folders more often than this."""
_PROMPT = "def solve(numbers):\n" + '    """' + "Work out what is asked, with care for the edges. " * 12 + '"""\n'
_PROGRAM = "def solve(numbers):\n" + "".join(f"    step_{n} = sum(numbers) + {n}\n" for n in range(30))
_LESSON = "The empty list was not thought of, hence check for it before anything is summed. " * 3


def config(tasks: int) -> dict[str, Any]:
    settings = {"suite": "made", "model": "script:made", "arms": {"reflexion": {}}, "budget": {"tokens": 4000}}
    return {"settings": {**settings, "seed": 0}, "about": {"tasks": tasks + 1}, "versions": {}}


def task_events(n: int) -> Iterator[tuple[Any, ...]]:
    usage = {"tokens_in": 400, "tokens_out": 300 + n % 97, "tokens_cached": 0, "cost_usd": 0.0001, "attempts": 1}
    solved, trials = n % 3 != 0, 1 + n % 4

    def call(text: str) -> dict[str, Any]:
        completion = {"text": text, "reasoning": None, "model": "made", "finish": "stop", "usage": usage}
        return {"completion": completion, "messages": [["user", _PROMPT]], "temperature": 0.7, "digest": "0"}

    def checked(verdict: str) -> dict[str, Any]:
        one = {"name": "test", "status": verdict, "call": "solve([]) == 0", "expected": "0", "observed": "1"}
        beside = {"error": None, "seconds": 0.1, "source": "grounded"}
        score = float(verdict == "pass")
        return {"verdict": verdict, "score": score, "text": "", "checks": [one | beside] * 5, "source": "grounded"}

    found: list[tuple[str, int, dict[str, Any]]] = [
        ("task", 0, {"digest": "0", "id": f"made/{n}", "prompt": _PROMPT, "kind": "function", "entry_point": "solve"})
    ]
    for trial in range(trials):
        last = trial + 1 == trials
        program = _PROGRAM.replace(f"+ {trial}", f"* {trial}")
        found.append(("act", trial, call(f"```python\n{program}    return step_{trial}\n```")))
        found.append(("check", trial, checked("pass" if solved and last else "fail")))
        if not last:
            found.append(("reflect", trial, call(_LESSON)))
            found.append(("lesson", trial, {"text": _LESSON, "checks": ["test"], "origin": "model", "rejected": []}))
    found.append(("grade", 0, checked("pass" if solved else "fail")))
    found.append(("row", 0, row(n, solved, trials)))
    for at, (kind, index, payload) in enumerate(found):
        yield f"made/{n}", "reflexion", 0, kind, index, time.time(), float(at), json.dumps(payload)


def row(n: int, solved: bool, trials: int) -> dict[str, Any]:
    scores = [0.0] * (trials - 1) + [float(solved)]
    return {
        "task_id": f"made/{n}",
        "arm": "reflexion",
        "seed": 0,
        "solved": solved,
        "feedback": "grounded",
        "verdict": "pass" if solved else "fail",
        "submission": _PROGRAM,
        "trials": trials,
        "calls": 2 * trials - 1,
        "tokens_in": 400 * trials,
        "tokens_out": 300 * trials + n % 97,
        "tokens_cached": 0,
        "cost_usd": 0.0001,
        "wall_s": 1.5 * trials,
        "stop": "solved" if solved else "trials",
        "error": None,
        "score": scores[-1],
        "trial_verdicts": ["pass" if score else "fail" for score in scores],
        "trial_scores": scores,
        "lessons": trials - 1,
        "tokens_by_role": {"act": 500 * trials, "reflect": 200 * trials},
        "calls_by_role": {"act": trials, "reflect": trials - 1},
    }


def make(folder: Path, tasks: int) -> None:
    with open_folder(folder, config(tasks)):
        pass
    db = sqlite3.connect(folder / FILE)
    insert = "INSERT INTO events (task_id, arm, seed, kind, idx, at, elapsed, payload) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
    with db:
        for n in range(tasks):
            db.executemany(insert, task_events(n))
    db.close()


class Browser:
    """Asks one view for pages, with its cookie."""

    def __init__(self, address: str) -> None:
        port, token = re.search(r":(\d+)/\?token=(.+)$", address).groups()  # type: ignore[union-attr]
        self._door = http.client.HTTPConnection("127.0.0.1", int(port), timeout=120)
        self._headers = {"Cookie": f"hardwon-{port}={token}"}

    def get(self, path: str) -> tuple[str, float]:
        """The page, and the milliseconds that it took."""
        began = time.perf_counter()
        self._door.request("GET", path, headers=self._headers)
        answer = self._door.getresponse()
        text = answer.read().decode()
        took = 1000 * (time.perf_counter() - began)
        if answer.status != 200:
            raise SystemExit(f"{path}: {answer.status}\n{text}")
        return text, took

    def listen(self, path: str) -> http.client.HTTPResponse:
        self._door.request("GET", path, headers=self._headers)
        return self._door.getresponse()


def measure(tasks: int) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place, "runs", "large")
        folder.parent.mkdir()
        make(Path(place, "made"), tasks)
        loads = loads_ms(Path(place, "made"))
        run = "/run/" + run_id(folder)
        command = [sys.executable, "-m", "hardwon", "view", str(folder.parent)]
        server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        try:
            assert server.stdout is not None
            address = server.stdout.readline().split()[-1]
            browser = Browser(address)
            browser.get("/bank")  # imports and templates are loaded by now: what is left is the run itself
            time.sleep(_SCAN_S)
            Path(place, "made").rename(folder)
            _, first = browser.get(run)
            queries = ("", "?page=50", "?outcome=second", "?find=77", "?order=tokens")
            pages = [browser.get(run + query)[1] for query in queries for _ in range(3)]
            some = range(0, tasks, max(1, tasks // 20))
            found = [browser.get(f"{run}/task?id={quote(f'made/{n}')}&arm=reflexion&seed=0")[1] for n in some]
            return {
                "tasks": tasks,
                "journal_mib": (folder / FILE).stat().st_size / 2**20,
                "first_ms": first,
                "first_ratio": first / loads,
                "page_ms": statistics.median(pages),
                "task_ms": statistics.median(found),
                "event_ms": event(folder, address, run, tasks),
                "live_percent": live(folder, browser, run, tasks, server.pid),
            }
        finally:
            server.terminate()
            server.wait(timeout=10)


def loads_ms(folder: Path) -> float:
    """Milliseconds that reading the JSON of all rows takes, and nothing else: the best of three."""
    db = sqlite3.connect(folder / FILE)
    lines = [payload for (payload,) in db.execute("SELECT payload FROM events WHERE kind = 'row'")]
    db.close()

    def once() -> float:
        began = time.perf_counter()
        for line in lines:
            json.loads(line)
        return 1000 * (time.perf_counter() - began)

    return min(once() for _ in range(3))


def event(folder: Path, address: str, run: str, n: int) -> float:
    """Milliseconds from an event's commit until an open page has heard of it and has fetched itself anew."""
    stream = Browser(address).listen(f"{run}/events")
    while not stream.readline().startswith(b"data:"):
        pass
    browser, journal = Browser(address), Journal(folder / FILE)
    browser.get(run)
    journal.append(Key(f"made/{n}", "reflexion", 0), "row", 0, row(n, True, 1))
    began = time.perf_counter()
    while not stream.readline().startswith(b"data:"):
        pass
    text, _ = browser.get(f"{run}?find=made/{n}")
    journal.close()
    if f"made/{n}<" not in text:
        raise SystemExit("the event is not on the page")
    return 1000 * (time.perf_counter() - began)


def live(folder: Path, browser: Browser, run: str, n: int, pid: int) -> float:
    """The view's share of all processors while a run goes on, in percent."""
    journal = Journal(folder / FILE)
    began, used = time.perf_counter(), processor_seconds(pid)
    due = 0.0
    count = 0
    while (now := time.perf_counter()) < began + _LIVE_S:
        count += 1
        journal.append(Key(f"made/{n + count}", "reflexion", 0), "row", 0, row(n + count, True, 1))
        if now >= due:
            _, took = browser.get(run)
            due = time.perf_counter() + max(0.7, 20 * took / 1000)
        time.sleep(0.1)
    journal.close()
    spent = processor_seconds(pid) - used
    return 100 * spent / (time.perf_counter() - began) / (os.cpu_count() or 1)


def processor_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def run_id(folder: Path) -> str:
    from hardwon.view.reader import Reader

    return Reader(folder).id


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tasks", type=int, default=10_000)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args()
    found = measure(options.tasks)
    missed = [name for name, target in TARGETS.items() if found[name] >= target]
    if options.json:
        print(json.dumps(found))
    else:
        print(f"{found['tasks']:,} tasks, a journal of {found['journal_mib']:.0f} MiB")
        for name, target in TARGETS.items():
            print(f"{name:12} {found[name]:6.1f} (target: under {target:.0f}): {'MISSED' if name in missed else 'met'}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
