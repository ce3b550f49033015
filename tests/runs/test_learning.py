"""Strategies that learn: what they know of earlier tasks depends on no worker, no timing and no crash."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hardwon.actors.program import ProgramActor
from hardwon.errors import ModelError
from hardwon.evaluators.function import FunctionCheck
from hardwon.models.protocol import Completion, Request
from hardwon.models.scripted import ScriptedModel
from hardwon.runs.decisions import told
from hardwon.runs.folder import open_folder
from hardwon.runs.journal import FILE, Journal
from hardwon.runs.learning import LAG, Learning, add
from hardwon.runs.results import read_rows
from hardwon.runs.row import Row
from hardwon.runs.runner import Arm, Runner
from hardwon.session import Session
from hardwon.strategies.auto import Auto
from hardwon.strategies.protocol import Strategy
from hardwon.task import Problem, Task
from hardwon.trial import Note, Submission, Tally

TASKS = 2 * LAG + 4


@dataclass(frozen=True)
class Noting:
    """Tells what it knows, tries once and notes how it went, under a key of every task's own and a common one."""

    name: ClassVar[str] = "noting"
    needs_feedback: ClassVar[bool] = False
    learns: ClassVar[bool] = True

    async def solve(self, problem: Problem, session: Session) -> Submission:
        session.decide("know", ", ".join(sorted(session.experience)))
        trial = await session.attempt()
        won = trial.feedback.verdict == "pass"
        session.note(problem.id, won, session.ledger.tokens)
        session.note("all", won, session.ledger.tokens)
        return session.submit("solved" if won else "trials")


class Paced:
    """Answers `return N` for task `tN` after as many turns of the loop as `pace` gives it; the `dead` get no answer."""

    name = "paced"
    parallel = 9
    price_known = True

    def __init__(self, pace: Sequence[int], dead: Iterable[str] = ()) -> None:
        self.answered: list[str] = []
        self._pace = pace
        self._dead = set(dead)

    async def generate(self, request: Request) -> Completion:
        number = int(request.task_id[1:])
        for _ in range(self._pace[number % len(self._pace)]):
            await asyncio.sleep(0)
        if request.task_id in self._dead:
            raise ModelError("the line is dead")
        self.answered.append(request.task_id)
        reply = f"```python\ndef f():\n    return {number + request.index}\n```"
        lesson = f"Number {number * 7 + request.index} stood where larger even values belong, so climb."
        return await ScriptedModel.from_replies({"*": {"act": [reply], "reflect": [lesson]}}).generate(request)

    async def close(self) -> None: ...


def even(text: str) -> bool:
    return int(text.rpartition("return ")[2]) % 2 == 0


def run(
    folder: Path,
    model: Paced,
    *,
    workers: int = 1,
    strategy: Strategy | None = None,
    grader: FunctionCheck | None = None,
) -> list[Row]:
    hidden = grader or FunctionCheck(even)
    tasks = [
        Task(Problem(f"t{n}", f"Write f number {n}.", "function", "f"), FunctionCheck(even), hidden, f"t{n}")
        for n in range(TASKS)
    ]

    async def go() -> None:
        with open_folder(folder, {"settings": {}}) as journal:
            runner = Runner(journal, model, ProgramActor(), workers=workers)
            await asyncio.wait_for(runner.run(tasks, [Arm("noting", strategy or Noting(), seed=3)]), 60)

    asyncio.run(go())
    return read_rows(folder)


def known(folder: Path) -> dict[str, dict[str, list[int]]]:
    """What each task knew when it began, as the journal has it."""
    journal = Journal(folder / FILE, read_only=True)
    try:
        return {key.task_id: payload for key, _, payload in journal.payloads("experience")}
    finally:
        journal.close()


def results(rows: Sequence[Row]) -> list[tuple[object, ...]]:
    return [(row.task_id, row.solved, row.calls, row.submission, row.notes) for row in rows]


def test_a_task_knows_the_notes_of_all_tasks_but_the_last_few_before_it(tmp_path: Path) -> None:
    rows = run(tmp_path / "run", Paced([1]))
    tokens = {row.task_id: row.tokens_in + row.tokens_out for row in rows}
    experience = known(tmp_path / "run")
    assert len(experience) == TASKS
    for n in range(TASKS):
        earlier = [f"t{m}" for m in range(max(0, n - LAG + 1))]
        spent = sum(tokens[name] for name in earlier)
        expected = {name: [1, int(int(name[1:]) % 2 == 0), tokens[name]] for name in earlier}
        if earlier:
            expected["all"] = [len(earlier), sum(won for _, won, _ in expected.values()), spent]
        assert experience[f"t{n}"] == expected


@pytest.mark.parametrize("workers", [1, 3, LAG, LAG + 4])
@pytest.mark.parametrize("pace", [[1], [40, 1, 1], [1, 25, 3, 60, 2]])
def test_experience_is_the_same_whatever_the_workers_and_the_timing(
    tmp_path: Path, workers: int, pace: list[int]
) -> None:
    rows = run(tmp_path / "plain", Paced([1]))
    again = run(tmp_path / "paced", Paced(pace), workers=workers)
    assert known(tmp_path / "paced") == known(tmp_path / "plain")
    assert results(again) == results(rows)


@pytest.mark.parametrize("workers", [2, LAG])
def test_auto_decides_the_same_whatever_the_timing(tmp_path: Path, workers: int) -> None:
    rows = run(tmp_path / "plain", Paced([1]), strategy=Auto())
    again = run(tmp_path / "paced", Paced([30, 1, 7]), workers=workers, strategy=Auto())
    assert results(again) == results(rows)
    assert list(told(tmp_path / "paced")) == list(told(tmp_path / "plain"))
    assert sum(row.decisions for row in rows) > 0


def test_a_slow_task_holds_back_only_those_that_must_know_of_it(tmp_path: Path) -> None:
    model = Paced([2000, *[1] * (TASKS - 1)])
    run(tmp_path / "run", model, workers=LAG)
    assert set(model.answered[: model.answered.index("t0")]) == {f"t{n}" for n in range(1, LAG)}
    assert len(set(model.answered)) == TASKS


def test_a_task_that_is_resumed_knows_what_it_knew(tmp_path: Path) -> None:
    """Task 12 begins, is broken off by its model, and begins again when more is known than before."""
    whole = run(tmp_path / "whole", Paced([1]))
    run(tmp_path / "run", Paced([1]), workers=2)
    before = known(tmp_path / "run")
    folder = tmp_path / "broken"
    first = run(folder, Paced([1], dead=["t12"]))
    assert [row.task_id for row in first if row.error] == ["t12"]
    assert known(folder)["t12"] == before["t12"]
    again = run(folder, Paced([1]))
    assert known(folder)["t12"] == before["t12"]
    assert results([row for row in again if row.task_id == "t12"]) == results([whole[12]])


def test_an_error_blocks_no_later_task_and_is_not_learned_from(tmp_path: Path) -> None:
    dead = ["t0", "t5"]
    rows = run(tmp_path / "run", Paced([1, 9], dead=dead), workers=3)
    assert [row.task_id for row in rows if row.error] == dead
    last = known(tmp_path / "run")[f"t{TASKS - 1}"]
    assert not set(dead) & set(last)
    assert last["all"][0] == TASKS - LAG - len(dead)


def test_notes_of_a_task_whose_grading_broke_are_not_learned_from(tmp_path: Path) -> None:
    def crash(text: str) -> bool:
        if "return 4" in text:
            raise OSError("no disk")
        return True

    rows = run(tmp_path / "run", Paced([1]), grader=FunctionCheck(crash))
    assert [row.task_id for row in rows if row.error] == ["t4"]
    assert "t4" not in known(tmp_path / "run")[f"t{TASKS - 1}"]


notes = st.builds(Note, st.sampled_from("abc"), st.booleans(), st.integers(0, 99))


@given(st.lists(st.lists(notes, max_size=3), min_size=1, max_size=30), st.randoms(use_true_random=False))
def test_what_is_known_before_a_task_is_the_sum_of_the_notes_so_far(told_by: list[list[Note]], chance: object) -> None:
    """Whatever the order in which tasks finish and ask, and whether some were finished in an earlier sitting."""
    order = list(range(len(told_by)))
    chance.shuffle(order)  # type: ignore[attr-defined]
    earlier = order[: len(order) // 3]

    async def go() -> list[Mapping[str, Tally]]:
        learning = Learning({n: told_by[n] for n in earlier})
        asked = [asyncio.create_task(learning.before(n)) for n in range(len(told_by))]
        for n in order[len(order) // 3 :]:
            await asyncio.sleep(0)
            await learning.finish(n, told_by[n])
        return await asyncio.wait_for(asyncio.gather(*asked), 10)

    for n, tallies in enumerate(asyncio.run(go())):
        assert tallies == add({}, [note for told in told_by[: max(0, n - LAG + 1)] for note in told])


@given(st.lists(notes))
def test_a_tally_counts_every_note_of_its_key(found: list[Note]) -> None:
    for key, tally in add({}, found).items():
        mine = [note for note in found if note.key == key]
        assert tally == Tally(len(mine), sum(note.won for note in mine), sum(note.tokens for note in mine))
