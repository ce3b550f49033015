"""Workspaces: a private tree of a user's commit, and the change that is read from it."""

from __future__ import annotations

import asyncio
import fcntl
import os
import pty
import shlex
import shutil
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from tests.sandbox.repositories import BROKEN, add, diff_after, git, make, state, within

from hardwon.errors import InfrastructureError, UsageError
from hardwon.sandbox.choose import bubblewrap_trouble
from hardwon.sandbox.protocol import CommandResult
from hardwon.sandbox.workspaces.branch import put_on_branch
from hardwon.sandbox.workspaces.git import facts
from hardwon.sandbox.workspaces.homes import Home, delete, sweep
from hardwon.sandbox.workspaces.workspace import (
    PatchRefused,
    RepositorySource,
    UnfitChange,
    Workspace,
    open_workspace,
)

pytestmark = pytest.mark.skipif(bubblewrap_trouble() is not None, reason="bubblewrap does not work here")


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    return make(tmp_path / "repo")


def ran(source: Path | RepositorySource, command: str, seconds: float = 20.0, **options: object) -> CommandResult:
    return within(source, lambda workspace: workspace.run(command, seconds=seconds), **options)


def test_the_tree_is_the_base_and_the_users_repository_stays_as_it_was(repo: Path) -> None:
    first = git(repo, "rev-parse", "HEAD")
    add(repo, {"later.py": "x = 1\n"})
    (repo / "total.py").write_text("uncommitted\n")
    before = state(repo)
    source = RepositorySource(repo, first[:10])
    seen = ran(source, "ls; cat total.py; echo mine > total.py; git commit -qam mine; rm -rf .git; pwd")
    assert seen.output.split()[:2] == ["test_total.py", "total.py"]
    assert "max(numbers)" in seen.output
    assert str(repo) in seen.output  # the tree stands where the repository is, for what was installed from there
    assert state(repo) == before


def test_files_stay_and_shells_do_not(repo: Path) -> None:
    async def work(workspace: Workspace) -> list[str]:
        commands = ["X=1; cd /tmp; echo kept > note; echo more >> ~/rc", "cat /tmp/note ~/rc; echo [$X]; pwd"]
        return [(await workspace.run(command, seconds=20)).output for command in commands]

    assert within(repo, work)[1].split() == ["kept", "more", "[]", str(repo)]


def test_the_change_holds_new_and_binary_files_and_modes_and_no_ignored_ones(repo: Path) -> None:
    diff = diff_after(
        repo,
        "printf '\\000\\001' > pixel.bin; printf 'caf\\351\\n' > latin.txt; chmod +x total.py; ln -s total.py link",
        "mkdir build; echo x > build/out; echo x > a.log; mkdir __pycache__; echo x > __pycache__/a.pyc",
        "rm test_total.py; mkdir 'ein ordner'; printf 'no line end' > 'ein ordner/grüße'; touch empty",
    )
    for part in ("GIT binary patch", "new mode 100755", "120000", "deleted file", "ein ordner", "b/empty"):
        assert part in diff
    for part in ("build", ".log", "pycache"):
        assert part not in diff

    async def again(workspace: Workspace) -> tuple[str, str]:
        await workspace.apply(diff)
        return await workspace.diff(), (await workspace.run("cat latin.txt pixel.bin | od -c", seconds=20)).output

    same, content = within(repo, again)
    assert same == diff
    assert "351" in content


@pytest.mark.parametrize(
    "deed",
    [
        "rm -rf .git",
        "git add -A && git commit -qm mine",
        "git checkout -qb other && git add -A && git commit -qm mine && git branch -qD main",
        "rm -rf .git && git init -q && git add -A && git -c user.name=a -c user.email=a@b commit -qm new",
        "git config core.fsmonitor 'touch /tmp/ran' && git config core.worktree /tmp && echo '*' > .git/info/exclude",
        "rm -rf .git && echo 'gitdir: /nowhere' > .git",
        "rm -rf .git && ln -s /tmp .git",
        "git gc -q --prune=now; echo x > .git/index; echo x > .git/HEAD",
    ],
)
def test_whatever_the_agent_does_to_git_the_change_is_the_same(repo: Path, deed: str) -> None:
    change = "echo 'y = 2' >> total.py; echo new > new.txt"
    assert diff_after(repo, change, deed) == diff_after(repo, change)


def test_repositories_and_pipes_in_the_tree_are_no_way_out(repo: Path, tmp_path: Path) -> None:
    sign = tmp_path / "escaped"
    diff = diff_after(
        repo,
        f"git init -q sub; cd sub; git config core.fsmonitor 'touch {sign}'; git config filter.x.clean 'touch {sign}'; "
        "echo 'f filter=x' > .gitattributes; echo 1 > f; "
        "git -c user.name=a -c user.email=a@b commit -q --allow-empty -m m",
        'mkfifo pipe; rm test_total.py; mkfifo test_total.py; python -c "import socket; '
        "socket.socket(socket.AF_UNIX).bind('sock')\"; mkdir 'git~1'; echo > 'git~1/x'",
    )
    assert not sign.exists()
    assert "b/sub/f" in diff
    assert "deleted file mode 100644" in diff
    assert "pipe" not in diff


def test_what_can_not_be_read_is_read_all_the_same(repo: Path) -> None:
    diff = diff_after(repo, "mkdir d; echo 1 > d/a; echo 2 > b; chmod 0 d/a b total.py; chmod 0 d")
    assert "b/d/a" in diff
    assert "b/b" in diff


def test_writing_outside_and_the_network_are_shut(repo: Path, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("6765")
    seen = ran(
        repo,
        f"cat {tmp_path}/secret /etc/shadow; echo x > {tmp_path}/new; echo x > /usr/new; ls {repo}/..; env; ls /wall",
    )
    assert "6765" not in seen.output
    assert not (tmp_path / "new").exists()
    assert not Path("/usr/new").exists()
    names = 'python -c "import socket; print([n for _, n in socket.if_nameindex()])"'
    assert ran(repo, names).output.strip() == "['lo']"


def test_variables_come_only_by_name_and_value(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET_KEY", "6765")
    seen = ran(repo, "env", env=(("WANTED", "one two"),))
    assert "WANTED=one two" in seen.output
    assert "6765" not in seen.output


def test_a_command_that_does_not_end_is_ended_with_all_it_started_and_what_it_said_stays(repo: Path) -> None:
    async def work(workspace: Workspace) -> tuple[CommandResult, str]:
        long = "echo before; (sleep 987 & setsid sleep 987 &); while :; do sleep 987; done"
        late = await workspace.run(long, seconds=0.5)
        return late, (await workspace.run("echo alive", seconds=20)).output

    late, after = within(repo, work)
    assert (late.status, late.timed_out, late.output) == (None, True, "before\n")
    assert after == "alive\n"
    assert "sleep 987" not in subprocess.run(["ps", "axww"], capture_output=True, text=True, check=True).stdout


def test_endless_forking_ends_with_the_command(repo: Path) -> None:
    async def work(workspace: Workspace) -> str:
        bomb = "import os\nwhile True:\n    try:\n        os.fork()\n    except OSError:\n        pass\n"
        await workspace.run(f"timeout 1 python -c '{bomb}'; :", seconds=1.5)
        return (await workspace.run("echo alive", seconds=20)).output

    assert within(repo, work) == "alive\n"


def test_long_output_keeps_its_head_and_tail_and_says_what_was_cut(repo: Path) -> None:
    output = ran(repo, "echo first; seq 1 200000; echo last").output
    assert output.startswith("first\n1\n2\n")
    assert output.endswith("200000\nlast\n")
    assert "bytes were cut]" in output
    assert len(output) < 400_000


def test_a_file_of_a_gigabyte_can_not_be_made_nor_a_large_one_handed_in(repo: Path) -> None:
    seen = ran(repo, "truncate -s 1G big || echo refused; head -c 300M /dev/zero > big; ls -s --block-size=1M big")
    assert "refused" in seen.output
    assert int(seen.output.split()[-2]) <= 257
    with pytest.raises(UnfitChange, match=r"blob alone 20 MiB"):
        diff_after(repo, "truncate -s 20M blob")


def test_a_command_that_fills_the_disk_is_ended(repo: Path) -> None:
    fill = "for i in 1 2 3 4 5 6 7 8; do head -c 8M /dev/urandom > f$i; sleep 0.15; done; sleep 60; echo never"
    seen = ran(repo, fill, seconds=30, room_mib=16)
    assert seen.status is None
    assert "more than 16 MiB were written" in seen.output
    assert seen.seconds < 20


def test_a_patch_that_does_not_apply_says_so_and_changes_nothing(repo: Path) -> None:
    good = diff_after(repo, "sed -i s/max/sum/ total.py", "echo 1 > new")

    async def work(workspace: Workspace) -> str:
        with pytest.raises(PatchRefused, match=r"does not apply: .*total.py"):
            await workspace.apply(good.replace("max(numbers)", "min(numbers)"))
        for bad in ("no patch", "--- a/../../out\n+++ b/../../out\n@@ -0,0 +1 @@\n+x\n"):
            with pytest.raises(PatchRefused):
                await workspace.apply(bad)
        assert await workspace.diff() == ""
        await workspace.apply("")
        await workspace.apply(good)
        return await workspace.diff()

    assert within(repo, work) == good


def test_bad_sources_are_refused_with_the_mend(tmp_path: Path) -> None:
    (tmp_path / "plain").mkdir()
    (tmp_path / "empty").mkdir()
    git(tmp_path / "empty", "init", "-q")
    repo = make(tmp_path / "repo")
    for source, said in (
        (RepositorySource(tmp_path / "none"), "no such folder"),
        (RepositorySource(tmp_path / "plain"), "is not a git repository"),
        (RepositorySource(tmp_path / "empty"), "has no commit yet; make one first"),
        (RepositorySource(repo, "0" * 40), "has no commit 0000"),
        (RepositorySource(repo, "--upload-pack=x"), "has no commit --upload"),
        (RepositorySource(repo, mounts=("node_modules",)), "no such folder to show"),
    ):
        with pytest.raises(UsageError, match=said):
            ran(source, "true")
    with pytest.raises(UsageError, match="no workspace backend"):
        ran(repo, "true", backend="chroot")


def test_what_the_set_up_makes_is_there_and_no_part_of_the_change(repo: Path) -> None:
    source = RepositorySource(repo, setup="echo made > generated.txt; mkdir build; echo 1 > build/lib")
    diff = diff_after(source, "cat generated.txt build/lib > seen.txt")
    assert "+made" in diff
    assert "generated.txt" not in diff
    with pytest.raises(InfrastructureError, match=r"set-up command 'exit 3' left with status 3"):
        ran(RepositorySource(repo, setup="exit 3"), "true")


def test_mounted_folders_are_seen_and_can_not_be_written(repo: Path, tmp_path: Path) -> None:
    (repo / "build").mkdir()
    (repo / "build" / "tool").write_text("#!/bin/sh\necho tool\n")
    (repo / "build" / "tool").chmod(0o755)
    (tmp_path / "cache").mkdir()
    source = RepositorySource(repo, mounts=("build", str(tmp_path / "cache")), tools=(str(repo / "build"),))
    seen = ran(source, f"tool; echo x > build/tool; echo x > {tmp_path}/cache/x; echo mine > total.py")
    assert seen.output.startswith("tool\n")
    assert seen.output.count("Read-only file system") == 2
    assert diff_after(source, "rm -rf build") == ""


def test_submodules_lie_in_the_tree_as_files(tmp_path: Path) -> None:
    library = make(tmp_path / "library", {"lib.py": "x = 1\n"})
    repo = make(tmp_path / "repo")
    git(repo, "submodule", "add", "-q", str(library), "vendor/lib")
    git(repo, "commit", "-q", "-m", "with a submodule")
    before = state(repo)
    assert ran(repo, "cat vendor/lib/lib.py").output == "x = 1\n"
    assert diff_after(repo, "true") == ""
    assert "a/vendor/lib/lib.py" in diff_after(repo, "echo 'x = 2' > vendor/lib/lib.py")
    assert state(repo) == before


def test_worktrees_bare_and_shallow_repositories_work(repo: Path, tmp_path: Path) -> None:
    add(repo, {"two.txt": "2\n"})
    git(repo, "worktree", "add", "-q", str(tmp_path / "linked"))
    git(tmp_path, "clone", "-q", "--bare", str(repo), "bare")
    git(tmp_path, "clone", "-q", "--depth", "1", f"file://{repo}", "shallow")
    for name in ("linked", "bare", "shallow"):
        assert ran(tmp_path / name, "cat two.txt && git log --oneline | head -1").output.startswith("2\n")


def test_archives_and_bundles_stand_for_their_repository(repo: Path, tmp_path: Path) -> None:
    first = git(repo, "rev-parse", "HEAD")
    add(repo, {"two.txt": "2\n"})
    git(repo, "bundle", "create", "-q", str(tmp_path / "repo.bundle"), "--all")
    for form in ("gztar", "zip"):
        shutil.make_archive(str(tmp_path / "packed"), form, root_dir=tmp_path, base_dir="repo")
    for name in ("packed.tar.gz", "packed.zip", "repo.bundle"):
        source = RepositorySource(tmp_path / name, first)
        assert ran(source, "ls; cat two.txt").output.startswith("test_total.py\ntotal.py\ncat: two.txt")
        assert diff_after(source, "echo 1 >> total.py") == diff_after(
            RepositorySource(repo, first), "echo 1 >> total.py"
        )
    (tmp_path / "broken.tar.gz").write_text("no archive")
    with pytest.raises(UsageError, match="can not be unpacked"):
        ran(tmp_path / "broken.tar.gz", "true")


def test_the_agent_sees_the_past_of_the_base_and_nothing_else(repo: Path) -> None:
    base = add(repo, {"total.py": "def total(n):\n    return 0\n"})
    later = add(repo, {"total.py": "def total(n):\n    return sum(n)\n"})
    seen = ran(RepositorySource(repo, base), f"git log --all --oneline; git cat-file -t {later}; git status --short")
    assert seen.output.count("a commit") == 2
    assert "could not get object info" in seen.output


def test_nothing_is_left_after_success_failure_and_cancelling(
    repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    homes = tmp_path / "homes"
    homes.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(homes))
    diff_after(repo, "mkdir -p a/b; chmod 0 a")
    with pytest.raises(InfrastructureError):
        ran(RepositorySource(repo, setup="false"), "true")

    async def cancelled() -> None:
        async def work() -> None:
            workspace = await open_workspace(RepositorySource(repo))
            try:
                await workspace.run("sleep 986", seconds=60)
            finally:
                await workspace.close()

        task = asyncio.create_task(work())
        await asyncio.sleep(0)
        await asyncio.wait([task], timeout=1.5)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancelled())
    assert list(homes.iterdir()) == []
    assert "sleep 986" not in subprocess.run(["ps", "axww"], capture_output=True, text=True, check=True).stdout


def test_the_reaper_clears_what_a_killed_run_left_and_nothing_in_use(repo: Path, tmp_path: Path) -> None:
    homes = tmp_path / "homes"
    homes.mkdir()
    program = (
        "import asyncio, sys, tempfile\ntempfile.tempdir = sys.argv[2]\nfrom pathlib import Path\n"
        "from hardwon.sandbox.workspaces.workspace import *\n"
        "async def main():\n    w = await open_workspace(RepositorySource(Path(sys.argv[1])))\n"
        "    print('ready', flush=True)\n    await w.run('sleep 985', seconds=600)\nasyncio.run(main())\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program, str(repo), str(homes)], stdout=subprocess.PIPE, text=True
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "ready\n"
        assert sweep(homes) == []  # its owner lives
        other.send_signal(signal.SIGKILL)
        other.wait()
    assert len(sweep(homes)) == 1
    assert list(homes.iterdir()) == []


@pytest.mark.parametrize("command", ["bwrap --bind / / --setenv LEFT {home}", "env -C {home}"])
def test_the_reaper_ends_what_still_runs_there_and_nothing_else(tmp_path: Path, command: str) -> None:
    if shutil.which(command.split()[0]) is None:
        pytest.skip(f"{command.split()[0]} is not installed here")
    homes = [tmp_path / f"hardwon-workspace-{name}" for name in ("left", "left-too")]
    for home in homes:
        home.mkdir()
        (home / "lock").touch()

    def started(home: Path) -> subprocess.Popen[str]:
        words = [word.format(home=home) for word in command.split()]
        process = subprocess.Popen(
            [*words, "sh", "-c", "echo up; cat"], stdin=-1, stdout=-1, text=True, start_new_session=True
        )
        assert process.stdout is not None
        assert process.stdout.readline() == "up\n"
        return process

    with started(homes[0]) as left, started(homes[1]) as used, (homes[1] / "lock").open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert sweep(tmp_path) == [homes[0]]
        assert left.wait(timeout=20) == -signal.SIGKILL
        assert used.poll() is None
        used.kill()


def test_who_looks_into_what_was_left_is_not_ended_with_it(tmp_path: Path) -> None:
    home = tmp_path / "hardwon-workspace-left"
    home.mkdir()
    (home / "lock").touch()
    asks = "import sys; from pathlib import Path; from hardwon.sandbox.workspaces.homes import sweep\n"
    asks += "print(*sweep(Path(sys.argv[1])))"
    shell = f"cd {home}; {shlex.join([sys.executable, '-c', asks, str(tmp_path)])}; echo lives"
    ours, theirs = pty.openpty()
    opened = "import fcntl, os, sys, termios; fcntl.ioctl(int(sys.argv[1]), termios.TIOCSCTTY, 0); "
    opened += "os.chdir(sys.argv[2]); print('up', flush=True); sys.stdin.read()"
    looking = subprocess.Popen(
        [sys.executable, "-c", opened, str(theirs), str(home)],
        stdin=-1,
        stdout=-1,
        text=True,
        pass_fds=[theirs],
        start_new_session=True,
    )
    with looking:
        assert looking.stdout is not None
        assert looking.stdout.readline() == "up\n"
        done = subprocess.run(["sh", "-c", shell], capture_output=True, text=True, timeout=60)
        assert done.stdout == f"{home}\nlives\n", done.stderr
        assert looking.poll() is None
        looking.kill()
    os.close(ours)
    os.close(theirs)


def test_a_full_disk_is_trouble_of_the_world(repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    small = tmp_path / "small"
    small.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(small)], capture_output=True)
    if mounted.returncode != 0:
        pytest.skip("a small disk can not be mounted here")
    try:
        add(repo, {"long.txt": "line\n" * 40_000})
        monkeypatch.setattr("tempfile.tempdir", str(small))
        with pytest.raises(InfrastructureError, match="0 MiB are free"):
            ran(repo, "true")
        assert list(small.iterdir()) == []
    finally:
        subprocess.run(["umount", str(small)], check=True)


def test_a_disk_that_is_full_at_the_change_is_trouble_of_the_world(
    repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    small = tmp_path / "small"
    small.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", str(small)], capture_output=True)
    if mounted.returncode != 0:
        pytest.skip("a small disk can not be mounted here")
    try:
        monkeypatch.setattr("tempfile.tempdir", str(small))
        with pytest.raises(InfrastructureError, match="No space left"):
            diff_after(repo, "head -c 9000 /dev/urandom > new; cat /dev/zero > big.log")
    finally:
        subprocess.run(["umount", str(small)], check=True)


def test_the_bare_backend_works_too_without_the_walls(repo: Path) -> None:
    async def work(workspace: Workspace) -> tuple[str, str]:
        result = await workspace.run("python -m pytest -q 2>&1 | tail -1; sed -i s/max/sum/ total.py", seconds=60)
        return result.output, await workspace.diff()

    said, diff = within(repo, work, backend="process")
    assert "1 failed, 1 passed" in said
    assert "+    return sum(numbers)" in diff
    assert BROKEN["total.py"] == (repo / "total.py").read_text()


def test_an_edit_of_the_same_size_in_the_second_of_the_checkout_is_seen(repo: Path) -> None:
    async def work(workspace: Workspace) -> str:
        place = workspace.path / "total.py"
        date = place.stat()
        place.write_text(place.read_text().replace("max", "min"))
        os.utime(place, ns=(date.st_atime_ns, date.st_mtime_ns))
        return await workspace.diff()

    assert "+    return min(numbers)" in within(repo, work)


def test_a_workspace_whose_owner_was_killed_before_it_had_a_lock_is_swept(tmp_path: Path) -> None:
    (tmp_path / "hardwon-workspace-early").mkdir()
    assert sweep(tmp_path) == [tmp_path / "hardwon-workspace-early"]
    assert list(tmp_path.iterdir()) == []


def test_a_new_workspace_stays_where_others_sweep(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    done = threading.Event()

    def sweeping() -> None:
        while not done.is_set():
            sweep(tmp_path)

    others = [threading.Thread(target=sweeping) for _ in range(2)]
    for other in others:
        other.start()
    try:
        homes = [Home() for _ in range(60)]
        assert all((home.path / "lock").is_file() for home in homes)
    finally:
        done.set()
        for other in others:
            other.join()
    for home in homes:
        home.remove()


def test_what_a_killed_deletion_left_is_swept(tmp_path: Path) -> None:
    (tmp_path / "hardwon-removed-hardwon-workspace-a" / "tree").mkdir(parents=True)
    (tmp_path / "hardwon-other").mkdir()
    sweep(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["hardwon-other"]


@pytest.mark.parametrize("depth", [1400, 3000])  # deeper than Python recurses, and than a path can be long
def test_folders_too_deep_are_the_agents_doing_and_leave_nothing_behind(
    repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, depth: int
) -> None:
    homes = tmp_path / "homes"
    homes.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(homes))
    program = f"import os\nfor i in range({depth}):\n    os.mkdir('d')\n    os.chdir('d')\nopen('f', 'w').close()"
    if depth == 1400:
        assert "/d/f" in diff_after(repo, f'python -c "{program}"')
    else:
        with pytest.raises(UnfitChange, match="deeper"):
            diff_after(repo, f'python -c "{program}"')
    assert list(homes.iterdir()) == []


def test_what_takes_away_its_own_rights_is_deleted_too(tmp_path: Path) -> None:
    (tmp_path / "home" / "a" / "b").mkdir(parents=True)
    (tmp_path / "kept").mkdir(mode=0o500)
    (tmp_path / "home" / "a" / "link").symlink_to(tmp_path / "kept")
    for folder in ("home/a/b", "home/a", "home"):
        (tmp_path / folder).chmod(0)
    delete(tmp_path / "home")
    assert [path.name for path in tmp_path.iterdir()] == ["kept"]
    assert (tmp_path / "kept").stat().st_mode & 0o777 == 0o500


def test_what_git_can_not_read_is_the_agents_doing(repo: Path) -> None:
    with pytest.raises(UnfitChange, match="git can not read the tree"):
        diff_after(repo, "echo '* working-tree-encoding=bogus' > .gitattributes; echo x > new.txt")


@pytest.mark.parametrize("form", ["tar", "zip"])
def test_the_settings_of_a_repository_from_elsewhere_run_nothing(repo: Path, tmp_path: Path, form: str) -> None:
    sign = tmp_path / "escaped"
    with (repo / ".git" / "config").open("a") as config:
        config.write(
            '[extensions]\n\tpartialClone = evil\n[remote "evil"]\n\turl = .\n\tpromisor = true\n'
            f"\tuploadpack = touch {sign};\n[core]\n\tfsmonitor = touch {sign}\n"
        )
    (repo / ".git" / "refs" / "heads" / "main").write_text("1" * 40 + "\n")
    shutil.make_archive(str(tmp_path / "packed"), form, root_dir=tmp_path, base_dir="repo")
    with pytest.raises(UsageError, match="no commit"):
        ran(tmp_path / f"packed.{form}", "true")
    assert not sign.exists()


def test_a_packed_repository_that_leads_elsewhere_is_refused(repo: Path, tmp_path: Path) -> None:
    (tmp_path / "packed").mkdir()
    (tmp_path / "packed" / ".git").write_text(f"gitdir: {repo}/.git\n")
    shutil.make_archive(str(tmp_path / "file"), "tar", root_dir=tmp_path / "packed")
    (repo / ".git" / "hooks").mkdir(exist_ok=True)
    (repo / ".git" / "config").rename(repo / ".git" / "real")
    (repo / ".git" / "config").symlink_to("real")
    shutil.make_archive(str(tmp_path / "links"), "tar", root_dir=tmp_path, base_dir="repo")
    for name, said in (("file", "holds no git repository"), ("links", "is a link")):
        with pytest.raises(UsageError, match=said):
            ran(tmp_path / f"{name}.tar", "true")


def test_a_packed_repository_of_sha256_keeps_its_form(tmp_path: Path) -> None:
    (tmp_path / "long").mkdir()
    git(tmp_path / "long", "init", "-q", "--object-format=sha256")
    commit = add(tmp_path / "long", {"a.txt": "1\n"})
    shutil.make_archive(str(tmp_path / "packed"), "tar", root_dir=tmp_path, base_dir="long")
    assert len(commit) == 64
    assert commit[:7] in ran(tmp_path / "packed.tar", "git log --oneline").output


WAIT = "touch on; while [ ! -e off ]; do sleep 0.1; done; echo $TOKEN; ls -l /proc/$$/fd"


def test_secrets_stand_in_no_command_line(repo: Path) -> None:
    async def work(workspace: Workspace) -> tuple[str, str]:
        running = asyncio.create_task(workspace.run(WAIT, seconds=20))
        while not (workspace.path / "on").exists():
            await asyncio.sleep(0.01)
        listed = subprocess.run(["ps", "axww"], capture_output=True, text=True, check=True).stdout
        (workspace.path / "off").touch()
        return listed, (await running).output

    for backend in ("bubblewrap", "process"):
        listed, said = within(repo, work, backend=backend, env=(("TOKEN", "very-6765-secret"),))
        assert "touch on; while" in listed
        assert "very-6765-secret" not in listed
        assert said.split()[0] == "very-6765-secret"
        assert "memfd" not in said


def test_a_branch_that_stands_in_the_way_of_the_name_does_not_hinder(repo: Path) -> None:
    change = diff_after(repo, "echo 1 > new.txt")
    found = facts(repo, None)
    git(repo, "branch", "hardwon/fix-b/below")
    assert put_on_branch(found, found.commit, change, "hardwon/fix-b", "m") == "hardwon/fix-b-2"
    git(repo, "branch", "-D", "hardwon/fix-b/below", "hardwon/fix-b-2")
    git(repo, "branch", "hardwon")
    names = [put_on_branch(found, found.commit, change, "hardwon/fix-a", "m") for _ in range(2)]
    assert names == ["hardwon-fix-a", "hardwon-fix-a-2"]


@pytest.fixture
def runtime(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file to which a stand-in for podman writes what it is told; its `cp` makes a tree whose `.git` is a link."""
    said = tmp_path / "said"
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "podman").write_text(
        f'#!/bin/sh\necho "$@" "TOKEN is $TOKEN" >> {said}\n'
        f'if [ "$1" = cp ]; then mkdir "$3"; ln -s {tmp_path}/repo/.git "$3/.git"; fi\n'
    )
    (tmp_path / "bin" / "podman").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}/bin:{os.environ['PATH']}")
    return said


def test_secrets_stand_in_no_command_line_of_a_container_either(repo: Path, runtime: Path) -> None:
    async def work(workspace: Workspace) -> None: ...

    within(RepositorySource(repo, image="any"), work, backend="podman", env=(("TOKEN", "very-6765-secret"),))
    started = next(line for line in runtime.read_text().splitlines() if line.startswith("run "))
    assert started.count("very-6765-secret") == 1
    assert "--env TOKEN " in started
    assert started.endswith("TOKEN is very-6765-secret")


def test_a_git_directory_of_an_image_that_is_a_link_is_refused(repo: Path, runtime: Path) -> None:
    before = state(repo)
    with pytest.raises(UsageError, match="is not a git repository"):
        ran(RepositorySource(Path("/nowhere"), image="any"), "true", backend="podman")
    assert "cp " in runtime.read_text()
    assert state(repo) == before
