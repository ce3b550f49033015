"""The repository of a task: known by where it was cloned from, the same on every machine."""

import subprocess
from pathlib import Path

import pytest

from hardwon.environments.repository import RepositoryTask
from hardwon.runs.recall import query_of, repository_of
from hardwon.sandbox.workspaces.workspace import RepositorySource
from hardwon.task import Problem, Task


def task_in(folder: Path, origin: str | None) -> Task:
    folder.mkdir()
    subprocess.run(["git", "init", "-q"], cwd=folder, check=True)
    if origin is not None:
        subprocess.run(["git", "remote", "add", "origin", origin], cwd=folder, check=True)
    problem = Problem("t", "Mend it.", "repository")
    return RepositoryTask(problem=problem, feedback=None, grader=None, digest="d", source=RepositorySource(folder))


@pytest.mark.parametrize(
    ("origin", "name"),
    [
        ("https://github.com/django/django.git", "django/django"),
        ("git@github.com:pallets/flask.git", "pallets/flask"),
        ("https://name:secret@example.org/team/tool/", "team/tool"),
        ("https://name:secret@example.org/tool.git", "example.org/tool"),
        (None, "tree"),
    ],
)
def test_a_repository_is_known_by_its_origin_without_what_is_secret(
    tmp_path: Path, origin: str | None, name: str
) -> None:
    task = task_in(tmp_path / "tree", origin)
    assert repository_of(task) == name == query_of(task, "t", ()).home


def test_an_archive_has_its_own_name_what_lies_in_an_image_and_other_tasks_none(tmp_path: Path) -> None:
    (tmp_path / "tool.bundle").write_bytes(b"x")
    for path, name in ((tmp_path / "tool.bundle", "tool.bundle"), (Path("/nowhere/testbed"), "")):
        problem = Problem("t", "Mend it.", "repository")
        source = RepositorySource(path, image="image")
        task = RepositoryTask(problem=problem, feedback=None, grader=None, digest="d", source=source)
        assert repository_of(task) == name
    assert repository_of(Task(Problem("t", "x"), None, None, "d")) == ""
