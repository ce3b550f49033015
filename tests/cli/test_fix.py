"""`hardwon fix`: exit 0 solved, 1 not solved, 2 usage, 3 infrastructure; the user's repository is only read."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.sandbox.repositories import BROKEN, MEND, add, git, make, state

from hardwon.sandbox.choose import bubblewrap_trouble

Hardwon = Callable[..., subprocess.CompletedProcess[str]]
pytestmark = pytest.mark.skipif(bubblewrap_trouble() is not None, reason="bubblewrap does not work here")

CHECK = "PYTEST_DISABLE_PLUGIN_AUTOLOAD=1 python -m pytest -q"
SUBMIT = "```bash\nsubmit\n```"
LESSON = "The maximum was kept in total.py; add the numbers up instead of comparing them."


def block(command: str) -> str:
    return f"Next.\n\n```bash\n{command}\n```"


GOOD = (block(MEND), SUBMIT)
BAD = (block("echo '# tried' >> total.py"), SUBMIT)


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    return make(tmp_path / "repo")


def script(tmp_path: Path, *acts: str) -> list[object]:
    (tmp_path / "s.json").write_text(json.dumps({"fix": {"act": list(acts), "reflect": [LESSON]}}))
    return ["--check", CHECK, "--model", "script:s.json"]


def test_a_second_attempt_with_the_lesson_solves_it_and_a_branch_holds_the_change(
    hardwon: Hardwon, tmp_path: Path, repo: Path
) -> None:
    before = state(repo / ".git")
    done = hardwon("fix", repo, *script(tmp_path, *BAD, *GOOD))
    assert done.returncode == 0, done.stderr
    assert "+    return sum(numbers)" in done.stdout
    assert (
        "before: fail (1 of 2 tests pass)\nafter:  pass (2 of 2 tests pass)\nsolved (solved) after 2 trials"
        in done.stdout
    )
    assert LESSON in done.stderr
    assert state(repo / ".git") == before
    again = hardwon("fix", repo, *script(tmp_path, *GOOD), "--apply", "--task", "Add up.")
    assert again.returncode == 0, again.stderr
    branch = git(repo, "branch", "--list", "hardwon/*").strip()
    assert branch in again.stdout
    assert git(repo, "diff", "--stat", f"main..{branch}").startswith("total.py")
    assert git(repo, "rev-parse", "--abbrev-ref", "HEAD") == "main"
    assert git(repo, "status", "--porcelain") == ""


def test_what_is_not_solved_leaves_with_1_and_makes_no_branch(hardwon: Hardwon, tmp_path: Path, repo: Path) -> None:
    done = hardwon("fix", repo, *script(tmp_path, *BAD), "--apply", "--trials", 1)
    assert done.returncode == 1, done.stderr
    assert "+# tried" in done.stdout
    assert "no branch was made" in done.stdout
    assert git(repo, "branch", "--list", "hardwon/*") == ""


def test_changing_the_failing_test_does_not_help(hardwon: Hardwon, tmp_path: Path, repo: Path) -> None:
    cheat = block("sed -i 's/== 3/== 2/' test_total.py")
    done = hardwon("fix", repo, *script(tmp_path, cheat, SUBMIT), "--trials", 1)
    assert done.returncode == 1, done.stderr
    assert "put back as they were: test_total.py" in done.stdout


@pytest.mark.parametrize("check", ["python -m unittest", "python -m unittest discover -s tests", "./check.sh"])
def test_tests_that_are_only_named_when_they_fail_can_be_mended(
    hardwon: Hardwon, tmp_path: Path, repo: Path, check: str
) -> None:
    test = "import unittest\nimport total\nclass T(unittest.TestCase):\n"
    test += "    def test_adds(self): self.assertEqual(total.total([1, 2]), 3)\n"
    add(repo, {"tests/__init__.py": "", "tests/test_adds.py": test, "check.sh": "python -m unittest\n"})
    repo.joinpath("check.sh").chmod(0o755)
    git(repo, "commit", "--quiet", "--all", "--message=Let it be run")
    done = hardwon("fix", repo, *script(tmp_path, *GOOD), "--check", check)
    assert (done.returncode, "solved (solved) after 1 trials" in done.stdout) == (0, True), done.stdout + done.stderr


def test_json_tells_the_row_the_checks_and_where_the_patch_is(hardwon: Hardwon, tmp_path: Path, repo: Path) -> None:
    done = hardwon("fix", repo, *script(tmp_path, *GOOD), "--json", "--quiet", "--out", "run")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert (told["solved"], told["before"]["verdict"], told["after"]["verdict"]) == (True, "fail", "pass")
    assert told["branch"] is None
    patch = (tmp_path / told["patch"]).read_text()
    assert patch == told["submission"]
    (tmp_path / "p").write_text(patch)
    git(repo, "apply", "--check", str(tmp_path / "p"))


def test_what_is_not_committed_is_asked_for_left_or_taken_along(hardwon: Hardwon, tmp_path: Path, repo: Path) -> None:
    (repo / "notes.txt").write_text("mine\n")
    (repo / "total.py").write_text("# mine\n" + (repo / "total.py").read_text())
    options = [*script(tmp_path, *GOOD), "--apply"]
    refused = hardwon("fix", repo, *options)
    assert refused.returncode == 2
    assert "not committed (total.py, notes.txt); commit them, or give --include-dirty" in refused.stderr
    before = state(repo / ".git")
    assert hardwon("fix", repo, *options[:-1], "--include-dirty", "--out", "first").returncode == 0
    assert state(repo / ".git") == before
    done = hardwon("fix", repo, *options, "--include-dirty")
    assert done.returncode == 0, done.stderr
    branch = git(repo, "branch", "--list", "hardwon/*").strip()
    assert git(repo, "show", f"{branch}:total.py") == "# mine\ndef total(numbers):\n    return sum(numbers)"
    assert git(repo, "show", "--stat", "--format=", branch).startswith("total.py | 2 +-")
    assert git(repo, "rev-list", "--count", f"main..{branch}") == "2"
    left = hardwon("fix", repo, *options, "--leave-dirty")
    assert left.returncode == 0, left.stderr
    assert "# mine" not in left.stdout
    assert (repo / "total.py").read_text().startswith("# mine")


def test_inside_the_repository_the_run_folder_makes_no_dirt(hardwon: Hardwon, tmp_path: Path) -> None:
    options = script(tmp_path, *GOOD)
    git(tmp_path, "init", "-q", "-b", "main")
    add(tmp_path, BROKEN)
    done = hardwon("fix", *options)
    assert done.returncode == 0, done.stderr
    assert list((tmp_path / "runs").glob("fix-*/fix.patch"))
    assert git(tmp_path, "status", "--porcelain") == ""


def test_bad_input_leaves_with_2_and_writes_nothing(hardwon: Hardwon, tmp_path: Path, repo: Path) -> None:
    (tmp_path / "plain").mkdir()
    (tmp_path / "empty").mkdir()
    (tmp_path / "blank.md").write_text("\n")
    git(tmp_path / "empty", "init", "-q")
    options = script(tmp_path, *GOOD)
    for arguments, said in (
        (["plain"], "is not a git repository"),
        (["empty"], "has no commit yet"),
        (["nowhere"], "no such folder"),
        ([repo, "--base", "v9"], "has no commit v9"),
        ([repo, "--issue", "blank.md"], "is empty"),
        ([repo, "--issue", "none.md"], "none.md"),
        ([repo, "--issue", "blank.md", "--task", "x"], "give one of them"),
        ([repo, "--image", "x"], "needs --sandbox podman or docker"),
        ([repo, "--sandbox", "chroot"], "unknown"),
        ([repo, "--mount", "deps"], "no such folder to show"),
        ([repo, "--env", "NOT_SET_HERE"], "--env NOT_SET_HERE: is not set here"),
        ([repo, "--check", f"{CHECK} -k nothing"], "shows nothing"),
    ):
        done = hardwon("fix", *options, *arguments)
        assert done.returncode == 2, (arguments, done.stdout, done.stderr)
        assert said in done.stderr
        assert len(done.stderr.strip().splitlines()) == 1
    assert not (tmp_path / "runs").exists()


def test_a_check_that_succeeds_already_leaves_nothing_to_do(hardwon: Hardwon, tmp_path: Path, repo: Path) -> None:
    options = script(tmp_path, *GOOD)[2:]
    done = hardwon("fix", repo, "--check", "true", *options)
    assert (done.returncode, done.stdout[:14]) == (0, "nothing to fix")
    done = hardwon("fix", repo, "--check", "true", "--task", "Make it quicker.", *options)
    assert done.returncode == 2
    assert "can not tell when the task is done" in done.stderr


def test_a_command_that_is_not_there_leaves_with_3(hardwon: Hardwon, tmp_path: Path, repo: Path) -> None:
    done = hardwon("fix", repo, "--check", "no-such-checker", *script(tmp_path, *GOOD)[2:])
    assert done.returncode == 3
    assert "no-such-checker is missing" in done.stderr


def test_files_of_a_submodule_are_worked_on_but_put_on_no_branch(hardwon: Hardwon, tmp_path: Path, repo: Path) -> None:
    library = make(tmp_path / "library", {"lib.py": "x = 1\n"})
    git(repo, "submodule", "add", "-q", str(library), "vendor")
    add(repo, {"test_vendor.py": "def test_x():\n    import vendor.lib\n    assert vendor.lib.x == 2\n"})
    mend = block(f"{MEND}; echo 'x = 2' > vendor/lib.py")
    done = hardwon("fix", repo, *script(tmp_path, mend, SUBMIT), "--apply")
    assert done.returncode == 2, (done.stdout, done.stderr)
    assert "apply it by hand" in done.stderr
    assert "vendor/lib.py" in done.stdout
    assert "solved (solved) after" in done.stdout
    told = hardwon("fix", repo, *script(tmp_path, mend, SUBMIT), "--apply", "--json", "--out", "told")
    assert (told.returncode, json.loads(told.stdout)["solved"], json.loads(told.stdout)["branch"]) == (2, True, None)
    assert git(repo, "branch", "--list", "hardwon/*") == ""


def test_a_branch_that_can_not_be_made_hides_no_result(hardwon: Hardwon, tmp_path: Path, repo: Path) -> None:
    (repo / ".git" / "refs" / "heads" / "hardwon").write_text("broken\n")
    done = hardwon("fix", repo, *script(tmp_path, *GOOD), "--apply")
    assert done.returncode == 3, (done.stdout, done.stderr)
    assert "+    return sum(numbers)" in done.stdout
    assert "no branch was made" in done.stderr
    assert "fix.patch by hand" in done.stderr


def test_nothing_of_a_workspace_is_left(hardwon: Hardwon, tmp_path: Path, repo: Path) -> None:
    (tmp_path / "t").mkdir()
    done = hardwon("fix", repo, *script(tmp_path, *GOOD), env={"TMPDIR": str(tmp_path / "t")})
    assert done.returncode == 0, done.stderr
    assert list((tmp_path / "t").iterdir()) == []
