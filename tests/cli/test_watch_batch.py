"""A batch over repositories while it goes on: in a terminal, piped, and from another one by `hardwon watch`."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from collections.abc import Callable
from pathlib import Path

from tests.view.made import HOSTILE, row, written

from hardwon.runs.journal import Journal, Key
from hardwon.runs.stages import ORDER, Stage

SCRIPT = Path(__file__).with_name("watched_batch.py")
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(SCRIPT.parents[2]), "NO_COLOR": "1", "TERM": "xterm"}

Hardwon = Callable[..., subprocess.CompletedProcess[str]]


def seen_in_a_terminal(command: list[str], columns: int, lines: int) -> str:
    """All that a command writes to a terminal of this size."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
    environment = {name: value for name, value in ENVIRONMENT.items() if name not in ("COLUMNS", "LINES")}
    with subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, env=environment) as process:
        os.close(theirs)
        said = b""
        while True:
            try:
                piece = os.read(ours, 1 << 16)
            except OSError:  # the other side is closed
                break
            if not piece:
                break
            said += piece
    os.close(ours)
    assert process.returncode == 0, said.decode()
    return said.decode()


def test_in_a_terminal_each_instance_in_work_has_a_line_that_fits(tmp_path: Path) -> None:
    said = seen_in_a_terminal([sys.executable, str(SCRIPT), str(tmp_path)], 46, 12)
    lines = re.sub(r"(\x1b\[[0-9;?]*[A-Za-z])+", "\n", said).replace("\r", "").split("\n")
    assert max(map(len, lines)) <= 46
    assert re.search(r"instance +stage +(trial +)?step +cost", "\n".join(lines))
    assert any(re.match(r"\S*totals-2 +ready +(1 +)?1 +", line) for line in lines)
    assert "2 of 2 finished (2 solved) · 0 in work · 0" in said
    assert not re.search(r"\x1b\[[0-9;]*3[0-7]m", said), "NO_COLOR is heeded"


def test_piped_it_is_a_plain_line_for_each_instance(tmp_path: Path) -> None:
    command = [sys.executable, str(SCRIPT), str(tmp_path)]
    done = subprocess.run(command, env=ENVIRONMENT, capture_output=True, text=True, check=True)
    lines = done.stderr.splitlines()
    assert [line.split()[2] for line in lines] == ["solved", "solved"]
    assert "\x1b" not in done.stderr


def reached(journal: Journal, name: str, *stages: Stage) -> None:
    for stage in stages:
        journal.append(Key(name, "reflexion", 0), "stage", ORDER.index(stage), {"stage": stage}, 1.0)


def test_watch_shows_the_instances_of_a_batch_from_its_journal(hardwon: Hardwon, tmp_path: Path) -> None:
    with written(tmp_path / "run", tasks=3) as journal:
        reached(journal, "own/a", *ORDER[:5])
        journal.append(Key("own/a", "reflexion", 0), "row", 0, row("own/a"))
        reached(journal, f"own/{HOSTILE}", "queued", "workspace ready")
        reached(journal, "own/c", "queued")
        going_on = hardwon("watch", "run")
    stopped = hardwon("watch", "run")
    assert "1 of 3 finished (1 solved) · 1 in work · 1 waiting" in going_on.stdout
    assert re.search(r"^own/<script>.* +workspace ready +- +- +0 tok +0:0\d$", going_on.stdout, re.MULTILINE)
    assert "\x1b" not in going_on.stdout + stopped.stdout
    assert "\u202e" not in going_on.stdout + stopped.stdout
    assert "stages: queued 1, workspace ready 1, graded 1" in stopped.stdout


def test_a_report_of_a_hostile_arm_does_nothing_in_a_terminal(hardwon: Hardwon, tmp_path: Path) -> None:
    with written(tmp_path / "run", tasks=1) as journal:
        journal.append(Key("own/a", HOSTILE, 0), "row", 0, row("own/a", HOSTILE))
    for form in ("table", "markdown"):
        told = hardwon("report", "run", "--format", form).stdout
        assert "<script>" in told
        assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e]", told)
    refused = hardwon("report", f"no such \x1b[31m{chr(0x202E)} folder")
    assert refused.returncode == 2
    assert not re.search(r"[\x1b\u202e]", refused.stderr)


def test_a_report_is_folded_where_the_terminal_is_narrow(hardwon: Hardwon, tmp_path: Path) -> None:
    with written(tmp_path / "run", tasks=1) as journal:
        journal.append(Key("own/a", "reflexion", 0), "row", 0, row("own/a", feedback="oracle"))
    for columns in (40, 60):
        told = seen_in_a_terminal([sys.executable, "-m", "hardwon", "report", str(tmp_path / "run")], columns, 24)
        assert max(map(len, told.replace("\r", "").split("\n"))) <= columns
    piped = hardwon("report", "run").stdout
    assert "not comparable with blind runs." in piped.splitlines()[-1]
