"""Takes the picture of a task's page in the view, from a run over the project's own `starter` suite.

    python proofs/view_picture.py RUN_FOLDER [--task ID] [--output docs/images/view-task.png] [--dark] [--width 1180]

Without `--task` it is the first task that a lesson helped to solve; else the one with the most trials. Serves the run
with the real `hardwon view` and looks at it in headless Chromium. Runs of other suites are refused: a picture of them
would hold their text.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import urlencode

from playwright.sync_api import sync_playwright

from hardwon.runs.folder import read_config
from hardwon.runs.results import read_rows
from hardwon.runs.row import Row
from hardwon.view.reader import Reader

FLAGS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]


def chosen(rows: Sequence[Row], task: str | None) -> Row:
    """The row to show. Raises SystemExit where there is none."""
    if task is not None:
        rows = [row for row in rows if row.task_id == task]
    if not rows:
        raise SystemExit(f"no finished task{'' if task is None else f' {task}'} in this run")
    helped = [row for row in rows if row.solved and row.lessons and row.verdict == "pass"]
    return min(helped, key=lambda row: row.trials) if helped else max(rows, key=lambda row: row.trials)


def take(run: Path, row: Row, output: Path, *, dark: bool, width: int, height: int) -> None:
    """Serves the run and saves the page's beginning as a PNG."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if chromium is None:
        raise SystemExit("no Chromium on this machine: apt-get install chromium")
    command = [sys.executable, "-m", "hardwon", "view", str(run)]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout is not None
        address = server.stdout.readline().split()[-1]
        base = re.sub(r"/\?.*", "", address)
        query = urlencode({"id": row.task_id, "arm": row.arm, "seed": row.seed})
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
            page = browser.new_page(
                viewport={"width": width, "height": height}, color_scheme="dark" if dark else "light"
            )
            page.goto(address)
            page.goto(f"{base}/run/{Reader(run).id}/task?{query}")
            page.locator("#trials article").first.wait_for()
            page.get_by_text("live", exact=True).wait_for()
            output.parent.mkdir(parents=True, exist_ok=True)
            page.screenshot(path=output)
            browser.close()
    finally:
        server.terminate()
        server.wait(timeout=10)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path, help="a folder of `hardwon run starter`")
    parser.add_argument("--task", help="the task's id")
    parser.add_argument("--output", type=Path, default=Path("docs/images/view-task.png"))
    parser.add_argument("--dark", action="store_true")
    parser.add_argument("--width", type=int, default=1180, help="pixels")
    parser.add_argument("--height", type=int, default=1100, help="pixels")
    options = parser.parse_args()
    suite = read_config(options.run)["settings"].get("suite")
    if suite != "starter":
        raise SystemExit(f"{options.run}: a run of {suite}; give one of starter")
    row = chosen(read_rows(options.run), options.task)
    take(options.run, row, options.output, dark=options.dark, width=options.width, height=options.height)
    print(f"{options.output}: {row.task_id}, {row.arm}, {row.trials} trials")


if __name__ == "__main__":
    main()
