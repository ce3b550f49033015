"""`auto`: its gates, what it learns from earlier tasks, and decisions that can be read."""

import asyncio
from collections.abc import Mapping

from tests.strategies.watched import LESSONS, PROBLEM, Watched, open_session, program, programs, run

from hardwon.actors.program import ProgramActor
from hardwon.budget import Budget
from hardwon.evaluators.function import FunctionCheck
from hardwon.record import MemoryRecord
from hardwon.runs.runner import solve
from hardwon.session import Session
from hardwon.strategies.auto import Auto
from hardwon.task import Ask
from hardwon.trial import Check, Feedback, Source, Submission, Tally, Trajectory

MANY = {
    "sample": Tally(100, 1, 10_000),
    "hint": Tally(100, 1, 10_000),
    "search": Tally(100, 1, 30_000),
    "reflect": Tally(100, 60, 20_000),
}


def work(
    experience: Mapping[str, Tally], acts: list[str], wanted: int = 9, trials: int = 2
) -> tuple[Submission, Session, Watched, MemoryRecord]:
    def near(text: str) -> float:
        return max(0.0, 1 - abs(int(text.rpartition("return ")[2]) - wanted) / 10)

    model, record = Watched({"act": acts, "reflect": LESSONS}), MemoryRecord()
    session = Session(
        PROBLEM, model, ProgramActor(), FunctionCheck(near), record=record, experience=experience, budget=Budget()
    )
    return asyncio.run(solve(Auto(trials=trials), session)), session, model, record


def decided(record: MemoryRecord) -> list[tuple[str, str]]:
    found = []
    while (made := record.get("decide", len(found))) is not None:
        found.append((made["action"], made["reason"]))
    return found


def test_without_an_evaluator_there_is_one_pass_and_the_reason_is_kept() -> None:
    record = MemoryRecord()
    model = Watched({"act": programs(1, 2)})
    session = open_session(model, None, record=record)
    submission = asyncio.run(solve(Auto(), session))
    assert (submission.stop, model.roles) == ("gate", ["act"])
    assert decided(record)[0][0] == "single"


def test_a_first_pass_ends_it_without_a_decision() -> None:
    submission, session, model = run(Auto(), programs(5, 6), 5)
    assert (submission.stop, model.roles, session.decisions) == ("solved", ["act"], 0)


def test_what_paid_on_earlier_tasks_is_done() -> None:
    _, _, model, record = work(MANY, programs(1, 2))
    assert model.roles == ["act", "reflect", "act"]
    action, reason = decided(record)[0]
    assert action == "reflect"
    assert "state first" in reason


def test_a_model_whose_lessons_never_helped_on_this_run_is_not_asked_for_more() -> None:
    below = {"reflect": Tally(12, 0, 4_000), "sample": Tally(12, 0, 400_000)}
    _, _, model, record = work(below, programs(*range(8)), wanted=99, trials=8)
    assert "no reflection" in [action for action, _ in decided(record)]
    assert all("Propose" in prompt for prompt in model.prompts("reflect"))


def test_where_first_attempts_mostly_pass_a_fresh_sample_is_preferred() -> None:
    easy, hard = {"first": Tally(100, 90, 100)}, {"first": Tally(100, 10, 100)}
    counts = []
    for seen in (easy, hard):
        chosen = []
        for n in range(60):
            session = open_session(Watched({}), 9)
            session.random.seed(n)
            session.experience = seen
            chosen.append(session.choose(Auto()._means(session, 100), "first, low, differ"))
        counts.append(chosen.count("reflect"))
    assert counts[0] < counts[1]


def test_each_use_is_noted_for_later_tasks_over_all_states_and_in_its_own() -> None:
    _, session, _, _ = work(MANY, programs(1, 9))
    keys = {note.key: note for note in session.notes}
    assert keys["first"].won is False
    assert keys["reflect"].won is True
    assert keys["reflect"].tokens > 0
    assert any(key.startswith("reflect @ first") for key in keys)


class SelfWritten:
    """An evaluator that refuses everything on the word of one self-written test."""

    source: Source = "generated"

    async def check(self, trajectory: Trajectory, ask: Ask | None = None) -> Feedback:
        check = Check("own", "fail", "f()", "1", "2", source="generated")
        return Feedback("fail", 0.5, "f() should be 1", (check,), "generated")


def test_self_written_tests_that_were_mostly_wrong_do_not_keep_the_loop_going() -> None:
    model, record = Watched({"act": programs(1, 2), "reflect": LESSONS}), MemoryRecord()
    seen = {"self-written": Tally(6, 1, 0)}
    session = Session(PROBLEM, model, ProgramActor(), SelfWritten(), record=record, experience=seen)
    submission = asyncio.run(solve(Auto(), session))
    assert (submission.stop, model.roles) == ("gate", ["act"])
    assert decided(record)[0][0] == "stop"


def test_different_programs_that_agree_against_a_self_written_test_are_noted_against_it() -> None:
    model = Watched({"act": programs(1, 2, 3), "reflect": LESSONS})
    session = Session(PROBLEM, model, ProgramActor(), SelfWritten())
    asyncio.run(solve(Auto(trials=2), session))
    assert [note.won for note in session.notes if note.key == "self-written"] == [False]


def test_a_wider_search_tries_each_approach_until_one_passes() -> None:
    seen = {"search": Tally(100, 90, 100), "sample": Tally(100, 0, 10_000), "reflect": Tally(100, 0, 10_000)}
    seen["hint"] = Tally(100, 0, 10_000)

    def near(text: str) -> bool:
        return text.endswith("return 9")

    model = Watched({"act": programs(1, 9, 8), "reflect": ["1. Count down.\n2. Count up."]})
    session = Session(PROBLEM, model, ProgramActor(), FunctionCheck(near), experience=seen)
    submission = asyncio.run(solve(Auto(), session))
    assert submission.stop == "solved"
    assert "Count down." in model.prompts("act")[1]
    assert program(9) != program(1)
