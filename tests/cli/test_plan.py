"""`hardwon plan`: nothing is opened, run or written; the bounds hold; a pilot is measured; bad input is one line."""

import asyncio
import json
import subprocess
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, ClassVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.cli.own_suite import TASKS

from hardwon.budget import Budget
from hardwon.calls import Sampling
from hardwon.cli.loop import ArmOptions
from hardwon.errors import UsageError
from hardwon.models.protocol import Role
from hardwon.models.scripted import estimate_tokens
from hardwon.runs.planning import Assumed, NoSandbox, Plan, Price, guessed, make_plan
from hardwon.runs.planning.checks import AskedTests
from hardwon.runs.planning.rehearsal import rehearse
from hardwon.runs.runner import Arm
from hardwon.session import Session
from hardwon.strategies.registry import strategies
from hardwon.suites.registry import SuiteOptions, open_suite
from hardwon.task import Problem, Task
from hardwon.trial import Submission

Hardwon = Callable[..., subprocess.CompletedProcess[str]]
FREE = Assumed(Price(0.0, 0.0), 4)
EVERY_ARM = ",".join(strategies())


def starter(limit: int = 6, feedback: Any = "visible") -> tuple[Task, ...]:
    return open_suite("starter").load(SuiteOptions(None, feedback, None, limit), NoSandbox())


def arms(text: str, budget: str = "tokens=3000", seeds: int = 1, max_tokens: int = 1024) -> list[Arm]:
    return ArmOptions(budget, 0.0, max_tokens).arms(text, range(seeds))


def planned(text: str, budget: str = "tokens=3000", assumed: Assumed = FREE, seeds: int = 1, **more: Any) -> Plan:
    return make_plan(starter(**more), arms(text, budget, seeds), assumed, None)


@pytest.mark.parametrize(
    ("feedback", "budget"), [("visible", "tokens=2500"), ("generated", "calls=7"), ("generated", "usd=0.002")]
)
def test_every_strategy_is_rehearsed_within_its_budget(feedback: str, budget: str) -> None:
    assumed = Assumed(Price(1e-6, 4e-6), 4)
    plan = planned(EVERY_ARM, budget, assumed, feedback=feedback)
    limit = Budget.parse(budget)
    assert [arm.name for arm in plan.arms] == list(strategies())
    for arm in plan.arms:
        low, expected, high = arm.takes.low, arm.takes.expected, arm.takes.high
        assert 6 <= low.calls <= expected.calls <= high.calls
        assert low.tokens_in + low.tokens_out <= high.tokens_in + high.tokens_out
        assert high.calls <= 6 * (limit.calls or 999)
        assert high.tokens_out <= 6 * (limit.tokens or 99_999)
        assert high.tokens_in <= 6 * 2 * (limit.tokens or 99_999)  # prompts of more tokens than the ledger estimates
        assert high.usd is not None
        assert high.usd <= 6 * ((limit.usd or 9) + 0.006)  # the call that crosses the limit is still paid


def test_one_pass_takes_one_call_a_task_and_seed() -> None:
    (single, _) = planned("single,reflexion", seeds=3).arms
    assert single.takes.low.calls == single.takes.expected.calls == single.takes.high.calls == 18
    assert single.takes.expected.tokens_out == 18 * 200


def test_what_one_pass_reads_and_writes_is_a_range() -> None:
    (single, _) = planned("single,best_of_n").arms
    low, expected, high = single.takes.low, single.takes.expected, single.takes.high
    assert (low.tokens_out, expected.tokens_out, high.tokens_out) == (6, 6 * 200, 6 * 1024)
    assert low.tokens_in == pytest.approx(expected.tokens_in * 4 / 5, rel=0.02)
    assert high.tokens_in == pytest.approx(expected.tokens_in * 4 / 2.5, rel=0.02)


LENGTHS = st.integers(1, 1500)
CHANCES = st.sampled_from([0.0, 0.1, 0.5, 0.9, 1.0])


@pytest.mark.parametrize("budget", ["tokens=1500", "tokens=5000", "calls=9"])
@settings(max_examples=8, deadline=None)
@given(
    act=LENGTHS,
    other=LENGTHS,
    size=st.floats(2.5, 5.0),
    first=CHANCES,
    retry=CHANCES,
    refused=CHANCES,
    draw=st.integers(1),
)
def test_whatever_replies_and_checks_turn_out_to_be_lies_within_the_bounds(
    budget: str, act: int, other: int, size: float, first: float, retry: float, refused: float, draw: int
) -> None:
    chosen, plan = bounded(budget)
    lengths: dict[Role, int] = {"act": act, "reflect": other}
    turned_out = replace(FREE, tokens_out=lengths, chars_a_token=size, first=first, retry=retry, rejected=refused)
    found = asyncio.run(rehearse(starter(3), chosen, turned_out, draw, AskedTests()))
    for takes, spent in [(arm.takes, found.arms[arm.name]) for arm in plan.arms] + [(plan.paid, found.paid)]:
        assert takes.low.calls <= spent.calls <= takes.high.calls
        assert takes.low.tokens_in <= spent.tokens_in <= takes.high.tokens_in
        assert takes.low.tokens_out <= spent.tokens_out <= takes.high.tokens_out


@cache
def bounded(budget: str) -> tuple[list[Arm], Plan]:
    chosen = arms("single,best_of_n,reflexion,self_refine,last_attempt", budget)
    return chosen, make_plan(starter(3), chosen, FREE, None)


def test_low_ends_at_the_first_pass_and_high_at_the_last_trial() -> None:
    (loop, _) = planned("best_of_n:trials=4,single").arms
    assert (loop.takes.low.calls, loop.takes.high.calls) == (6, 24)
    assert 6 < loop.takes.expected.calls < 24


def test_calls_that_arms_share_are_paid_once() -> None:
    plan = planned("single,best_of_n:trials=3,reflexion:trials=3")
    alone = [arm.takes for arm in plan.arms]
    assert [takes.low.calls for takes in alone] == [6, 6, 6]
    assert plan.paid.low.calls == 6
    # Lessons that the guard refuses are asked for twice.
    assert sum(takes.high.calls for takes in alone) == 6 * (1 + 3 + 3 + 2 * 2)
    assert plan.paid.high.calls == 6 * (1 + 2 + 2 + 2 * 2)
    other = planned("best_of_n:trials=3,best_of_n:trials=4")
    assert other.paid.expected == other.arms[1].takes.expected


def test_replies_are_bounded_by_max_tokens() -> None:
    plan = make_plan(starter(), arms("single,best_of_n", max_tokens=50), FREE, None)
    assert plan.arms[0].takes.expected.tokens_out == plan.arms[0].takes.high.tokens_out == 6 * 50


def test_short_replies_leave_a_budget_of_tokens_room_for_more_calls() -> None:
    (loop, _) = planned("best_of_n:trials=99,single", "tokens=3000").arms
    never = replace(FREE, first=0.0, retry=0.0)
    (guessed_long, _) = planned("best_of_n:trials=99,single", "tokens=3000", never).arms
    assert loop.takes.high.calls > 2 * guessed_long.takes.expected.calls


def test_self_written_tests_are_counted_once_a_task() -> None:
    plain, written = (planned("best_of_n:trials=3,single", feedback=kind) for kind in ("visible", "generated"))
    assert plain.arms[0].takes.high.calls == 18
    assert written.arms[0].takes.high.calls == 18 + 6 * 2
    assert written.arms[1].takes.high.calls == 6


def test_chances_decide_what_is_expected() -> None:
    sure = Assumed(Price(0.0, 0.0), 4, first=1.0)
    never = Assumed(Price(0.0, 0.0), 4, first=0.0, retry=0.0)
    (loop, _) = planned("best_of_n:trials=4,single", assumed=sure).arms
    assert loop.takes.expected.calls == loop.takes.low.calls == 6
    (loop, _) = planned("best_of_n:trials=4,single", assumed=never).arms
    assert loop.takes.expected.calls == loop.takes.high.calls
    (loop, _) = planned("best_of_n:trials=9,single", assumed=Assumed(Price(0.0, 0.0), 4, first=0.5, retry=0.5)).arms
    assert loop.takes.expected.calls == pytest.approx(6 * 2, rel=0.25)


def test_refused_lessons_are_asked_for_again() -> None:
    unruly = Assumed(Price(0.0, 0.0), 4, first=0.0, retry=0.0, rejected=1.0)
    (loop, _) = planned("reflexion:trials=3,single", "calls=99", unruly).arms
    assert loop.takes.expected.calls == 6 * (3 + 2 * 2)


def test_time_is_shared_among_the_workers_and_ends_a_budget_of_seconds() -> None:
    slow = Assumed(Price(0.0, 0.0), 4, seconds_a_token=0.1)
    (loop, single) = planned("best_of_n:trials=8,single", "tokens=90000,seconds=50", slow).arms
    assert single.takes.expected.seconds == pytest.approx(6 * 20 / 4)
    assert single.takes.high.seconds == pytest.approx(6 * 102.4 / 4)
    never = replace(slow, first=0.0, retry=0.0)
    (loop, _) = planned("best_of_n:trials=8,single", "tokens=90000,seconds=50", never).arms
    assert loop.takes.expected.calls == 6 * 3


def test_what_is_not_known_stays_unknown() -> None:
    plan = planned("single,reflexion", assumed=guessed("plugin:x", Price(None, None), 4))
    assert plan.paid.high.usd is None
    assert plan.paid.high.seconds is None


def test_a_large_suite_is_sampled_and_scaled() -> None:
    tasks = starter(30)
    many = [
        Task(Problem(f"{n}", task.problem.prompt, "function", "f"), task.feedback, None, f"{n}")
        for n, task in zip(range(450), list(tasks) * 15, strict=True)
    ]
    plan = make_plan(many, arms("single,best_of_n:trials=2"), FREE, None)
    assert plan.arms[0].takes.high.calls == 450
    assert any("200 tasks" in said for said in plan.assumed)


@dataclass(frozen=True)
class Sevenfold:
    """A plug-in's strategy: always seven attempts."""

    name: ClassVar[str] = "sevenfold"
    needs_feedback: ClassVar[bool] = False
    broken: bool = False

    async def solve(self, problem: Problem, session: Session) -> Submission:
        for _ in range(7):
            await session.attempt(temperature=1.0)
        if self.broken:
            raise KeyError("lost")
        return session.submit("trials")


def test_any_strategy_can_be_planned_and_a_broken_one_is_named() -> None:
    def arm(broken: bool) -> Arm:
        return Arm("sevenfold", Sevenfold(broken), Budget(calls=9), Sampling(seed=0))

    whole = asyncio.run(rehearse(starter(), [arm(False)], FREE, 0, AskedTests()))
    assert whole.arms["sevenfold"].calls == whole.paid.calls == 42
    with pytest.raises(UsageError, match="arm sevenfold: breaks off in the rehearsal"):
        asyncio.run(rehearse(starter(), [arm(True)], FREE, 0, AskedTests()))


PLAN = ("plan", "tasks.jsonl", "--arms", "single,reflexion,best_of_n", "--budget", "tokens=4000")


def test_a_plan_needs_no_key_and_leaves_nothing_behind(hardwon: Hardwon, tasks: Path, tmp_path: Path) -> None:
    before = sorted(tmp_path.iterdir())
    done = hardwon(*PLAN, "--model", "openai:gpt-5-mini", "--seeds", 2)
    assert done.returncode == 0, done.stderr
    assert sorted(tmp_path.iterdir()) == before
    assert max(map(len, done.stdout.splitlines())) <= 80
    for said in ("single", "reflexion", "best_of_n", "all arms, shared calls once", "Assumed:", "a guess", "2 seeds"):
        assert said in done.stdout
    assert "$" in done.stdout
    assert "worst case" in done.stdout
    told = json.loads(hardwon(*PLAN, "--model", "openai:gpt-5-mini", "--seeds", 2, "--json").stdout)
    assert told["paid"]["low"]["calls"] == told["arms"][0]["takes"]["low"]["calls"] == 4
    assert told["paid"]["high"]["usd"] > told["paid"]["low"]["usd"] > 0
    assert [row["share"] for row in told["reach"]] == [0.1, 0.2, 1.0]


def test_a_price_that_is_not_known_is_a_question_mark(hardwon: Hardwon, tasks: Path) -> None:
    done = hardwon(*PLAN, "--model", "http://127.0.0.1:9/v1#x")
    assert done.returncode == 0, done.stderr
    assert " ? " in done.stdout
    assert "not known" in done.stdout
    refused = hardwon(*PLAN[:-1], "usd=1", "--model", "http://127.0.0.1:9/v1#x")
    assert refused.returncode == 2
    assert "price" in refused.stderr


RIGHT = "```python\ndef double(x):\n    return 2 * x\n```"
WRONG = "```python\ndef double(x):\n    return x  # which is not enough\n```"


def suite_of(folder: Path, tasks: int) -> str:
    """A suite and a script of it whose odd tasks fail at first and pass then; returns the model's name."""
    lines, script = [], {}
    for n in range(tasks):
        lines.append({**TASKS[0], "task_id": f"own/{n}"})
        lesson = "Nothing was multiplied: arguments came back untouched, hence multiply."
        script[f"own/{n}"] = {"act": [WRONG if n % 2 else RIGHT, RIGHT], "reflect": [lesson]}
    (folder / "many.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    (folder / "many.json").write_text(json.dumps(script))
    return "script:many.json"


def test_a_pilot_is_measured_and_says_what_a_difference_needs(hardwon: Hardwon, tmp_path: Path) -> None:
    model = suite_of(tmp_path, 8)
    shared = ("many.jsonl", "--arms", "single,reflexion", "--budget", "calls=6", "--model", model)
    done = hardwon("compare", *shared, "--limit", 6, "--out", "pilot")
    assert done.returncode == 0, done.stderr
    rows = [json.loads(line) for line in (tmp_path / "pilot" / "results.jsonl").read_text().splitlines()]
    assert sum(row["solved"] for row in rows if row["arm"] == "single") == 3
    before = {path: path.read_bytes() for path in (tmp_path / "pilot").iterdir()}
    told = json.loads(hardwon("plan", *shared, "--pilot", "pilot", "--difference", 50, "--json").stdout)
    (row,) = told["reach"]
    # Three of six pairs differ: their variance is 0.3, and (1.96 + 0.84)² × 0.3 / 0.5² = 9.4.
    assert (row["arm"], row["tasks"]) == ("reflexion", 10)
    assert row["shows"] == pytest.approx(0.5425, abs=0.001)
    expected = {arm["name"]: arm["takes"]["expected"] for arm in told["arms"]}
    mean = (6 * estimate_tokens(RIGHT) + 3 * estimate_tokens(WRONG)) / 9
    assert expected["single"]["tokens_out"] == 8 * round(mean)
    assert expected["single"]["tokens_in"] == pytest.approx(8 * rows[0]["tokens_in"], rel=0.05)
    assert expected["reflexion"]["calls"] == pytest.approx(8 * 2, rel=0.25)
    limits = (shared[0], *shared[1:], "--limit", 6, "--json")
    for more in ((), ("--pilot", "pilot")):  # what the run came to lies within the plan, of guesses or of the pilot
        takes = {arm["name"]: arm["takes"] for arm in json.loads(hardwon("plan", *limits, *more).stdout)["arms"]}
        for arm, takes_of_arm in takes.items():
            for number in ("calls", "tokens_in", "tokens_out"):
                spent = sum(row[number] for row in rows if row["arm"] == arm)
                assert takes_of_arm["low"][number] <= spent <= takes_of_arm["high"][number]
    text = hardwon("plan", *shared, "--pilot", "pilot", "--difference", 5).stdout
    assert "the suite is too small" in text
    assert "the pilot's means" in " ".join(text.split())
    assert {path: path.read_bytes() for path in before} == before


def test_a_run_of_one_arm_serves_for_lengths_and_rates(hardwon: Hardwon, tmp_path: Path) -> None:
    model = suite_of(tmp_path, 4)
    assert hardwon("run", "many.jsonl", "--model", model, "--out", "pilot").returncode == 0
    done = hardwon(
        "plan", "many.jsonl", "--arms", "single,reflexion", "--budget", "calls=6", "--model", model, "--pilot", "pilot"
    )
    assert done.returncode == 0, done.stderr
    assert "50% of first attempts pass their checks, 100% of later ones" in done.stdout
    assert "worst case" in done.stdout


def test_a_pilot_of_other_arms_is_refused(hardwon: Hardwon, tmp_path: Path) -> None:
    model = suite_of(tmp_path, 2)
    shared = ("many.jsonl", "--budget", "calls=6", "--model", model, "--arms")
    assert hardwon("compare", *shared, "single,reflexion", "--out", "pilot").returncode == 0
    done = hardwon("plan", *shared, "single,best_of_n", "--pilot", "pilot")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "has no arm best_of_n, only single, reflexion" in done.stderr


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--arms", "single,reflex"], "did you mean reflexion"),
        (["--arms", "single"], "at least two"),
        (["--budget", "seconds=3"], "tokens, calls or usd"),
        (["--difference", "0"], "--difference 0"),
        (["--difference", "101"], "--difference 101"),
        (["--power", "1"], "--power 1"),
        (["--pilot", "nowhere"], "no such folder"),
        (["--pilot", "."], "no run folder"),
        (["--data", "none.jsonl", "jsonl"], "none.jsonl"),
        (["jsonl"], "--data"),
        (["--model", "telepathy:x"], "telepathy"),
        (["--model", "local:qwen"], "no such model"),
        (["--limit", "0"], "limit"),
        (["--feedback", "psychic"], "visible or generated or oracle"),
    ],
)
def test_bad_input_ends_in_one_line_with_exit_2(hardwon: Hardwon, tasks: Path, options: list[str], said: str) -> None:
    given = {"--arms": "single,reflexion", "--budget": "calls=3", "--model": "openai:gpt-5-mini"}
    suite = options.pop() if len(options) % 2 else "tasks.jsonl"
    given |= dict(zip(options[::2], options[1::2], strict=True))
    done = hardwon("plan", suite, *[part for pair in given.items() for part in pair])
    assert done.returncode == 2, (done.stdout, done.stderr)
    assert said in done.stderr
    assert done.stderr.count("\n") == 1
