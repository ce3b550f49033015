"""What arms of a comparison have in common: identical calls and identical checks are made once, and still counted."""

import asyncio
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from hardwon.actors.program import ProgramActor
from hardwon.budget import Budget
from hardwon.calls import Common, Sampling
from hardwon.errors import ModelError, ModelRefused, SandboxError
from hardwon.evaluators.function import FunctionCheck
from hardwon.models.protocol import Completion, Request, Usage
from hardwon.models.scripted import ScriptedModel
from hardwon.record import MemoryRecord
from hardwon.runs.folder import open_folder
from hardwon.runs.results import read_rows
from hardwon.runs.row import Row
from hardwon.runs.runner import Arm, Runner
from hardwon.sandbox.protocol import CommandResult, FunctionTests, Isolation, Limits, StdioCase
from hardwon.sandbox.remembering import RememberingSandbox
from hardwon.session import Session
from hardwon.strategies.best_of_n import BestOfN
from hardwon.strategies.reflexion import Reflexion
from hardwon.strategies.self_consistency import SelfConsistency
from hardwon.strategies.single import Single
from hardwon.task import Problem, Task
from hardwon.trial import Check

PROBLEM = Problem("t", "Write f.", "function", "f")
LESSON = "Nothing but seven was ever wanted here, whatever arrives."


def program(n: int) -> str:
    return f"```python\ndef f():\n    return {n}\n```"


class Counting:
    """A scripted model that keeps its requests and answers only after all others have come as far as they can.

    A reply is cut to the tokens that it may have, as a real model's is. The line dies once, at request `dies_at`.
    """

    name = "counting"
    parallel = 8
    price_known = True

    def __init__(self, replies: dict[str, list[str]], *, dies_at: int = 0) -> None:
        self.requests: list[Request] = []
        self._scripted = ScriptedModel.from_replies({"*": replies})
        self._dies_at = dies_at

    async def generate(self, request: Request) -> Completion:
        if len(self.requests) + 1 == self._dies_at:
            self._dies_at = 0
            raise ModelError("the line is dead")
        self.requests.append(request)
        for _ in range(5):
            await asyncio.sleep(0)
        whole = await self._scripted.generate(request)
        if whole.usage.tokens_out <= request.max_tokens:
            return whole
        usage = Usage(whole.usage.tokens_in, request.max_tokens, cost_usd=0.0)
        return Completion(whole.text[: 4 * request.max_tokens], usage, self.name, finish="length")

    async def close(self) -> None: ...


def session(model: Counting, common: Common, budget: Budget | None = None, sampling: Sampling | None = None) -> Session:
    return Session(
        PROBLEM,
        model,
        ProgramActor(),
        FunctionCheck(lambda text: "return 7" in text),
        budget=budget or Budget(),
        sampling=sampling or Sampling(),
        common=common,
    )


def test_an_identical_call_is_made_once_also_when_asked_for_at_the_same_time() -> None:
    model, common = Counting({"act": [program(1)]}), Common()
    sessions = [session(model, common) for _ in range(5)]

    async def go() -> None:
        await asyncio.gather(*(s.attempt() for s in sessions))

    asyncio.run(go())
    assert len(model.requests) == 1
    assert {s.trials[0].trajectory.reply for s in sessions} == {program(1)}
    assert sorted(s.calls.shared for s in sessions) == [0, 1, 1, 1, 1]


def test_every_arm_is_charged_as_if_it_were_alone() -> None:
    model, common = Counting({"act": [program(1), program(7)], "reflect": [LESSON]}), Common()
    alone = session(Counting({"act": [program(1), program(7)], "reflect": [LESSON]}), Common())
    one, other = session(model, common), session(model, common)

    async def go() -> None:
        for s in (alone, one, other):
            await Reflexion().solve(PROBLEM, s)

    asyncio.run(go())
    for s in (one, other):
        assert (s.ledger.calls, s.ledger.tokens) == (alone.ledger.calls, alone.ledger.tokens) == (3, s.ledger.tokens)
        assert s.ledger.tokens_by_role == alone.ledger.tokens_by_role
    assert (one.calls.shared, one.calls.shared_tokens) == (0, 0)
    assert (other.calls.shared, other.calls.shared_tokens) == (3, other.ledger.tokens)
    assert len(model.requests) == 3


@pytest.mark.parametrize("difference", ["prompt", "temperature", "ordinal"])
def test_calls_that_differ_are_not_shared(difference: str) -> None:
    model, common = Counting({"act": [program(1), program(2)], "reflect": [LESSON]}), Common()
    one, other = session(model, common), session(model, common)

    async def go() -> None:
        first = await one.attempt()
        if difference == "temperature":
            await other.attempt(temperature=0.5)
        elif difference == "prompt":
            await other.attempt(previous=first)
        else:
            await one.attempt()

    asyncio.run(go())
    assert len(model.requests) == 2
    assert one.calls.shared == other.calls.shared == 0


def test_a_reply_that_a_smaller_budget_would_have_cut_is_not_shared() -> None:
    long = program(1) + "x" * 400
    model, common = Counting({"act": [long]}), Common()
    small = Budget(tokens=90)
    rich, poor, as_poor = session(model, common), session(model, common, small), session(model, common, small)

    async def go() -> None:
        for s in (rich, poor, as_poor):
            await s.attempt()

    asyncio.run(go())
    assert rich.trials[0].trajectory.reply == long
    assert len(poor.trials[0].trajectory.reply) < len(long)
    assert poor.ledger.tokens <= 90
    assert [s.calls.shared for s in (rich, poor)] == [0, 0]
    assert as_poor.trials[0].trajectory.reply == poor.trials[0].trajectory.reply
    assert [request.max_tokens for request in model.requests][:2] == [1024, model.requests[1].max_tokens]


def test_a_reply_that_was_cut_is_not_shared_with_an_arm_that_may_have_the_whole() -> None:
    long = program(1) + "x" * 400
    model, common = Counting({"act": [long]}), Common()
    poor, rich = session(model, common, Budget(tokens=90)), session(model, common)

    async def go() -> None:
        await poor.attempt()
        await rich.attempt()

    asyncio.run(go())
    assert rich.trials[0].trajectory.reply == long
    assert rich.calls.shared == 0


def test_a_whole_reply_is_shared_with_an_arm_whose_budget_holds_it() -> None:
    model, common = Counting({"act": [program(1)]}), Common()
    rich, poor = session(model, common), session(model, common, Budget(tokens=90))

    async def go() -> None:
        await rich.attempt()
        await poor.attempt()

    asyncio.run(go())
    assert len(model.requests) == 1
    assert poor.calls.shared == 1


@pytest.mark.parametrize("at_once", [True, False])
def test_a_call_that_failed_for_good_is_not_sent_again_by_another_arm(at_once: bool) -> None:
    model, common = Counting({"act": [program(7)]}, dies_at=1), Common()
    one, other = session(model, common), session(model, common)

    async def go() -> list[Any]:
        if at_once:
            return await asyncio.gather(one.attempt(), other.attempt(), return_exceptions=True)
        return [(await asyncio.gather(s.attempt(), return_exceptions=True))[0] for s in (one, other)]

    first, second = asyncio.run(go())
    assert isinstance(first, ModelError)
    assert isinstance(second, ModelError)
    assert str(second) == "the line is dead (the same call failed for another arm)"
    assert model.requests == []
    assert (one.ledger.calls, other.ledger.calls, other.calls.shared) == (0, 0, 0)
    assert other.ledger.reserve(1, 1) == 1


def test_a_failed_call_is_another_call_where_it_may_have_fewer_tokens() -> None:
    model, common = Counting({"act": [program(7)]}, dies_at=1), Common()
    one, other = session(model, common), session(model, common, Budget(tokens=90))

    async def go() -> None:
        with pytest.raises(ModelError):
            await one.attempt()
        await other.attempt()

    asyncio.run(go())
    assert (other.ledger.calls, len(model.requests)) == (1, 1)


def test_a_refusal_stays_a_refusal_for_the_arms_that_share_it() -> None:
    class Refusing(Counting):
        async def generate(self, request: Request) -> Completion:
            self.requests.append(request)
            raise ModelRefused("the prompt is too long")

    model, common = Refusing({}), Common()

    async def go() -> None:
        for _ in range(3):
            with pytest.raises(ModelRefused, match="the prompt is too long"):
                await session(model, common).attempt()

    asyncio.run(go())
    assert len(model.requests) == 1


def test_a_resumed_arm_is_charged_for_what_it_shared() -> None:
    """The record alone, without the other arm's, is enough to go on."""
    model, common, record = Counting({"act": [program(1)]}), Common(), MemoryRecord()

    def recorded(with_common: Common) -> Session:
        check = FunctionCheck(lambda text: False)
        return Session(PROBLEM, model, ProgramActor(), check, record=record, common=with_common)

    first = recorded(common)
    asyncio.run(session(model, common).attempt())
    asyncio.run(first.attempt())
    again = recorded(Common())
    asyncio.run(again.attempt())
    assert len(model.requests) == 1
    assert (
        (again.calls.shared, again.ledger.tokens)
        == (first.calls.shared, first.ledger.tokens)
        == (1, again.ledger.tokens)
    )


ARMS = [Arm("single", Single()), Arm("best_of_n", BestOfN(trials=4)), Arm("reflexion", Reflexion(trials=4))]
REPLIES = {"act": [program(1), program(2), program(3), program(7)], "reflect": [LESSON]}


def run(folder: Path, model: Counting, *, workers: int = 1, names: Sequence[str] = "abc") -> list[Row]:
    tasks = [
        Task(
            Problem(name, "Write f.", "function", "f"),
            FunctionCheck(lambda text: "return 7" in text),
            FunctionCheck(lambda text: "return 7" in text),
            name,
        )
        for name in names
    ]

    async def go() -> None:
        with open_folder(folder, {"settings": {}}) as journal:
            await Runner(journal, model, ProgramActor(), workers=workers, compared=True).run(tasks, ARMS)

    asyncio.run(go())
    return read_rows(folder)


def paid(*models: Counting) -> Counter[tuple[str, str, int, str, float]]:
    return Counter(
        (r.task_id, r.role, r.index, r.messages[-1].content, r.temperature) for m in models for r in m.requests
    )


def charged(rows: Sequence[Row]) -> list[tuple[object, ...]]:
    return [(r.task_id, r.arm, r.solved, r.calls, r.tokens_in, r.tokens_out, r.curve) for r in rows]


@pytest.mark.parametrize("workers", [1, 4, 9])
def test_results_do_not_depend_on_which_arm_comes_first(tmp_path: Path, workers: int) -> None:
    first, other = Counting(REPLIES), Counting(REPLIES)
    rows = run(tmp_path / "one", first)
    assert charged(run(tmp_path / "many", other, workers=workers)) == charged(rows)
    assert paid(first) == paid(other)
    assert set(paid(other).values()) == {1}
    assert sum(row.calls - row.calls_shared for row in rows) == len(first.requests)


def test_a_broken_off_comparison_keeps_sharing_when_it_goes_on(tmp_path: Path) -> None:
    whole = Counting(REPLIES)
    rows = run(tmp_path / "whole", whole)
    for dies_at in range(1, len(whole.requests) + 1):
        broken, rest = Counting(REPLIES, dies_at=dies_at), Counting(REPLIES)
        folder = tmp_path / f"run{dies_at}"
        errors = [row.error for row in run(folder, broken) if row.error is not None]
        assert errors.count("the line is dead") == 1
        assert {error.partition(" (")[0] for error in errors} == {"the line is dead"}
        assert charged(run(folder, rest)) == charged(rows)
        assert paid(broken, rest) == paid(whole)


def test_a_failure_that_arms_share_is_one_trouble_and_does_not_end_the_run(tmp_path: Path) -> None:
    """Five troubles in a row would: here six arms fail on one call, and the next task is worked on."""
    arms = [Arm(f"arm{n}", BestOfN(trials=n)) for n in range(1, 7)]
    model = Counting({"act": [program(7)]}, dies_at=1)
    tasks = [Task(Problem(name, "Write f.", "function", "f"), None, None, name) for name in "ab"]

    async def go() -> None:
        with open_folder(tmp_path / "run", {"settings": {}}) as journal:
            await Runner(journal, model, ProgramActor(), workers=1, compared=True).run(tasks, arms)

    asyncio.run(go())
    rows = read_rows(tmp_path / "run")
    assert [(row.error is None, row.stop == "error", row.solved) for row in rows if row.task_id == "a"] == [
        (False, True, None)
    ] * 6
    assert [row.error for row in rows if row.task_id == "b"] == [None] * 6


def test_a_trial_that_leads_again_is_graded_once(tmp_path: Path) -> None:
    """The majority is 1, then 2, then 1 again; the curve has a point for each change."""
    graded: list[str] = []

    def grade(text: str) -> bool:
        graded.append(text)
        return "return 2" in text

    problem = Problem("a", "Write f.", "function", "f")
    task = Task(problem, None, FunctionCheck(grade), "a")
    model = Counting({"act": [program(n) for n in (1, 2, 2, 1, 1, 3)]})
    arms = [Arm("majority", SelfConsistency(trials=6)), Arm("single", Single())]

    async def go() -> None:
        with open_folder(tmp_path / "run", {"settings": {}}) as journal:
            await Runner(journal, model, ProgramActor(), compared=True).run([task], arms)

    asyncio.run(go())
    (majority, _) = read_rows(tmp_path / "run")
    assert [(point.trial, point.solved) for point in majority.curve] == [(1, False), (2, True), (1, False)]
    assert majority.solved is False
    assert [text.count("return 2") for text in graded].count(1) == 1
    assert len(graded) == 3  # the two that led, and the first attempt in the other arm


class World:
    """A sandbox that counts what it runs; trouble and slowness are the test's to choose."""

    def __init__(self) -> None:
        self.ran: list[str] = []
        self.trouble = 0
        self.gate: asyncio.Event | None = None

    @property
    def isolation(self) -> Isolation:
        return Isolation("world", ())

    async def run_function(self, program: str, tests: FunctionTests, limits: Limits = Limits()) -> tuple[Check, ...]:  # noqa: B008
        return await self._run(program + tests.source)

    async def run_stdio(self, program: str, cases: Sequence[StdioCase], limits: Limits = Limits()) -> tuple[Check, ...]:  # noqa: B008
        return await self._run(program + cases[0].stdin)

    async def run_command(self, command: str, **options: Any) -> CommandResult:
        self.ran.append(command)
        return CommandResult(0, "", 0.0)

    async def close(self) -> None: ...

    async def _run(self, what: str) -> tuple[Check, ...]:
        self.ran.append(what)
        if self.gate is not None:
            await self.gate.wait()
        if self.trouble:
            self.trouble -= 1
            raise SandboxError("the wall fell")
        return (Check(what, "pass"),)


TESTS = FunctionTests("f", "assert f() == 1")


def test_the_same_program_on_the_same_tests_runs_once() -> None:
    world = World()
    sandbox = RememberingSandbox(world)

    async def go() -> None:
        one, again = await sandbox.run_function("p", TESTS), await sandbox.run_function("p", TESTS)
        assert one == again
        await sandbox.run_function("q", TESTS)
        await sandbox.run_function("p", FunctionTests("f", "assert f() == 2"))
        await sandbox.run_function("p", TESTS, Limits(test_seconds=1))
        await sandbox.run_stdio("p", [StdioCase("1", "2")])
        await sandbox.run_stdio("p", (StdioCase("1", "2"),))

    asyncio.run(go())
    assert len(world.ran) == 5


def test_a_program_that_is_being_run_is_waited_for() -> None:
    world = World()
    sandbox = RememberingSandbox(world)

    async def go() -> list[tuple[Check, ...]]:
        world.gate = asyncio.Event()
        waiting = [asyncio.create_task(sandbox.run_function("p", TESTS)) for _ in range(4)]
        await asyncio.sleep(0)
        world.gate.set()
        return await asyncio.gather(*waiting)

    assert len(set(asyncio.run(go()))) == 1
    assert len(world.ran) == 1


def test_trouble_is_not_remembered_and_reaches_only_who_ran() -> None:
    world = World()
    sandbox = RememberingSandbox(world)
    world.trouble = 1

    async def go() -> list[object]:
        world.gate = asyncio.Event()
        waiting = [asyncio.create_task(sandbox.run_function("p", TESTS)) for _ in range(3)]
        await asyncio.sleep(0)
        world.gate.set()
        return list(await asyncio.gather(*waiting, return_exceptions=True))

    outcomes = asyncio.run(go())
    assert sum(isinstance(outcome, SandboxError) for outcome in outcomes) == 1
    assert len(world.ran) == 2


def test_who_was_interrupted_while_running_leaves_the_work_to_the_next() -> None:
    world = World()
    sandbox = RememberingSandbox(world)

    async def go() -> tuple[Check, ...]:
        world.gate = asyncio.Event()
        first = asyncio.create_task(sandbox.run_function("p", TESTS))
        second = asyncio.create_task(sandbox.run_function("p", TESTS))
        await asyncio.sleep(0)
        first.cancel()
        world.gate.set()
        return await second

    assert asyncio.run(go())[0].status == "pass"
    assert len(world.ran) == 2


def test_who_is_interrupted_while_waiting_does_not_disturb_who_runs() -> None:
    world = World()
    sandbox = RememberingSandbox(world)

    async def go() -> tuple[Check, ...]:
        world.gate = asyncio.Event()
        first = asyncio.create_task(sandbox.run_function("p", TESTS))
        second = asyncio.create_task(sandbox.run_function("p", TESTS))
        await asyncio.sleep(0)
        second.cancel()
        world.gate.set()
        return await first

    assert asyncio.run(go())[0].status == "pass"
    assert len(world.ran) == 1


def test_commands_are_always_run() -> None:
    world = World()
    sandbox = RememberingSandbox(world)

    async def go() -> None:
        await sandbox.run_command("date")
        await sandbox.run_command("date")

    asyncio.run(go())
    assert world.ran == ["date", "date"]
