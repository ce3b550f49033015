"""A command decides about a change to a repository."""

from __future__ import annotations

import asyncio
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from tests.sandbox.repositories import BROKEN, MEND, add, diff_after, make

from hardwon.errors import InfrastructureError
from hardwon.evaluators.repository import RepositoryCheck, telling
from hardwon.sandbox.choose import bubblewrap_trouble
from hardwon.sandbox.workspaces.workspace import RepositorySource
from hardwon.trial import Feedback, Trajectory

pytestmark = pytest.mark.skipif(bubblewrap_trouble() is not None, reason="bubblewrap does not work here")
PYTEST = "PYTEST_DISABLE_PLUGIN_AUTOLOAD=1 python -m pytest -q"


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    return make(tmp_path / "repo")


def checked(check: RepositoryCheck, diff: str | None) -> Feedback:
    return asyncio.run(check.check(Trajectory(diff)))


def after(repo: Path, change: str, command: str = PYTEST) -> Feedback:
    """What the plain check says of what `change` does."""
    return checked(RepositoryCheck(RepositorySource(repo), command, reruns=0), diff_after(repo, change))


def test_a_right_change_passes_with_each_test_named(repo: Path) -> None:
    feedback = after(repo, MEND)
    assert (feedback.verdict, feedback.score, feedback.source) == ("pass", 1.0, "grounded")
    assert {check.name: check.status for check in feedback.checks} == {
        PYTEST: "pass",
        "test_total.py::test_sum": "pass",
        "test_total.py::test_one": "pass",
    }


def test_a_wrong_change_fails_with_the_failing_test_and_scores_the_share_that_passes(repo: Path) -> None:
    feedback = after(repo, "echo '# nothing' >> total.py")
    assert (feedback.verdict, feedback.score) == ("fail", 0.5)
    assert [check.name for check in feedback.failing] == [PYTEST, "test_total.py::test_sum"]
    assert "- test_total.py::test_sum: assert 2 == 3" in feedback.text
    assert "PASSED" not in feedback.text


def test_equal_outcomes_read_equal(repo: Path) -> None:
    change = diff_after(repo, "echo '# nothing' >> total.py")
    check = RepositoryCheck(RepositorySource(repo), PYTEST)
    assert checked(check, change).text == checked(check, change).text


def test_an_empty_change_is_a_failure_that_says_so(repo: Path) -> None:
    feedback = checked(RepositoryCheck(RepositorySource(repo), PYTEST), None)
    assert feedback.verdict == "fail"
    assert "Nothing was changed" in feedback.text


def test_a_change_that_does_not_apply_is_a_failure_that_says_so(repo: Path) -> None:
    change = diff_after(repo, MEND)
    add(repo, {"total.py": "def total(n):\n    return 7\n"})
    feedback = checked(RepositoryCheck(RepositorySource(repo), PYTEST), change)
    assert feedback.verdict == "fail"
    assert "does not apply" in feedback.text


def test_tests_are_put_back_and_the_edit_is_reported(repo: Path) -> None:
    cheat = diff_after(repo, "rm test_total.py; echo 'def test_x(): pass' > test_x.py; echo > conftest.py")
    assert checked(RepositoryCheck(RepositorySource(repo), PYTEST), cheat).verdict == "pass"
    guarded = RepositoryCheck(RepositorySource(repo), PYTEST, restore=("test_total.py",), reruns=0)
    feedback = checked(guarded, cheat)
    assert feedback.verdict == "fail"
    assert "put back as they were: test_total.py" in feedback.text
    assert "how they are run: conftest.py, test_x.py" in feedback.text


def test_required_tests_must_have_run(repo: Path) -> None:
    check = RepositoryCheck(RepositorySource(repo), PYTEST, required=("test_total.py::test_sum",))
    feedback = checked(check, diff_after(repo, "rm test_total.py; echo 'def test_x(): pass' > test_x.py"))
    assert feedback.verdict == "fail"
    assert "test_total.py::test_sum: did not run" in feedback.text


def test_tests_of_ones_own_take_the_place_of_the_agents(repo: Path) -> None:
    hidden = diff_after(
        repo, "printf 'def test_h():\\n    import total\\n    assert total.total([1, 1]) == 2\\n' > test_h.py"
    )
    check = RepositoryCheck(RepositorySource(repo), f"{PYTEST} test_h.py", tests=hidden, reruns=0)
    fake = diff_after(repo, "echo 'def test_h(): pass' > test_h.py")
    assert checked(check, fake).verdict == "fail"
    assert checked(check, diff_after(repo, MEND, "echo 'def test_h(): pass' > test_h.py")).verdict == "pass"
    with pytest.raises(InfrastructureError, match="can not be put in"):
        checked(
            replace(check, tests=hidden.replace("new file mode 100644\n", "").replace("/dev/null", "a/test_h.py")), fake
        )


@pytest.mark.parametrize(
    ("change", "command", "said"),
    [
        ("rm test_total.py", PYTEST, "held no test"),
        ("printf 'import pytest\\npytestmark = pytest.mark.skip\\n' >> test_total.py", PYTEST, "skipped every test"),
        (MEND, f"{PYTEST} -q --no-summary", "hid its summary"),
    ],
)
def test_what_shows_nothing_is_no_pass(repo: Path, change: str, command: str, said: str) -> None:
    feedback = after(repo, change, command)
    assert (feedback.verdict, feedback.source) == ("no_evidence", "none")
    assert said in feedback.text


def test_leaving_before_the_summary_is_no_pass(repo: Path) -> None:
    feedback = after(repo, "printf 'import os\\nos._exit(0)\\n' > total.py")
    assert feedback.verdict == "fail"
    assert "before it had reported" in feedback.text


def test_a_check_that_does_not_end_fails(repo: Path) -> None:
    change = diff_after(repo, "printf 'while True: pass\\n' > total.py")
    feedback = checked(RepositoryCheck(RepositorySource(repo), PYTEST, seconds=2.0), change)
    assert feedback.verdict == "fail"
    assert "did not end within 2 seconds" in feedback.text


def test_a_missing_command_is_trouble_and_not_a_verdict(repo: Path) -> None:
    change = diff_after(repo, MEND)
    for command, said in (
        ("no-such-runner -q", "no-such-runner is missing"),
        ("python -m no_such", "no module no_such"),
    ):
        with pytest.raises(InfrastructureError, match=said):
            checked(RepositoryCheck(RepositorySource(repo), command), change)
    lies = diff_after(repo, "printf 'print(\"sh: 1: pytest: not found\"); raise SystemExit(127)\\n' > total.py")
    assert checked(RepositoryCheck(RepositorySource(repo), "python total.py"), lies).verdict == "fail"


def test_what_is_not_the_same_each_time_is_marked_and_does_not_fail_the_change(tmp_path: Path) -> None:
    flaky = (
        "import pathlib\n\n\ndef test_sometimes():\n    seen = pathlib.Path('/tmp/seen')\n"
        "    there = seen.exists()\n    seen.touch()\n    assert there\n"
    )
    repo = make(tmp_path / "repo", {**BROKEN, "test_flaky.py": flaky})
    good = checked(RepositoryCheck(RepositorySource(repo), PYTEST), diff_after(repo, MEND))
    assert good.verdict == "pass"
    assert "Flaky, not the same each time: test_flaky.py::test_sometimes." in good.text
    assert [check.name for check in good.checks if check.status == "no_evidence"] == ["test_flaky.py::test_sometimes"]
    bad = checked(RepositoryCheck(RepositorySource(repo), PYTEST), diff_after(repo, "echo >> total.py"))
    assert bad.verdict == "fail"
    assert [check.name for check in bad.failing] == [PYTEST, "test_total.py::test_sum"]


def test_what_it_was_before_is_told_without_a_change(repo: Path) -> None:
    check = RepositoryCheck(RepositorySource(repo), PYTEST, required=("gone",))
    assert asyncio.run(check.before()).score == 0.5


@pytest.mark.parametrize(
    ("command", "run"),
    [
        ("python -m unittest", "python -m unittest -v"),
        ("cd a;python -m unittest;true", "cd a;python -m unittest -v;true"),
        ("python -m unittest discover -s tests", "python -m unittest discover -v -s tests"),
        ("bash -c 'coverage run -m unittest'", "bash -c 'coverage run -m unittest -v'"),
        ("python -m unittest tests.test_a", "python -m unittest -v tests.test_a"),
        ("python -m unittest -v", "python -m unittest -v"),
        ("python -m unittest -q", "python -m unittest -q"),
        ("python -m unittest -bv", "python -m unittest -bv"),
        ("python -m unittest2", "python -m unittest2"),
        ("pytest unittest", "pytest unittest"),
    ],
)
def test_unittest_is_told_to_name_the_tests_that_pass(command: str, run: str) -> None:
    assert telling(command) == run


@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
def test_other_runners_decide_too(tmp_path: Path) -> None:
    files = {
        "sum.js": "exports.sum = (a, b) => a - b;\n",
        "sum.test.js": (
            "const test = require('node:test');\nconst assert = require('node:assert');\n"
            "const { sum } = require('./sum');\ntest('adds', () => assert.equal(sum(1, 2), 3));\n"
        ),
    }
    repo = make(tmp_path / "repo", files)
    check = RepositoryCheck(RepositorySource(repo), "node --test", reruns=0)
    bad = checked(check, diff_after(repo, "echo >> sum.js"))
    assert "adds" in [c.name for c in bad.failing]
    assert checked(check, diff_after(repo, "sed -i 's/a - b/a + b/' sum.js")).verdict == "pass"
