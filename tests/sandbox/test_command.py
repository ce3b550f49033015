"""Shell commands in a private copy of a folder."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import Any

import pytest

from hardwon.errors import SandboxError, UsageError
from hardwon.sandbox import CommandResult, Limits, Sandbox


def run(sandbox: Sandbox, command: str, **options: Any) -> CommandResult:
    limits = Limits(total_seconds=options.pop("seconds", 20.0), output_bytes=options.pop("output", 100_000))
    return asyncio.run(sandbox.run_command(command, limits=limits, **options))


def test_status_and_output_come_back(sandbox: Sandbox) -> None:
    result = run(sandbox, "echo out; echo err >&2; exit 3")
    assert (result.status, result.timed_out) == (3, False)
    assert sorted(result.output.split()) == ["err", "out"]


def test_the_command_works_on_a_copy_and_the_folder_stays_as_it_was(sandbox: Sandbox, tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "a.txt").write_text("one")
    (tmp_path / "run.sh").write_text("#!/bin/sh\ncat sub/a.txt\n")
    (tmp_path / "run.sh").chmod(0o755)
    (tmp_path / "link").symlink_to("sub/a.txt")
    result = run(
        sandbox,
        "./run.sh && cat link b/c.txt && rm -r sub && echo x > new && ls",
        workdir=tmp_path,
        files={"b/c.txt": "two"},
    )
    assert result.status == 0
    assert result.output.startswith("oneonetwo")
    assert "new" in result.output
    assert (tmp_path / "sub" / "a.txt").read_text() == "one"
    assert not (tmp_path / "new").exists()
    assert not (tmp_path / "b").exists()


def test_files_replace_those_of_the_folder(sandbox: Sandbox, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("old")
    assert run(sandbox, "cat a.txt", workdir=tmp_path, files={"a.txt": "new"}).output == "new"


def test_links_out_of_the_folder_lead_nowhere(sandbox: Sandbox, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("6765")
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "out").symlink_to("../secret")
    (tmp_path / "work" / "far").symlink_to(tmp_path / "secret")
    result = run(sandbox, "cat out far", workdir=tmp_path / "work")
    assert result.status != 0
    assert "6765" not in result.output


def test_python_and_pytest_of_the_same_environment_can_be_used(sandbox: Sandbox) -> None:
    files = {
        "code.py": "def f(): return 2\n",
        "test_it.py": "from code_under import f\n",
        "code_under.py": "def f(): return 2\n",
    }
    files["test_it.py"] += "def test_f():\n    assert f() == 2\n"
    result = run(sandbox, "python -c 'print(1 + 1)' && python3 -m pytest -q test_it.py", files=files)
    assert result.status == 0, result.output
    assert "1 passed" in result.output
    files["code_under.py"] = "def f(): return 3\n"
    assert run(sandbox, "pytest -q test_it.py", files=files).status == 1


def test_the_host_can_not_be_seen(sandbox: Sandbox, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("6765")
    os.environ["HARDWON_SECRET_OF_THE_HOST"] = "6765"
    try:
        result = run(
            sandbox, f"env; cat {tmp_path}/secret; ls {Path.home()}/.ssh {Path(__file__).parent}; cat /etc/shadow"
        )
    finally:
        del os.environ["HARDWON_SECRET_OF_THE_HOST"]
    assert "6765" not in result.output
    assert "root:" not in result.output
    assert result.status != 0


def test_nothing_of_the_host_can_be_written(sandbox: Sandbox, tmp_path: Path) -> None:
    run(sandbox, f"echo x > {tmp_path}/new; echo x > /usr/hardwon-was-here; rm -rf {tmp_path}")
    assert tmp_path.is_dir()
    assert not list(tmp_path.iterdir())
    assert not Path("/usr/hardwon-was-here").exists()


def test_there_is_no_network_unless_asked_for(walled: Sandbox) -> None:
    program = "import socket; print(sorted(n for _, n in socket.if_nameindex()))"
    assert run(walled, f'python -c "{program}"').output.strip() == "['lo']"
    host = run(walled, f'python -c "{program}"', network=True).output
    assert host.strip().startswith("[")


def test_the_time_limit_ends_the_whole_tree(sandbox: Sandbox) -> None:
    result = run(sandbox, "echo before; (sleep 1000 & setsid sleep 1000 &); sleep 1000", seconds=1.0)
    assert (result.status, result.timed_out) == (None, True)
    assert "before" in result.output
    assert result.seconds < 10


def test_only_the_tail_of_long_output_is_kept(sandbox: Sandbox) -> None:
    result = run(sandbox, "seq 1 100000; echo last", output=1000)
    assert result.status == 0
    assert result.output.endswith("last\n")
    assert len(result.output) < 1100


def test_a_folder_that_is_missing_or_too_large_is_an_infrastructure_error(sandbox: Sandbox, tmp_path: Path) -> None:
    with pytest.raises(SandboxError, match="not a folder"):
        run(sandbox, "true", workdir=tmp_path / "none")
    with (tmp_path / "big").open("wb") as file:
        file.truncate(600 << 20)
    with pytest.raises(SandboxError, match="more than 512 MiB"):
        run(sandbox, "true", workdir=tmp_path)


@pytest.mark.parametrize("name", ["../a", "/etc/a", "a/../../b", ""])
def test_a_file_name_that_leads_out_of_the_folder_is_refused(sandbox: Sandbox, name: str) -> None:
    with pytest.raises(UsageError):
        run(sandbox, "true", files={name: "x"})


def test_folders_deeper_than_python_recurses_are_no_trouble_and_do_not_stay(
    sandbox: Sandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    program = "import os\nfor i in range(1400):\n    os.mkdir('d')\n    os.chdir('d')\nprint('made')"
    assert run(sandbox, f'python -c "{program}"').output == "made\n"
    assert list(tmp_path.iterdir()) == []
