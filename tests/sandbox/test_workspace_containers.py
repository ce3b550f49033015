"""Workspaces in containers: podman with runc, on an image that is made of a few files of this machine."""

from __future__ import annotations

import asyncio
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.sandbox.repositories import BROKEN, MEND, diff_after, make, state, within

from hardwon.errors import SandboxError, UsageError
from hardwon.evaluators.instance import Walls
from hardwon.evaluators.repository import RepositoryCheck
from hardwon.sandbox.protocol import CommandResult
from hardwon.sandbox.workspaces.homes import sweep
from hardwon.sandbox.workspaces.workspace import RepositorySource, Workspace, open_workspace
from hardwon.trial import Trajectory

IMAGE = "localhost/hardwon-tests"
WITH_REPOSITORY = "localhost/hardwon-tests-repository"
_PROGRAMS = ("sh", "bash", "cat", "ls", "sed", "sleep", "mkdir", "rm", "seq", "grep")
_SETTINGS = """[engine]
runtime = "runc"
cgroup_manager = "cgroupfs"
events_logger = "file"
[containers]
default_ulimits = ["nofile=1024:1024", "nproc=1024:1024"]
"""


def podman(*arguments: str) -> str:
    return subprocess.run(["podman", *arguments], check=True, capture_output=True, text=True).stdout


@pytest.fixture(scope="module", autouse=True)
def images(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    if not (shutil.which("podman") and shutil.which("runc")):
        pytest.skip("podman and runc are not installed: apt-get install podman runc")
    place = tmp_path_factory.mktemp("image")
    (place / "containers.conf").write_text(_SETTINGS)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CONTAINERS_CONF", str(place / "containers.conf"))
        root = place / "root"
        for folder in ("bin", "tmp", "etc", "proc", "sys", "dev"):
            (root / folder).mkdir(parents=True)
        for name in _PROGRAMS:
            found = shutil.which(name)
            assert found is not None
            shutil.copy(found, root / "bin" / name)
            libraries = subprocess.run(["ldd", found], capture_output=True, text=True, check=True).stdout
            for library in re.findall(r"(/\S+)", libraries):
                (root / library[1:]).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(library, root / library[1:])
        try:
            _import(root, IMAGE)
            podman("run", "--rm", "--network", "none", IMAGE, "/bin/sh", "-c", "exit 0")
        except subprocess.CalledProcessError as error:
            pytest.skip(f"podman does not work here: {error.stderr.strip()[-200:]}")
        repo = make(root / "testbed")
        (repo / "built.so").write_text("built in the image\n")
        _import(root, WITH_REPOSITORY)
        yield
        podman("rmi", "-f", IMAGE, WITH_REPOSITORY)


def _import(root: Path, name: str) -> None:
    with subprocess.Popen(["tar", "-C", str(root), "-c", "."], stdout=subprocess.PIPE) as packed:
        subprocess.run(["podman", "import", "-q", "-", name], stdin=packed.stdout, check=True, capture_output=True)


@pytest.fixture
def source(tmp_path: Path) -> RepositorySource:
    return RepositorySource(make(tmp_path / "repo"), image=IMAGE)


def test_commands_share_a_tree_and_the_change_is_read_from_it(source: RepositorySource) -> None:
    before = state(source.path)

    async def work(workspace: Workspace) -> tuple[str, str]:
        await workspace.run(f"cd /tmp; echo kept > note; {'cd ' + str(source.path)}; {MEND}", seconds=20)
        seen = await workspace.run("cat /tmp/note; echo $WANTED; cat /proc/net/dev | grep -c :; exit 3", seconds=20)
        assert seen.status == 3
        return seen.output, await workspace.diff()

    said, diff = within(source, work, backend="podman", env=(("WANTED", "yes"),))
    assert said.split() == ["kept", "yes", "1"]  # the one interface is lo
    assert diff == diff_after(source.path, MEND)
    assert state(source.path) == before


def test_a_command_that_does_not_end_is_ended_with_all_it_started(source: RepositorySource) -> None:
    async def work(workspace: Workspace) -> tuple[CommandResult, str]:
        late = await workspace.run("echo before; (sleep 984 & sleep 984 &); sleep 984", seconds=5.0)
        await workspace.run("sleep 984 & echo in the background", seconds=20)
        return late, (await workspace.run("echo alive; cat /proc/[0-9]*/cmdline", seconds=20)).output

    late, after = within(source, work, backend="podman")
    assert (late.status, late.timed_out, late.output) == (None, True, "before\n")
    assert after.startswith("alive\n")
    assert "984" not in after


def test_the_host_can_not_be_written_nor_its_secrets_read(source: RepositorySource, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("6765")

    async def work(workspace: Workspace) -> CommandResult:
        return await workspace.run(f"cat {tmp_path}/secret; echo x > {tmp_path}/new; echo x > /etc/new", seconds=20)

    seen = within(source, work, backend="podman")
    assert "6765" not in seen.output
    assert not (tmp_path / "new").exists()


def test_a_repository_in_the_image_is_worked_on_with_what_was_built_there() -> None:
    source = RepositorySource(Path("/testbed"), image=WITH_REPOSITORY)

    async def work(workspace: Workspace) -> tuple[str, str]:
        seen = await workspace.run(f"ls; cat built.so; {MEND}", seconds=20)
        return seen.output, await workspace.diff()

    said, diff = within(source, work, backend="podman")
    assert "built in the image" in said
    assert "total.py" in said
    assert "-    return max(numbers)\n+    return sum(numbers)\n" in diff
    assert "built.so" not in diff
    with pytest.raises(UsageError, match="has no commit v9"):
        within(RepositorySource(Path("/testbed"), "v9", image=WITH_REPOSITORY), work, backend="podman")
    with pytest.raises(SandboxError, match="podman cp"):
        within(RepositorySource(Path("/no-testbed"), image=WITH_REPOSITORY), work, backend="podman")


def test_what_is_missing_is_trouble_that_says_so(source: RepositorySource, monkeypatch: pytest.MonkeyPatch) -> None:
    async def work(workspace: Workspace) -> None: ...

    with pytest.raises(SandboxError, match=r"podman run: .*no-such-image"):
        within(RepositorySource(source.path, image="localhost/no-such-image"), work, backend="podman")
    with pytest.raises(UsageError, match="needs a container image"):
        within(source.path, work, backend="podman")
    monkeypatch.setattr("hardwon.sandbox.workspaces.container.shutil.which", {"git": shutil.which("git")}.get)
    with pytest.raises(SandboxError, match="docker is not installed"):
        within(source, work, backend="docker")


def test_a_container_that_is_gone_is_trouble_and_no_verdict(source: RepositorySource) -> None:
    async def work(workspace: Workspace) -> None:
        podman("rm", "-f", "-t", "0", workspace.path.parent.name)
        await workspace.run("true", seconds=20)

    with pytest.raises(SandboxError, match="is gone"):
        within(source, work, backend="podman")


def test_no_container_is_left_by_a_finished_or_a_killed_run(source: RepositorySource, tmp_path: Path) -> None:
    homes = tmp_path / "homes"
    homes.mkdir()
    program = (
        "import asyncio, os, sys, tempfile\ntempfile.tempdir = sys.argv[2]\nfrom pathlib import Path\n"
        "from hardwon.sandbox.workspaces.workspace import *\n"
        "async def main():\n    s = RepositorySource(Path(sys.argv[1]), image=sys.argv[3])\n"
        "    await open_workspace(s, backend='podman')\n    os.kill(os.getpid(), 9)\nasyncio.run(main())\n"
    )
    subprocess.run(
        [sys.executable, "-c", program, str(source.path), str(homes), IMAGE], check=False, env=dict(os.environ)
    )
    (home,) = homes.iterdir()
    assert home.name in podman("ps", "--format", "{{.Names}}")
    assert sweep(homes) == [home]
    assert home.name not in podman("ps", "--all", "--format", "{{.Names}}")

    async def named() -> str:
        workspace = await open_workspace(source, backend="podman")
        await workspace.close()
        return workspace.path.parent.name

    assert asyncio.run(named()) not in podman("ps", "--all", "--format", "{{.Names}}")


def test_a_check_decides_in_a_container_too(source: RepositorySource) -> None:
    check = RepositoryCheck(source, "grep -q sum total.py", walls=Walls("podman"), reruns=0)
    assert "max" in BROKEN["total.py"]
    good = asyncio.run(check.check(Trajectory(diff_after(source.path, MEND))))
    bad = asyncio.run(check.check(Trajectory(diff_after(source.path, "echo >> total.py"))))
    assert (good.verdict, bad.verdict) == ("pass", "fail")


def test_fix_works_in_a_container(source: RepositorySource, tmp_path: Path) -> None:
    acts = [f"```bash\n{MEND}\n```", "```bash\nsubmit\n```"]
    (tmp_path / "s.json").write_text(json.dumps({"fix": {"act": acts}}))
    options = ["--check", "grep -q sum total.py", "--model", "script:s.json", "--sandbox", "podman", "--image", IMAGE]
    command = [sys.executable, "-m", "hardwon", "fix", str(source.path), *options]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "+    return sum(numbers)" in done.stdout
