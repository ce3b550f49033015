"""A batch over repositories: stages in the journal, each finished by the next run where this one could not."""

from __future__ import annotations

import asyncio
import json
import re
import signal
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from proofs.killed_batch import Batch, again, left, make_batch, outcome, undisturbed
from tests.suites.instances import PATCH, instance, make_checkout

from hardwon.errors import InfrastructureError, UsageError
from hardwon.models.protocol import Completion, Request
from hardwon.models.scripted import ScriptedModel
from hardwon.runs.folder import open_folder
from hardwon.runs.journal import FILE, Journal, Key
from hardwon.runs.predictions import (
    Prediction,
    as_lines,
    as_object,
    model_name,
    predictions_of,
    read_predictions,
)
from hardwon.runs.results import read_rows
from hardwon.runs.runner import Arm, Runner
from hardwon.runs.stages import ORDER, counted, latest
from hardwon.runs.trajectories import FORMAT, attempts, read_attempt
from hardwon.sandbox.choose import open_sandbox
from hardwon.strategies.reflexion import Reflexion
from hardwon.strategies.single import Single
from hardwon.suites import swebench
from hardwon.suites.protocol import SuiteOptions
from hardwon.task import Ask, Problem, Task
from hardwon.trial import Feedback, Trajectory

MEND = f"git apply <<'END'\n{PATCH}END"
REACHED = ORDER[:5]


def reply(command: str) -> str:
    return f"I go on.\n\n```bash\n{command}\n```"


class Counting:
    """The expert, and how many calls it answered."""

    name = "script:expert"
    parallel = 4
    price_known = True

    def __init__(self, *commands: str) -> None:
        self.calls = 0
        self._scripted = ScriptedModel.from_replies({"*": {"act": [reply(c) for c in commands or (MEND, "submit")]}})

    async def generate(self, request: Request) -> Completion:
        self.calls += 1
        return await self._scripted.generate(request)

    async def close(self) -> None: ...


class Down:
    """A grader whose machine is down."""

    source = "grounded"

    async def check(self, trajectory: Trajectory, ask: Ask | None = None) -> Feedback:
        raise InfrastructureError("the grading machine is down")


@pytest.fixture
def tasks(tmp_path: Path) -> tuple[Task, ...]:
    mapping = make_checkout(tmp_path)
    data = tmp_path / "instances.jsonl"
    data.write_text("".join(json.dumps(instance(tmp_path, n)) + "\n" for n in (1, 2)))
    sandbox = open_sandbox(workers=1)
    try:
        return swebench.load(SuiteOptions(data=data, checkouts=mapping, feedback="oracle"), sandbox)
    finally:
        asyncio.run(sandbox.close())


def run(folder: Path, tasks: Sequence[Task], model: Counting, arm: Arm | None = None) -> None:
    with open_folder(folder, {"settings": {"model": model.name}}) as journal:
        asyncio.run(Runner(journal, model, workers=2).run(tasks, [arm or Arm("single", Single())]))


def test_every_instance_passes_its_stages_once_and_in_order(tmp_path: Path, tasks: tuple[Task, ...]) -> None:
    for _ in range(2):
        run(tmp_path / "run", tasks, Counting())
    journal = Journal(tmp_path / "run" / FILE, read_only=True)
    for task in tasks:
        events = [payload for _, _, payload in journal.payloads("stage", Key(task.id, "single", 0))]
        assert [event["stage"] for event in events] == list(REACHED)
        assert events[3]["submission"].startswith("diff --git a/total.py")
        assert (events[3]["trial"], events[4]["verdict"]) == (1, "pass")
    assert counted(latest(journal).values()) == {"graded": 2}


def test_a_delivered_instance_whose_grading_failed_is_finished_by_the_next_run_without_a_call(
    tmp_path: Path, tasks: tuple[Task, ...]
) -> None:
    expert = Counting()
    run(tmp_path / "run", [replace(tasks[0], grader=Down()), tasks[1]], expert)
    first, second = read_rows(tmp_path / "run")
    assert (first.error, first.solved, second.solved) == ("the grading machine is down", None, True)
    journal = Journal(tmp_path / "run" / FILE, read_only=True)
    assert latest(journal)[Key(first.task_id, "single", 0)] == "delivered"
    predictions = predictions_of(journal, read_rows(tmp_path / "run"), "script:expert")
    assert [prediction.model_patch[:24] for prediction in predictions] == ["diff --git a/total.py b/"] * 2
    journal.close()
    paid = expert.calls
    run(tmp_path / "run", tasks, expert)
    assert expert.calls == paid
    assert [row.solved for row in read_rows(tmp_path / "run")] == [True, True]
    journal = Journal(tmp_path / "run" / FILE, read_only=True)
    assert counted(latest(journal).values()) == {"graded": 2}


def test_a_workspace_that_can_not_be_set_up_is_an_error_and_never_a_patch(
    tmp_path: Path, tasks: tuple[Task, ...]
) -> None:
    source = replace(tasks[0].source, setup="echo no compiler; exit 3")  # type: ignore[attr-defined]
    expert = Counting()
    run(tmp_path / "run", [replace(tasks[0], source=source)], expert)  # type: ignore[call-arg]
    [row] = read_rows(tmp_path / "run")
    assert row.error is not None
    assert "no compiler" in row.error
    journal = Journal(tmp_path / "run" / FILE, read_only=True)
    assert counted(latest(journal).values()) == {"queued": 1}
    assert predictions_of(journal, [row], "m") == []
    run(tmp_path / "run", [tasks[0]], expert)
    assert [row.solved for row in read_rows(tmp_path / "run")] == [True]


def test_an_attempt_that_changes_nothing_is_an_empty_patch(tmp_path: Path, tasks: tuple[Task, ...]) -> None:
    run(tmp_path / "run", tasks[:1], Counting("ls"))
    journal = Journal(tmp_path / "run" / FILE, read_only=True)
    rows = read_rows(tmp_path / "run")
    assert (rows[0].solved, rows[0].submission) == (False, None)
    assert [p.model_patch for p in predictions_of(journal, rows, "m")] == [""]


def test_a_batch_killed_again_and_again_ends_as_an_undisturbed_one_and_leaves_nothing(tmp_path: Path) -> None:
    whole, killed = (Batch(tmp_path / name, *make_batch(tmp_path / name, 3)) for name in ("whole", "killed"))
    undisturbed(whole)
    wanted = outcome(whole)
    pids, repeated = [], []
    for number in range(40):
        before = killed.done()
        sitting = killed.start(number, "--kill-at", 3 + 2 * number)
        pids.append(sitting.pid)
        status = sitting.wait(timeout=60)
        repeated += again(killed.begun(number), before, wanted["effects in the journal"])
        if status != -signal.SIGKILL:
            break
    assert status == 0, (killed.folder / f"said-{number}").read_text()
    assert len(pids) > 4
    assert outcome(killed) == wanted
    assert repeated == []
    assert left(killed, pids) == {name: [] for name in left(killed, pids)}
    assert [row["solved"] for row in wanted["rows of results"]] == [True, True, True]
    assert [len(wanted[name]) for name in ("predictions", "items of the bank", "stages, in order")] == [3, 3, 3]


def test_other_tasks_have_no_stages(tmp_path: Path) -> None:
    run(tmp_path / "run", [Task(Problem("a", "Say yes.", "text"), None, None, "1", "nothing")], Counting("yes"))
    assert latest(Journal(tmp_path / "run" / FILE, read_only=True)) == {}


def test_trajectories_tell_each_attempt_whole_and_read_back(tmp_path: Path, tasks: tuple[Task, ...]) -> None:
    wrong = MEND.replace("sum(", "min(")
    model = Counting(wrong, "python total.py", "submit", MEND, "submit")
    run(tmp_path / "run", tasks[:1], model, Arm("reflexion", Reflexion()))
    [row] = read_rows(tmp_path / "run")
    assert (row.trials, row.solved) == (2, True)
    journal = Journal(tmp_path / "run" / FILE, read_only=True)
    files = {place.as_posix(): text for place, text in attempts(journal, [row], "script:expert")}
    name = row.task_id
    assert set(files) == {f"{name}/{name}.trial-1.traj.json", f"{name}/{name}.traj.json"}
    path = tmp_path / f"{name}.traj.json"
    path.write_text(files[f"{name}/{name}.trial-1.traj.json"])
    told = json.loads(path.read_text())
    assert told["trajectory_format"] == FORMAT
    assert [m["role"] for m in told["messages"]] == ["system", "user", *["assistant", "user"] * 2, "assistant", "exit"]
    assert told["info"]["model_stats"]["api_calls"] == 3
    assert told["info"]["submission"] == told["messages"][-1]["extra"]["submission"]
    read = read_attempt(path)
    assert (read.instance_id, read.exit_status, read.calls, read.cost_usd) == (name, "Submitted", 3, 0.0)
    assert [step.action for step in read.trajectory.steps] == [wrong, "python total.py", "submit"]
    assert read.trajectory.output == told["info"]["submission"]
    assert "+    return min(numbers)" in (read.trajectory.output or "")


def test_trajectories_of_odd_ids_lie_in_the_folder_and_none_takes_anothers_place(
    tmp_path: Path, tasks: tuple[Task, ...]
) -> None:
    ids = ["..", ".", "a/b", "a__b", "..\0/../x", "\x1b[2J", "é" * 200, "owner/name-7"]
    odd = [replace(tasks[0], problem=replace(tasks[0].problem, id=i), feedback=None, grader=None) for i in ids]
    run(tmp_path / "run", odd, Counting(MEND, "submit"))
    journal = Journal(tmp_path / "run" / FILE, read_only=True)
    places = [place for place, _ in attempts(journal, read_rows(tmp_path / "run"), "script:expert")]
    assert len({str(place).casefold() for place in places}) == len(ids)
    assert all(re.fullmatch(r"\w[\w.+-]*/\w[\w.+-]*\.traj\.json", place.as_posix()) for place in places)
    assert all(len(part.encode()) < 240 for place in places for part in place.parts)
    assert Path("owner__name-7/owner__name-7.traj.json") in places


def test_a_trajectory_of_another_agent_reads(tmp_path: Path) -> None:
    path = tmp_path / "acme__totals-7.traj.json"
    call = {"role": "assistant", "content": None, "extra": {"actions": [{"command": "ls"}, {"command": "cat a"}]}}
    exit_ = {"role": "exit", "content": "", "extra": {"exit_status": "LimitsExceeded", "submission": ""}}
    messages = [
        {"role": "system", "content": "s"},
        {"role": "user", "content": [{"type": "text", "text": "mend it"}]},
        call,
        {"role": "tool", "content": "a"},
        {"role": "tool", "content": "b"},
        {"role": "assistant", "content": "Done?\n```bash\ntrue\n```"},
        exit_,
    ]
    info = {"exit_status": "LimitsExceeded", "submission": "", "model_stats": {"instance_cost": 0.5, "api_calls": 2}}
    path.write_text(json.dumps({"info": info, "messages": messages, "trajectory_format": FORMAT}))
    read = read_attempt(path)
    assert (read.instance_id, read.exit_status, read.cost_usd, read.trajectory.output) == (
        "acme__totals-7",
        "LimitsExceeded",
        0.5,
        None,
    )
    assert [(s.thought, s.action, s.observation) for s in read.trajectory.steps] == [
        ("", "ls\ncat a", "a\nb"),
        ("Done?", "true", ""),
    ]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "does not read"),
        ("[]", "trajectory_format is None"),
        ('{"trajectory_format": "other-9"}', "trajectory_format is 'other-9'"),
        ('{"trajectory_format": "mini-swe-agent-1.1", "info": {}, "messages": "x"}', "wants 'info', an object"),
        (
            '{"trajectory_format": "mini-swe-agent-1.1", "info": {"model_stats": [1]}, "messages": []}',
            "wants 'api_calls', a whole number",
        ),
    ],
)
def test_a_malformed_trajectory_is_refused(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "x.traj.json"
    path.write_text(text)
    with pytest.raises(UsageError) as refused:
        read_attempt(path)
    assert said in str(refused.value)
    assert str(path) in str(refused.value)


TWO = (Prediction("a__b-1", PATCH, "m"), Prediction("a__b-2", "", "m"))


def test_predictions_read_back_from_every_form(tmp_path: Path) -> None:
    forms = {
        "preds.json": as_object(TWO),
        "preds.jsonl": as_lines(TWO),
        "list.json": json.dumps(list(json.loads(as_object(TWO)).values())),
        "short.json": json.dumps(
            {p.instance_id: {"model_patch": p.model_patch, "model_name_or_path": "m"} for p in TWO}
        ),
    }
    for name, text in forms.items():
        (tmp_path / name).write_text(text)
        assert read_predictions(tmp_path / name) == TWO, name
    assert set(json.loads(forms["preds.json"])["a__b-1"]) == {"instance_id", "model_patch", "model_name_or_path"}


def test_nothing_but_a_diff_is_written_as_a_patch() -> None:
    with pytest.raises(UsageError, match="no git diff"):
        Prediction("a__b-1", "Traceback (most recent call last):", "m")


def test_a_models_name_makes_no_folders() -> None:
    assert (
        model_name("script:/home/me/a script.json", "reflexion:show=last")
        == "hardwon-reflexion-show-last-a-script.json"
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"a": 5}', "a: is no object"),
        ('{"a": {"model_patch": ""}}', "a: the field 'model_name_or_path' is missing"),
        ('{"instance_id": "a", "model_patch": "", "model_name_or_path": "m"}\nnope\n', ":2: not JSON"),
        ('[{"instance_id": "a", "model_patch": "oops", "model_name_or_path": "m"}]', "entry 1: a: what was handed in"),
        (as_lines((TWO[0], TWO[0])), "a__b-1 is there twice"),
        ("5", "holds no predictions"),
    ],
)
def test_malformed_predictions_are_named_with_their_place(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "preds.json"
    path.write_text(text)
    with pytest.raises(UsageError) as refused:
        read_predictions(path)
    assert said in str(refused.value)
