"""A run folder that is damaged, or that another version made, ends each command in one line with exit 2."""

import json
import sqlite3
import subprocess
from collections.abc import Callable
from pathlib import Path

from tests.view.made import config, make_run

Hardwon = Callable[..., subprocess.CompletedProcess[str]]


def test_a_damaged_run_ends_every_command_in_one_line_with_exit_2(hardwon: Hardwon, tmp_path: Path) -> None:
    make_run(tmp_path / "rows")
    with sqlite3.connect(tmp_path / "rows" / "journal.sqlite") as db:
        db.execute("UPDATE events SET payload = '{}' WHERE kind = 'row'")
    db.close()
    make_run(tmp_path / "settings")
    (tmp_path / "settings" / "config.json").write_text(json.dumps({**config(), "about": None}))
    for folder in ("rows", "settings"):
        for command in (
            ("report", folder),
            ("watch", folder),
            ("export", folder),
            ("view", folder),
            ("view", folder, "--export", "out"),
        ):
            done = hardwon(*command)
            assert (done.returncode, done.stderr.count("\n")) == (2, 1), (command, done.stderr)
            assert folder in done.stderr
        assert not (tmp_path / "out").exists()


def test_a_comparison_does_not_go_on_in_a_damaged_folder_nor_reuse_its_calls(
    hardwon: Hardwon, tasks: Path, script: str, tmp_path: Path
) -> None:
    compare = ("compare", tasks, "--model", script, "--arms", "single,reflexion", "--budget", "tokens=4000")
    assert hardwon(*compare, "--out", "run").returncode == 0
    with sqlite3.connect(tmp_path / "run" / "journal.sqlite") as db:
        db.execute("UPDATE events SET payload = '{}' WHERE kind IN ('row', 'act')")
    db.close()
    again = hardwon(*compare, "--out", "run")
    reusing = hardwon(*compare, "--out", "other", "--reuse", "run")
    for done, said in ((again, "a row of another version"), (reusing, "a model call of another version")):
        assert done.returncode == 2
        assert said in done.stderr.splitlines()[-1]
        assert "Traceback" not in done.stderr
