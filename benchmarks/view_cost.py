"""What an open page costs a run: the same run with a view's page open beside it and without, in pairs.

    python benchmarks/view_cost.py [--pairs N] [--tasks N] [--json]

Each pair is two runs of the same tasks with a scripted model in the real sandbox, by the real command, in turns the one
or the other first. Beside one of them the real `hardwon view` is served, the event stream of the run's page is read,
and the page is fetched anew as often as the view's script does. `slower_percent` is the median of the pairs' ratios of
the time from the first row to the last, as the journal has it. Other work on the machine shows in the spread, which is
printed. Exits with 1 when the median misses its target.
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
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread

from hardwon.runs.journal import FILE
from hardwon.view.reader import Reader

TARGET = 3.0
_LEAST_S = 0.7
"""The view's script fetches a page at most so often, and takes at least 20 times as long a break as a page took."""
_BREAK = 20


def make(place: Path, tasks: int) -> None:
    """Tasks that fail once and are solved by the second trial, with a little to compute in each check."""
    lines, script = [], {}
    for n in range(tasks):
        name = f"made/{n}"
        tests = [f"assert work({k}) == {sum(range(k * 2000)) + n}" for k in range(1, 6)]
        prompt = f"Write work(k): the sum of the numbers below 2000 k, and {n}."
        task = {"task_id": name, "prompt": prompt, "entry_point": "work", "tests": tests, "hidden_tests": tests[:2]}
        lines.append(json.dumps(task) + "\n")
        wrong, right = (f"```python\ndef work(k):\n    return sum(range(k * 2000)) + {n + by}\n```" for by in (1, 0))
        lesson = f"The sum came out too large by one: add {n} and nothing else to the sum of the range."
        script[name] = {"act": [wrong, right], "reflect": [lesson]}
    (place / "tasks.jsonl").write_text("".join(lines))
    (place / "script.json").write_text(json.dumps(script))


def run(place: Path, out: Path, *, watched: bool) -> float:
    """Seconds from a run's first row to its last."""
    command = [sys.executable, "-m", "hardwon", "run", str(place / "tasks.jsonl"), "--out", str(out), "--workers", "2"]
    command += ["--model", f"script:{place / 'script.json'}", "--json"]
    with watching(out) if watched else no_one():
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    with sqlite3.connect(out / FILE) as db:
        first, last = db.execute("SELECT min(at), max(at) FROM events WHERE kind = 'row'").fetchone()
    db.close()
    return float(last - first)


@contextmanager
def no_one() -> Iterator[None]:
    yield


@contextmanager
def watching(out: Path) -> Iterator[None]:
    """A view whose page of the run is open as long as this lasts."""
    out.parent.mkdir(exist_ok=True)
    command = [sys.executable, "-m", "hardwon", "view", str(out.parent)]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    over = Event()
    try:
        assert server.stdout is not None
        port, token = re.search(r":(\d+)/\?token=(.+)$", server.stdout.readline().split()[-1]).groups()  # type: ignore[union-attr]
        page = Thread(target=look, args=(int(port), token.strip(), f"/run/{Reader(out).id}", over))
        page.start()
        yield
        over.set()
        page.join(timeout=30)
    finally:
        over.set()
        server.terminate()
        server.wait(timeout=10)


def look(port: int, token: str, path: str, over: Event) -> None:
    """Does what an open page does: hears of changes, and fetches the page anew."""
    headers = {"Cookie": f"hardwon-{port}={token}"}
    while not over.is_set():  # until the run is there
        status, _ = fetch(port, path, headers)
        if status == 200:
            break
        over.wait(0.3)
    door = http.client.HTTPConnection("127.0.0.1", port, timeout=2)
    door.request("GET", f"{path}/events", headers=headers)
    stream = door.getresponse()
    while not over.is_set():
        try:
            changed = stream.readline().startswith(b"data:")
        except TimeoutError:
            break  # nothing more comes: the run is over
        if changed:
            _, took = fetch(port, path, headers)
            over.wait(max(_LEAST_S, _BREAK * took))
    door.close()


def fetch(port: int, path: str, headers: dict[str, str]) -> tuple[int, float]:
    door = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    began = time.perf_counter()
    door.request("GET", path, headers=headers)
    answer = door.getresponse()
    answer.read()
    door.close()
    return answer.status, time.perf_counter() - began


def measure(pairs: int, tasks: int) -> list[float]:
    """For each pair, how much longer the watched run took, in percent."""
    found = []
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        make(place, tasks)
        run(place, place / "first" / "run", watched=False)  # what is slow only once is over then
        for pair in range(pairs):
            took = {}
            for watched in (True, False) if pair % 2 else (False, True):
                took[watched] = run(place, place / f"{pair}-{watched}" / "run", watched=watched)
            found.append(100 * (took[True] / took[False] - 1))
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=6)
    parser.add_argument("--tasks", type=int, default=400)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args()
    load = os.getloadavg()[0]
    found = measure(options.pairs, options.tasks)
    slower = statistics.median(found)
    if options.json:
        print(json.dumps({"slower_percent": slower, "pairs": found, "load_before": load}))
    else:
        verdict = "met" if slower < TARGET else "MISSED"
        print(f"slower_percent {slower:.1f} (target: under {TARGET:.0f}): {verdict}")
        print(f"pairs: {', '.join(f'{one:+.1f}' for one in found)}; load before: {load:.1f}")
    return 0 if slower < TARGET else 1


if __name__ == "__main__":
    sys.exit(main())
