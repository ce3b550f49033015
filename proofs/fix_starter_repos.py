"""`hardwon fix` on the twenty bundled repositories, each a real git repository with its issue as a file.

    python proofs/fix_starter_repos.py [--at-once N] [--ids a,b] [--out FOLDER] [-- OPTIONS OF hardwon fix]

Prints a Markdown table: whether the check passed, whether the hidden tests agree, trials, calls, tokens and time.
`--at-once` runs several commands side by side, which pays where they share a model server. Finished ones are not run
again: their answers are kept in the folder.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hardwon.cli.plain import one_line
from hardwon.sandbox.choose import open_sandbox
from hardwon.suites.protocol import SuiteOptions
from hardwon.suites.read import Row, read_rows
from hardwon.suites.registry import open_suite
from hardwon.suites.starter_repos import DATA, make_repository
from hardwon.task import Task
from hardwon.trial import Trajectory

HEAD = "| repository | check | hidden tests | stop | trials | calls | tokens | seconds |"


async def fixed(row: Row, out: Path, options: Sequence[str]) -> dict[str, Any]:
    """The command's `--json`, from an earlier run where there is one."""
    name = row.need("task_id").rpartition("/")[2]
    answer = out / f"{name}.json"
    if not answer.is_file():
        repository, issue = out / "repositories" / name, out / f"{name}.issue.txt"
        if not repository.is_dir():
            make_repository(repository, row.fields["files"])
        issue.write_text(row.need("issue"), encoding="utf-8")
        command = [sys.executable, "-m", "hardwon", "fix", str(repository), "--check", row.need("check")]
        command += ["--issue", str(issue), "--out", str(out / "runs" / name), "--json", *options]
        process = await asyncio.create_subprocess_exec(*command, stdout=-1, stderr=-1)
        told, complaint = await process.communicate()
        if process.returncode not in (0, 1):
            raise SystemExit(f"{name}: hardwon fix left with {process.returncode}: {complaint.decode()[-400:]}")
        answer.write_bytes(told)
    found: dict[str, Any] = json.loads(answer.read_text(encoding="utf-8").splitlines()[-1])
    return found


async def line(row: Row, task: Task, out: Path, options: Sequence[str], free: asyncio.Semaphore) -> tuple[bool, str]:
    async with free:
        found = await fixed(row, out, options)
        submission = found["submission"]
        hidden = "nothing handed in"
        if submission and task.grader is not None:
            hidden = (await task.grader.check(Trajectory(submission))).verdict
    solved = bool(found["solved"])
    spent = f"{found['calls']} | {found['tokens_in'] + found['tokens_out']:,} | {found['wall_s']:.0f}"
    cells = [task.id, "pass" if solved else "fail", hidden, one_line(found["stop"], 40), str(found["trials"])]
    print(cells, file=sys.stderr, flush=True)
    return (
        solved and hidden == "pass",
        f"| {' | '.join(cells)} | {spent} |",
    )


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--at-once", type=int, default=1)
    parser.add_argument("--ids", default="")
    parser.add_argument("--out", type=Path, default=Path("runs/fix-starter-repos"))
    parser.add_argument("options", nargs="*")
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    sandbox = open_sandbox()
    try:
        chosen = tuple(given.ids.split(",")) if given.ids else ()
        tasks = {task.id: task for task in open_suite("starter-repos").load(SuiteOptions(), sandbox)}
        rows = [row for row in read_rows(DATA) if not chosen or row.need("task_id") in chosen]
        free = asyncio.Semaphore(given.at_once)
        work = (line(row, tasks[row.need("task_id")], given.out.resolve(), given.options, free) for row in rows)
        lines = await asyncio.gather(*work)
    finally:
        await sandbox.close()
    print("\n".join([HEAD, "| --- " * (HEAD.count("|") - 1) + "|", *(text for _, text in lines)]))
    print(f"\n{sum(right for right, _ in lines)} of {len(lines)} solved, hidden tests included")


if __name__ == "__main__":
    asyncio.run(main())
