"""An agent's own test counts where it fails before the change and passes after it."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from tests.sandbox.repositories import MEND, diff_after, make

from hardwon.evaluators.reproduction import ReproductionTest, filled
from hardwon.sandbox.workspaces.workspace import RepositorySource
from hardwon.trial import Feedback, Trajectory

FILES = {
    "total.py": "def total(numbers):\n    return max(numbers)\n",
    "test_total.py": "import unittest\n\n\nclass T(unittest.TestCase):\n    def test_old(self):\n        pass\n",
}
TEST = """cat > test_issue.py <<'EOF'
import unittest

from total import total


class IssueTest(unittest.TestCase):
    def test_three(self):
        self.{}
EOF"""
GOOD = TEST.format("assertEqual(total([1, 2]), 3)")
VACUOUS = TEST.format("assertTrue(True)")
EMPTY = "echo 'import total' > test_issue.py"
BROKEN_TEST = "echo 'def test_(:' > test_issue.py"


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    return make(tmp_path / "repository", FILES)


def check(repository: Path, *commands: str, seconds: float = 60.0) -> Feedback:
    reproduction = ReproductionTest(RepositorySource(repository), "python -m unittest -v {files}", seconds)
    diff = diff_after(repository, *commands) if commands else None
    return asyncio.run(reproduction.check(Trajectory(diff)))


def test_a_test_that_fails_before_and_passes_after_the_change_is_evidence(repository: Path) -> None:
    feedback = check(repository, GOOD, MEND)
    assert (feedback.verdict, feedback.source) == ("pass", "generated")
    assert [c.name for c in feedback.checks] == ["test_issue.IssueTest.test_three"]


def test_a_change_that_leaves_the_test_failing_fails(repository: Path) -> None:
    feedback = check(repository, GOOD, "sed -i 's/max/min/' total.py")
    assert (feedback.verdict, feedback.score, feedback.source) == ("fail", 0.0, "generated")
    assert "still fails with the change" in feedback.text
    assert "AssertionError: 1 != 3" in feedback.text


@pytest.mark.parametrize(
    ("commands", "said"),
    [
        ((MEND,), "holds no new test"),
        ((VACUOUS, MEND), "No new test fails without the change"),
        ((EMPTY, MEND), "No new test fails without the change"),
        ((BROKEN_TEST, MEND), "No new test fails without the change"),
        (("sed -i s/pass/self.fail/ test_total.py", MEND), "holds no new test"),
    ],
)
def test_a_test_that_shows_nothing_is_no_evidence(repository: Path, commands: tuple[str, ...], said: str) -> None:
    feedback = check(repository, *commands)
    assert (feedback.verdict, feedback.source) == ("no_evidence", "none")
    assert said in feedback.text


def test_no_patch_fails(repository: Path) -> None:
    assert check(repository).verdict == "fail"


def test_files_and_modules_are_filled_in() -> None:
    assert filled("run {files}", ["tests/a b.py", "c.py"]) == "run 'tests/a b.py' c.py"
    assert filled("run {modules}", ["tests/a/b.py", "tests/c.py"]) == "run a.b c"
