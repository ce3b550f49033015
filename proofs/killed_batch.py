"""A batch over repositories, killed again and again, comes to what an undisturbed one comes to, and leaves nothing.

    python -m proofs.killed_batch [--instances 100] [--workers 8] [--kills 50] [--seed 0] [--folder DIR]

A scripted model works the instances once undisturbed, and once killed with SIGKILL at random moments: each is a place
in the journal and some milliseconds after it, or, where that place was passed already, a time after the start or the
first event. Then both are compared: results, predictions, the items of the bank, the stages of every instance; what was
begun again though the journal held it; what is left of workspaces, processes and control groups. Leaves with 1 on any
deviation.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import json
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.suites.instances import instance, make_checkout

from hardwon.memory.bank.sqlite import SqliteBank
from hardwon.runs.folder import RESULTS
from hardwon.runs.journal import FILE, Journal, Key
from hardwon.runs.predictions import as_object, predictions_of
from hardwon.runs.results import read_rows
from hardwon.runs.stages import ORDER

ROOT = Path(__file__).parents[1]
SITTING = ROOT / "tests" / "runs" / "killed_batch.py"
_CALLS = ("act", "reflect", "induce")
_ONCE = ("check", "grade", "induced", "admitted", "row")
_OF_THE_RUN = ("wall_s", "induced")
"""What of a row is different in any two runs: times, and the ids of items, which hold the run's own name."""
_LATER_S = 0.15
_START_S = 4.0
_LONGEST_S = 3600.0
_SUBREAPER = 36
_GROUPS = Path("/sys/fs/cgroup")

Place = tuple[str, str, int]
"""A task, a kind of work, and its number."""


@dataclass(frozen=True, slots=True)
class Batch:
    """A batch in `folder`: its instances, the run folder and the bank in it, and a folder for its temporary files."""

    folder: Path
    instances: Path
    checkouts: Path

    @property
    def run(self) -> Path:
        return self.folder / "run"

    @property
    def bank(self) -> Path:
        return self.folder / "bank.sqlite"

    @property
    def temporary(self) -> Path:
        return self.folder / "temporary"

    def start(self, number: int, *options: object) -> subprocess.Popen[bytes]:
        """Starts one sitting; what it begins is written into `work-NUMBER`, what it says into `said-NUMBER`."""
        self.temporary.mkdir(parents=True, exist_ok=True)
        places = (self.run, self.instances, self.checkouts, self.folder / f"work-{number}", "--bank", self.bank)
        command = [sys.executable, str(SITTING), *map(str, places), *map(str, options)]
        environment = {**os.environ, "TMPDIR": str(self.temporary), "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'src'}"}
        with (self.folder / f"said-{number}").open("wb") as said:
            return subprocess.Popen(command, env=environment, stdout=said, stderr=said)

    def begun(self, number: int) -> list[Place]:
        """What a sitting began."""
        try:
            lines = (self.folder / f"work-{number}").read_text().splitlines()
        except FileNotFoundError:
            return []
        return [(task, kind, int(index)) for task, kind, index in (line.split() for line in lines)]

    def done(self) -> list[Place]:
        """What the journal holds."""
        if not (self.run / FILE).is_file():
            return []
        with contextlib.closing(Journal(self.run / FILE, read_only=True)) as journal:
            kinds = (*_CALLS, *_ONCE)
            return [(key.task_id, kind, index) for kind in kinds for key, index, _ in journal.payloads(kind)]


def make_batch(folder: Path, count: int) -> tuple[Path, Path]:
    """The instances of a batch over one small repository, and the mapping file that names that."""
    folder.mkdir(parents=True, exist_ok=True)
    mapping = make_checkout(folder)
    data = folder / "instances.jsonl"
    base = instance(folder)["base_commit"]
    data.write_text("".join(json.dumps(instance(folder, n, base_commit=base)) + "\n" for n in range(count)))
    return data, mapping


def outcome(batch: Batch) -> dict[str, Any]:
    """What a finished batch came to, without what differs between any two runs: times, and the run's own name."""
    lines = (batch.run / RESULTS).read_text().splitlines()
    rows = [{name: value for name, value in json.loads(line).items() if name not in _OF_THE_RUN} for line in lines]
    with contextlib.closing(Journal(batch.run / FILE, read_only=True)) as journal:
        handed_in = json.loads(as_object(predictions_of(journal, read_rows(batch.run), "script:batch")))
        stages: dict[Key, list[str]] = {}
        for key, index, _ in journal.payloads("stage"):
            stages.setdefault(key, []).append(ORDER[index])
    with contextlib.closing(SqliteBank(batch.bank, read_only=True)) as bank:
        items = sorted(_told(revision.item.as_json()) for revision in bank.scan() if revision.item is not None)
        admitted = bank.counts()
    return {
        "rows of results": rows,
        "predictions": handed_in,
        "items of the bank": items,
        "episodes and uses admitted": admitted,
        "stages, in order": {key.task_id: reached for key, reached in sorted(stages.items(), key=str)},
        "effects in the journal": Counter((task, kind) for task, kind, _ in batch.done()),
    }


def _told(item: dict[str, Any]) -> str:
    origin = {name: value for name, value in item["provenance"].items() if name != "run"}
    return json.dumps({**item, "id": "", "provenance": origin}, sort_keys=True)


def again(begun: Iterable[Place], before: Sequence[Place], whole: Counter[tuple[str, str]]) -> list[Place]:
    """What was begun though the journal held it: a call by its number, a check by how many of its task there are."""
    held = set(before)
    done = Counter((task, kind) for task, kind, _ in before)
    found = []
    for task, kind, index in begun:
        done[task, kind] += 1
        if (task, kind, index) in held if kind in _CALLS else done[task, kind] > whole[task, kind]:
            found.append((task, kind, index))
    return found


def undisturbed(batch: Batch, *options: object) -> int:
    """Runs a batch to its end; the number of events in its journal. Raises RuntimeError with what it said."""
    _finish(batch, batch.start(0, *options), 0)
    return _events(batch)


def disturbed(
    batch: Batch, moments: Sequence[int], random_: random.Random, *options: object
) -> Iterator[tuple[int, list[Place], list[Place]]]:
    """Kills a batch at these places of its journal and lets it end; for each sitting its pid, what was done, begun."""
    for number, moment in enumerate([*moments, None]):
        before = batch.done()
        process = batch.start(number, *options)
        if moment is None:
            _finish(batch, process, number)
        elif not _kill(batch, process, moment, random_):
            raise RuntimeError(f"sitting {number} ended by itself: {(batch.folder / f'said-{number}').read_text()}")
        yield process.pid, before, batch.begun(number)


def _kill(batch: Batch, process: subprocess.Popen[bytes], moment: int, random_: random.Random) -> bool:
    at_start, later = _events(batch), random_.random()
    latest = time.monotonic() + (later * _START_S if at_start >= moment else _LONGEST_S)
    while process.poll() is None and _events(batch) < max(moment, at_start + 1) and time.monotonic() < latest:
        time.sleep(0.02)
    time.sleep(random_.random() * _LATER_S)
    process.send_signal(signal.SIGKILL)
    return process.wait() == -signal.SIGKILL


def _finish(batch: Batch, process: subprocess.Popen[bytes], number: int) -> None:
    if process.wait(timeout=_LONGEST_S) != 0:
        raise RuntimeError((batch.folder / f"said-{number}").read_text())


def _events(batch: Batch) -> int:
    path = batch.run / FILE
    if not path.is_file():
        return 0
    try:
        with contextlib.closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as db:
            return int(db.execute("SELECT max(seq) FROM events").fetchone()[0] or 0)
    except sqlite3.Error:  # it is just being made
        return 0


def adopt() -> None:
    """Makes this process the parent of whatever its sittings leave running, so that nothing of it can hide."""
    ctypes.CDLL(None).prctl(_SUBREAPER, 1, 0, 0, 0)


def left(batch: Batch, pids: Iterable[int]) -> dict[str, list[str]]:
    """What a batch left behind: folders, processes that this one is the parent of, control groups of its sittings."""
    time.sleep(0.5)
    owners = {str(pid) for pid in pids}
    return {
        "workspace folders left": [path.name for path in batch.temporary.iterdir()],
        "processes left": [name for pid in _children() if (name := _running(pid))],
        "control groups left": [str(path) for path in _GROUPS.rglob("hardwon-*") if path.name.split("-")[1] in owners],
    }


def _children() -> list[str]:
    return Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()


def _running(pid: str) -> str:
    """The command of a process; empty for one that has ended, whether or not that was taken note of."""
    try:
        return Path("/proc", pid, "cmdline").read_text().replace("\0", " ")[:100]
    except OSError:
        return ""


def prove(folder: Path, instances: int, workers: int, kills: int, seed: int) -> list[tuple[str, str, bool]]:
    """What was compared: its name, what was found, and whether it is as it has to be."""
    adopt()
    data, mapping = make_batch(folder / "data", instances)
    whole, killed = (Batch(folder / name, data, mapping) for name in ("whole", "killed"))
    started = time.monotonic()
    events = undisturbed(whole, "--workers", workers)
    print(f"undisturbed: {events} events in {time.monotonic() - started:.0f} s", flush=True)
    wanted = outcome(whole)
    random_ = random.Random(seed)
    moments = sorted(random_.sample(range(1, events * 9 // 10), kills))
    pids, repeated, times = [], [], []
    for number, (pid, before, begun) in enumerate(disturbed(killed, moments, random_, "--workers", workers), 1):
        times.append(time.monotonic() - started)
        found = again(begun, before, wanted["effects in the journal"])
        print(f"sitting {number}: {len(begun)} begun, {len(found)} of them again, {_events(killed)} events", flush=True)
        pids.append(pid)
        repeated += found
    came_to = outcome(killed)
    table = [("sittings that were killed", str(len(pids) - 1), len(pids) == kills + 1)]
    for name, value in wanted.items():
        same = came_to[name] == value
        table.append((name, f"{len(value)}, {'the same' if same else 'OTHERS'}", same))
        if not same:
            _write_beside(folder, name, value, came_to[name])
    table.append(("work begun again though it was done", f"{len(repeated)} {repeated[:3] or ''}", not repeated))
    for name, those in left(killed, pids).items():
        table.append((name, f"{len(those)} {those[:3] or ''}", not those))
    return table


def _write_beside(folder: Path, name: str, wanted: object, found: object) -> None:
    for side, value in (("wanted", wanted), ("found", found)):
        text = json.dumps(value if not isinstance(value, Counter) else sorted(value.items()), indent=1, default=str)
        (folder / f"{name.replace(' ', '-')}.{side}.json").write_text(text)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--instances", type=int, default=100)
    parser.add_argument("--workers", type=int, default=8)
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--folder", type=Path, help="kept, and has to be new; without it a temporary one is used")
    options = parser.parse_args()
    folder = options.folder or Path(tempfile.mkdtemp())
    try:
        table = prove(folder.resolve(), options.instances, options.workers, options.kills, options.seed)
    finally:
        if options.folder is None:
            shutil.rmtree(folder, ignore_errors=True)
    width = max(len(name) for name, _, _ in table)
    for name, found, well in table:
        print(f"{name.ljust(width)}  {'ok ' if well else 'NOT'}  {found}")
    return 0 if all(well for _, _, well in table) else 1


if __name__ == "__main__":
    sys.exit(main())
