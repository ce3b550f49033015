"""Named tests decide over a patch, in a workspace that only the check sees."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest
from tests.sandbox.repositories import MEND, diff_after, make, state

from hardwon.errors import InfrastructureError
from hardwon.evaluators.instance import InstanceTests
from hardwon.sandbox.workspaces.workspace import RepositorySource
from hardwon.trial import Feedback, Trajectory

FILES = {
    "total.py": "def total(numbers):\n    return max(numbers)\n",
    "test_total.py": """import unittest

from total import total


class T(unittest.TestCase):
    def test_sum(self):
        self.assertEqual(total([1, 2]), 3)

    def test_one(self):
        self.assertEqual(total([4]), 4)
""",
}
HIDDEN = """diff --git a/test_more.py b/test_more.py
new file mode 100644
--- /dev/null
+++ b/test_more.py
@@ -0,0 +1,8 @@
+import unittest
+
+from total import total
+
+
+class More(unittest.TestCase):
+    def test_many(self):
+        self.assertEqual(total([1, 2, 3]), 6)
"""
COMMAND = "python -m unittest -v"
SUM, ONE, MANY = "test_total.T.test_sum", "test_total.T.test_one", "test_more.More.test_many"


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    return make(tmp_path / "repository", FILES)


def named_tests(repository: Path, **settings: object) -> InstanceTests:
    known = InstanceTests(
        RepositorySource(repository),
        COMMAND,
        (SUM, MANY),
        (ONE,),
        HIDDEN,
    )
    return replace(known, **settings)  # type: ignore[arg-type]


def check(tests: InstanceTests, diff: str | None) -> Feedback:
    return asyncio.run(tests.check(Trajectory(diff)))


def test_a_right_patch_passes_every_named_test_and_leaves_the_repository_as_it_was(repository: Path) -> None:
    before = state(repository)
    feedback = check(named_tests(repository), diff_after(repository, MEND))
    assert (feedback.verdict, feedback.score) == ("pass", 1.0)
    assert [c.name for c in feedback.checks] == [SUM, MANY, ONE]
    assert state(repository) == before


def test_what_a_wrong_patch_fails_is_named_with_its_error(repository: Path) -> None:
    feedback = check(named_tests(repository), diff_after(repository, "sed -i 's/max(numbers)/3/' total.py"))
    assert feedback.verdict == "fail"
    assert [c.status for c in feedback.checks] == ["pass", "fail", "fail"]
    assert MANY in feedback.text
    assert "AssertionError: 3 != 6" in feedback.text


def test_tests_that_a_patch_weakens_or_puts_in_the_way_do_not_count(repository: Path) -> None:
    weak = "sed -i 's/self.assertEqual.*/pass/' test_total.py"
    fake = "sed 's/test_sum/test_many/; s/class T/class More/' test_total.py > test_more.py"
    diff = diff_after(repository, weak, fake, "echo '# nothing' >> total.py")
    kept = check(named_tests(repository, keep_tests=True), diff)
    assert [c.status for c in kept.checks] == ["fail", "fail", "pass"]
    given = check(named_tests(repository), diff)
    assert [c.status for c in given.checks] == ["pass", "fail", "pass"], "only the files of the test patch are kept"


@pytest.mark.parametrize("diff", [None, ""])
def test_no_patch_fails(repository: Path, diff: str | None) -> None:
    assert check(named_tests(repository), diff).verdict == "fail"


def test_a_patch_that_does_not_apply_fails_and_says_so(repository: Path) -> None:
    diff = diff_after(repository, MEND).replace("max(numbers)", "min(numbers)")
    feedback = check(named_tests(repository), diff)
    assert feedback.verdict == "fail"
    assert "does not apply" in feedback.text


def test_a_patch_that_keeps_the_tests_from_running_fails(repository: Path) -> None:
    feedback = check(named_tests(repository), diff_after(repository, "echo 'import os; os._exit(0)' > total.py"))
    assert feedback.verdict == "fail"
    assert {c.status for c in feedback.checks} == {"fail"}
    assert "did not run" in feedback.text


def test_tests_that_do_not_end_fail_at_the_time_limit(repository: Path) -> None:
    diff = diff_after(repository, "printf 'while True: pass\\n' > total.py")
    feedback = check(named_tests(repository, seconds=2.0), diff)
    assert feedback.verdict == "fail"
    assert "did not end within 2 seconds" in feedback.text


@pytest.mark.parametrize("command", ["no-such-runner {}", "python -m no_such_module", "true"])
def test_a_command_that_runs_no_test_even_without_the_patch_is_no_fault_of_the_patch(
    repository: Path, command: str
) -> None:
    with pytest.raises(InfrastructureError, match="names no test that it ran, even without a patch"):
        check(named_tests(repository, command=command), diff_after(repository, MEND))


def test_hidden_tests_that_do_not_apply_are_no_fault_of_the_patch(repository: Path) -> None:
    odd = HIDDEN.replace("new file mode 100644\n", "").replace("/dev/null", "a/test_more.py").replace("-0,0", "-1,1")
    with pytest.raises(InfrastructureError, match="mend test_patch"):
        check(named_tests(repository, test_patch=odd), diff_after(repository, MEND))
