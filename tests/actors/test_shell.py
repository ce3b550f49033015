"""The shell agent: a repository, one tool, and the tree's own diff as what is handed in."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from tests.sandbox.repositories import MEND, diff_after, make, state

from hardwon.actors.choose import actor_for
from hardwon.actors.shell_text import Turn, read_turn
from hardwon.budget import Budget, BudgetExhausted
from hardwon.environments.repository import RepositoryTask
from hardwon.errors import InfrastructureError, ModelError
from hardwon.models.protocol import Completion, Request
from hardwon.models.scripted import ScriptedModel
from hardwon.record import MemoryRecord
from hardwon.sandbox.choose import bubblewrap_trouble
from hardwon.sandbox.workspaces.workspace import RepositorySource
from hardwon.session import Sampling, Session
from hardwon.task import Problem
from hardwon.trial import Trajectory

pytestmark = pytest.mark.skipif(bubblewrap_trouble() is not None, reason="bubblewrap does not work here")

SUBMIT = "All done.\n\n```bash\nsubmit\n```"


def block(command: str, thought: str = "Next.") -> str:
    return f"{thought}\n\n```bash\n{command}\n```"


class Recording:
    """A scripted model that keeps the requests, and fails at the call numbers in `fails`."""

    name = "script:"
    parallel = 1
    price_known = True

    def __init__(self, replies: Sequence[object], fails: Sequence[int] = ()) -> None:
        self.requests: list[Request] = []
        self._inner = ScriptedModel.from_replies({"*": {"act": list(replies)}})
        self._fails = fails

    async def generate(self, request: Request) -> Completion:
        if len(self.requests) + 1 in self._fails:
            raise ModelError("the line went dead")
        self.requests.append(request)
        return await self._inner.generate(request)

    async def close(self) -> None: ...

    def heard(self, call: int) -> str:
        """The last message of a call (from 0)."""
        return self.requests[call].messages[-1].content


@pytest.fixture
def task(tmp_path: Path) -> RepositoryTask:
    repo = make(tmp_path / "repo")
    problem = Problem("mend", "`total` gives the largest number.", "repository", examples=("pytest -q",))
    return RepositoryTask(
        problem=problem, feedback=None, grader=None, digest="", source=RepositorySource(repo), command_seconds=10.0
    )


def session(task: RepositoryTask, model: Recording, record: MemoryRecord | None = None, budget: str = "") -> Session:
    return Session(
        task.problem, model, actor_for(task), None, budget=Budget.parse(budget), sampling=Sampling(), record=record
    )


def acted(task: RepositoryTask, *replies: str) -> tuple[Trajectory, Recording]:
    model = Recording(replies)
    return asyncio.run(session(task, model).act()), model


def test_the_change_of_the_tree_is_handed_in_and_the_repository_stays_as_it_was(task: RepositoryTask) -> None:
    before = state(task.source.path)
    trajectory, model = acted(task, block("cat total.py", "I look at it."), block(MEND), SUBMIT)
    assert trajectory.output == diff_after(task.source, MEND)
    assert [step.action for step in trajectory.steps] == ["cat total.py", MEND, "submit"]
    assert trajectory.steps[0].thought == "I look at it."
    assert "Exit status 0.\ndef total" in trajectory.steps[0].observation
    opening = model.heard(0)
    assert "gives the largest number" in opening
    assert "    pytest -q" in opening
    assert "test_total.py\ntotal.py" in opening
    assert len(model.requests) == 3
    assert state(task.source.path) == before


def test_each_command_has_a_shell_of_its_own_in_the_same_tree(task: RepositoryTask) -> None:
    trajectory, _ = acted(
        task, block("cd /tmp\nX=1\necho 1 > /tmp/a"), block("pwd; cat /tmp/a; echo [$X]"), block(MEND), SUBMIT
    )
    assert str(task.source.path) in trajectory.steps[1].observation
    assert trajectory.steps[1].observation.endswith("1\n[]")


def test_replies_without_a_command_are_told_so_and_end_the_attempt_after_three(task: RepositoryTask) -> None:
    trajectory, model = acted(task, "I think it is fine.", "```python\nprint(1)\n```", "Still thinking.", SUBMIT)
    assert trajectory.output is None
    assert len(model.requests) == 3
    assert "held no command" in model.heard(1)
    assert "only a block that starts with ```bash is run" in model.heard(2)
    trajectory, _ = acted(task, "Hm.", "Hm.", block(MEND), "Hm.", "Hm.", SUBMIT)
    assert trajectory.output is not None


def test_a_repeated_command_is_told_so_and_ends_the_attempt(task: RepositoryTask) -> None:
    trajectory, model = acted(task, block("cat total.py"))
    assert len(model.requests) == 4
    assert "did the same just now" in trajectory.steps[-1].observation
    assert trajectory.output is None


def test_an_empty_change_is_not_handed_in(task: RepositoryTask) -> None:
    trajectory, model = acted(task, SUBMIT)
    assert trajectory.output is None
    assert "Nothing has been changed" in model.heard(1)
    trajectory, _ = acted(task, block("echo x > debug.log"), SUBMIT, block(MEND), SUBMIT)
    assert trajectory.output == diff_after(task.source, MEND)


def test_the_steps_are_bounded_and_what_is_in_the_tree_then_counts(task: RepositoryTask) -> None:
    trajectory, model = acted(replace(task, steps=2), block(MEND), block("ls"), block("rm -rf ."))
    assert trajectory.output == diff_after(task.source, MEND)
    assert "One command is left" in model.heard(1)
    assert len(model.requests) == 2


def test_a_command_that_does_not_end_is_told_with_what_it_said(task: RepositoryTask) -> None:
    short = replace(task, command_seconds=1.0)
    trajectory, model = acted(short, block("echo begun; sleep 60"), block(MEND), SUBMIT)
    assert model.heard(1) == (
        "The command did not end within 1 s and was stopped, with all that it had started.\nbegun"
    )
    assert trajectory.output is not None


def test_long_output_is_cut_with_a_count_and_only_the_first_block_is_run(task: RepositoryTask) -> None:
    trajectory, model = acted(task, block("seq 1 20000") + "\n" + block("echo second"), block(MEND), SUBMIT)
    heard = model.heard(1)
    assert "characters…]" in heard
    assert "\n20000\n" in heard
    assert len(heard) < 7000
    assert "One more was not" in heard
    assert trajectory.output is not None


def test_the_history_is_cut_to_the_window_and_says_so(task: RepositoryTask) -> None:
    replies = [*(block(f"seq {n} {n + 900}") for n in range(6)), block(MEND), SUBMIT]
    _, model = acted(replace(task, context=4000), *replies)
    last = model.requests[-1].messages
    assert "left out here" in last[1].content
    assert "gives the largest number" in last[1].content
    assert sum(len(message.content) for message in last) < 3 * 4000
    assert last[-2].content.endswith(f"```bash\n{MEND}\n```")


def test_a_change_that_is_too_large_is_refused_in_the_conversation(task: RepositoryTask) -> None:
    trajectory, model = acted(task, block(f"truncate -s 20M blob; {MEND}"), SUBMIT, block("rm blob"), SUBMIT)
    assert "blob alone 20 MiB" in model.heard(2)
    assert trajectory.output == diff_after(task.source, MEND)


def test_when_the_budget_ends_the_change_so_far_is_handed_in(task: RepositoryTask) -> None:
    model = Recording([block(MEND), block("ls"), block("true")])
    ended = asyncio.run(session(task, model, budget="calls=2").act())
    assert ended.output == diff_after(task.source, MEND)
    with pytest.raises(BudgetExhausted):
        asyncio.run(session(task, Recording([block("ls"), block("true")]), budget="calls=2").act())


def test_an_attempt_that_broke_off_goes_on_and_no_call_is_paid_twice(task: RepositoryTask) -> None:
    replies = [
        block("date +%N; echo $RANDOM > /tmp/x"),
        block(f"{MEND}; date +%N"),
        block("cat /dev/urandom | head -c 9 | od -c"),
        SUBMIT,
    ]
    record = MemoryRecord()
    first = Recording(replies, fails=(4,))
    with pytest.raises(ModelError):
        asyncio.run(session(task, first, record).act())
    again = Recording(replies)
    resumed = session(task, again, record)
    trajectory = asyncio.run(resumed.act())
    assert len(first.requests) == 3
    assert len(again.requests) == 1
    assert resumed.ledger.calls == 4
    assert trajectory.output == diff_after(task.source, MEND)
    assert trajectory.steps[0].observation in first.heard(1)
    idle = Recording(replies)
    third = session(task, idle, record)
    assert asyncio.run(third.act()) == trajectory
    assert idle.requests == []


def test_a_second_attempt_after_a_resumed_first_meets_its_own_observations(task: RepositoryTask) -> None:
    replies = [block("date +%N"), block(MEND), SUBMIT, block("date +%N; true"), block(MEND), SUBMIT]
    record = MemoryRecord()

    async def twice(made: Session) -> list[Trajectory]:
        return [await made.act(), await made.act()]

    with pytest.raises(ModelError):
        asyncio.run(twice(session(task, Recording(replies, fails=(6,)), record)))
    last = Recording(replies)
    first, second = asyncio.run(twice(session(task, last, record)))
    assert len(last.requests) == 1
    assert first.output == second.output
    assert first.steps[0].observation != second.steps[0].observation


def test_trouble_of_the_workspace_is_no_trajectory(task: RepositoryTask) -> None:
    broken = replace(task, source=replace(task.source, setup="exit 1"))
    with pytest.raises(InfrastructureError, match="set-up command"):
        acted(broken, SUBMIT)


@pytest.mark.parametrize(
    ("reply", "turn"),
    [
        ("Look.\n```bash\nls -l\n```", Turn("Look.", "ls -l")),
        ("```sh\na\nb\n```\nand\n```bash\nc\n```", Turn("", "a\nb", 1)),
        ("```console\n$ ls\nfile\n```", Turn("", "ls")),
        ("```\nls\n```", Turn("", "ls")),
        ("````bash\ncat > a.md <<'E'\n```py\nx\n```\nE\n````", Turn("", "cat > a.md <<'E'\n```py\nx\n```\nE")),
        ("```bash\r\nls\r\n```\r\n", Turn("", "ls")),
        ("Done.\n\nsubmit", Turn("Done.", "submit")),
        ("```bash\nsubmit\n```", Turn("", "submit")),
        ("```bash\n\n```", Turn("```bash\n\n```", None, flaw="other language")),
        ("", Turn("", None, flaw="no command")),
        ("```bash\nls", Turn("", "ls")),
        ("```bash\nprintf '\0'\n```", Turn("", None, flaw="too long")),
    ],
)
def test_replies_are_read(reply: str, turn: Turn) -> None:
    assert read_turn(reply) == turn


def test_a_command_that_was_cut_off_is_not_run() -> None:
    assert read_turn("```bash\nrm -rf /tmp/", cut_off=True).flaw == "cut off"
    assert read_turn("Let me think about", cut_off=True).flaw == "cut off"
    assert read_turn("```bash\nls\n```\nand then", cut_off=True).command == "ls"
    assert read_turn("```python\nx = 1\n```\nwhich does", cut_off=True).flaw == "other language"
    assert read_turn("```python\nx = 1", cut_off=True).flaw == "cut off"


def test_a_resumed_attempt_goes_the_way_it_went_though_its_tree_comes_out_otherwise(
    task: RepositoryTask, tmp_path: Path
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    task = replace(task, source=replace(task.source, mounts=(str(outside),)))
    replies = [block(f"[ -e {outside}/flag ] && {MEND}"), SUBMIT]
    record = MemoryRecord()
    with pytest.raises(ModelError):
        asyncio.run(session(task, Recording(replies, fails=[4]), record).act())
    (outside / "flag").touch()
    trajectory = asyncio.run(session(task, Recording(replies), record).act())
    assert [step.observation[:27] for step in trajectory.steps[1:]] == ["Nothing has been changed in"] * 2 + [""]
    assert "+    return sum(numbers)" in (trajectory.output or "")
