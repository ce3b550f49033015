"""What `hardwon fix` shows to the agent of a user's machine, and what it puts back before it checks."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest
from tests.sandbox.repositories import BROKEN, git, make

from hardwon.cli.fix_guard import guarded
from hardwon.cli.fix_source import source_of
from hardwon.evaluators.repository import RepositoryCheck
from hardwon.sandbox.workspaces.git import facts
from hardwon.sandbox.workspaces.workspace import RepositorySource
from hardwon.trial import Check, Feedback

FILES = {
    "backend/tests/test_a.py": "",
    "backend/tests/test_[id].py": "",
    "backend/tests/test_i.py": "",
    "backend/src/a.py": "",
    "backend/check.py": "",
    "web/__tests__/adds.js": "",
    "Makefile": "",
}
TESTS = {"backend/tests/test_a.py", "backend/tests/test_[[]id].py", "backend/tests/test_i.py", "web/__tests__/adds.js"}


def failed(*names: str) -> Feedback:
    """What a check said before, of which these tests failed."""
    return Feedback("fail", 0.0, "It failed.", tuple(Check(name, "fail") for name in names), "grounded")


@pytest.mark.parametrize(
    ("command", "failing", "kept"),
    [
        ("cd backend && python -m pytest -q", ["tests/test_a.py::test_x"], {"backend/tests/test_a.py"}),
        ("cd backend/tests && pytest", ["../tests/test_[id].py::test_x"], {"backend/tests/test_[[]id].py"}),
        ("cd backend && python -m unittest", ["tests.test_a.T.test_x"], {"backend/tests/test_a.py"}),
        ("node --test", ["adds up"], TESTS),
        ("pytest", ["test_a.py::test_x", "adds up"], TESTS),
        ("pytest", [], TESTS),
        ("cd backend && python ./check.py", [], {"backend/check.py"}),
        ("timeout 60 bash -c 'cd backend; python check.py --all'", [], {"backend/check.py"}),
        ("bash -c 'cd backend\n(python check.py)'", [], {"backend/check.py"}),
        ("make check", [], {"Makefile"}),
        ("ruff check backend/src/a.py && pytest backend/tests/test_a.py::test_x", ["adds"], TESTS),
        ("mypy backend/src/a.py", [], set()),
        ("grep -q sum backend/src/a.py && python -m doctest backend/src/a.py", [], set()),
        ("X=1 timeout 60 ./backend/check.py | cat", [], {"backend/check.py"}),
        ("uv run --with x python -u backend/check.py backend/src/a.py", [], {"backend/check.py"}),
    ],
)
def test_what_decides_about_the_failing_tests_is_put_back(
    tmp_path: Path, command: str, failing: list[str], kept: set[str]
) -> None:
    repo = make(tmp_path / "repo", FILES)
    found = facts(repo, None)
    check = RepositoryCheck(RepositorySource(repo, found.commit), command, ("mine/*",))
    assert set(guarded(check, failed(*failing), found).restore) == {"mine/*", *kept}


@pytest.mark.parametrize(
    ("command", "passing", "required"),
    [
        ("python -m unittest", [], True),
        ("python -m unittest -q", [], False),
        ("pytest -q", [], True),
        ("make check", ["test_y"], True),
        ("make check", [], False),
        ("go test ./...", [], False),
    ],
)
def test_tests_are_required_by_name_where_those_that_pass_are_named(
    tmp_path: Path, command: str, passing: list[str], required: bool
) -> None:
    repo = make(tmp_path / "repo", FILES)
    found = facts(repo, None)
    check = RepositoryCheck(RepositorySource(repo, found.commit), command)
    before = failed("test_x")
    before = replace(before, checks=(*before.checks, *(Check(name, "pass") for name in passing)))
    assert guarded(check, before, found).required == (("test_x",) if required else ())


def test_a_name_with_brackets_is_put_back_itself(tmp_path: Path) -> None:
    repo = make(tmp_path / "repo", FILES)
    found = facts(repo, None)
    check = guarded(
        RepositoryCheck(RepositorySource(repo, found.commit), "pytest"), failed("backend/tests/test_[id].py::t"), found
    )
    edit = "diff --git a/{0} b/{0}\n--- a/{0}\n+++ b/{0}\n@@ -0,0 +1 @@\n+x\n"
    said = check._edits(edit.format("backend/tests/test_[id].py") + edit.format("backend/tests/test_i.py"), frozenset())
    assert said.splitlines()[0].endswith("put back as they were: backend/tests/test_[id].py.")


@pytest.fixture
def private(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's home, with a secret in it."""
    monkeypatch.delenv("VIRTUAL_ENV", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "user"))
    (tmp_path / "user" / ".ssh" / "bin").mkdir(parents=True)
    for name in ("bin/key", "bin/python3", "python3"):
        (tmp_path / "user" / ".ssh" / name).write_text("6765")
        (tmp_path / "user" / ".ssh" / name).chmod(0o755)
    return tmp_path / "user"


def test_an_environment_that_came_with_the_repository_is_not_shown(tmp_path: Path, private: Path) -> None:
    repo = make(tmp_path / "repo", BROKEN | {".gitignore": ".venv\n"})
    (repo / ".venv" / "bin").mkdir(parents=True)
    (repo / ".venv" / "bin" / "python").symlink_to(private / ".ssh" / "bin" / "python3")
    git(repo, "add", "-f", ".venv/bin/python")
    git(repo, "commit", "-qm", "a trap")
    source = source_of(facts(repo, None), None, setup=None, image=None, mounts=())
    assert (source.mounts, source.tools) == ((), ())


@pytest.mark.parametrize("there", [".ssh/bin/key", ".ssh/python3", "bin/python3"])
def test_what_does_not_look_like_an_interpreter_opens_no_folder(tmp_path: Path, private: Path, there: str) -> None:
    repo = make(tmp_path / "repo", BROKEN | {".gitignore": ".venv\n"})
    (private / "bin").mkdir()
    os.link(private / ".ssh" / "python3", private / "bin" / "python3")
    (repo / ".venv" / "bin").mkdir(parents=True)
    (repo / ".venv" / "bin" / "python").symlink_to(private / there)
    source = source_of(facts(repo, None), None, setup=None, image=None, mounts=())
    assert source.mounts == (".venv",)


def test_the_interpreter_of_the_users_own_environment_is_shown(tmp_path: Path, private: Path) -> None:
    repo = make(tmp_path / "repo", BROKEN | {".gitignore": ".venv\n"})
    (private / "python" / "bin").mkdir(parents=True)
    os.link(private / ".ssh" / "python3", private / "python" / "bin" / "python3.11")
    (repo / ".venv" / "bin").mkdir(parents=True)
    (repo / ".venv" / "bin" / "python").symlink_to(private / "python" / "bin" / "python3.11")
    source = source_of(facts(repo, None), None, setup=None, image=None, mounts=())
    assert source.mounts == (".venv", str(private / "python"))
