"""A task's events, put together."""

from pathlib import Path

from tests.view.made import LESSON, call, checked, learned, problem, program, row, written

from hardwon.runs.journal import Key
from hardwon.view.events import Event, Events
from hardwon.view.story import Story, told


def story(folder: Path, task: str) -> Story:
    events = Events(folder)
    try:
        return told(events.of(Key(task, "reflexion", 0)))
    finally:
        events.close()


def test_each_trial_has_its_program_checks_lesson_and_time(tmp_path: Path) -> None:
    with written(tmp_path / "run") as journal:
        learned(journal, "t")
    found = story(tmp_path / "run", "t")
    first, second = found.attempts
    assert first.output == "def f(xs):\n    return max(xs)"
    assert first.feedback is not None
    assert first.feedback.verdict == "fail"
    assert first.lesson is not None
    assert first.lesson_parts == [(LESSON, True)]
    assert (first.seconds, second.seconds) == (3.0, 2.0)
    assert (first.tokens, second.tokens) == (200, 100)
    assert second.lesson is None
    assert found.grade is not None
    assert found.language == "python"


def test_a_task_that_goes_on_shows_how_far_it_is(tmp_path: Path) -> None:
    with written(tmp_path / "run") as journal:
        learned(journal, "t", finish=False)
        assert [a.number for a in story(tmp_path / "run", "t").attempts] == [1]
        journal.append(Key("t", "reflexion", 0), "act", 1, call(program("0")), 4.0)
        going = story(tmp_path / "run", "t")
    assert [a.number for a in going.attempts] == [1, 2]
    assert going.attempts[1].feedback is None
    assert going.row is None


def test_an_episodes_calls_belong_to_its_trial(tmp_path: Path) -> None:
    key = Key("t", "reflexion", 0)
    step = {"thought": "Look.", "action": "look", "observation": "A room."}
    episode = {"output": None, "reply": "", "steps": [step, step], "won": False, "reward": 0.0}
    with written(tmp_path / "run") as journal:
        journal.append(key, "task", 0, problem("t", kind="game"))
        journal.append(key, "act", 0, call("> look"), 1.0)
        journal.append(key, "act", 1, call("> look"), 2.0)
        journal.append(key, "episode", 0, {**episode, "asked": [["act", 0], ["act", 1]], "observed": 0}, 2.0)
        journal.append(key, "check", 0, checked("fail"), 3.0)
        journal.append(key, "act", 2, call("> go north"), 4.0)
    first, going = story(tmp_path / "run", "t").attempts
    assert len(first.calls) == 2
    assert [s.action for s in first.steps] == ["look", "look"]
    assert first.won is False
    assert [c.index for c in going.calls] == [2]


def test_a_repositorys_branch_has_none_of_the_stages_that_the_original_reached(tmp_path: Path) -> None:
    from hardwon.view.branch import Change, _kept

    key = Key("t", "reflexion", 0)
    with written(tmp_path / "run") as journal:
        journal.append(key, "stage", 0, {"stage": "queued"})
        learned(journal, "t")
        journal.append(key, "stage", 3, {"stage": "delivered", "trial": 2, "submission": "x", "stop": "solved"})
    events = Events(tmp_path / "run")
    kept = [(e.kind, e.index) for e in _kept(events.of(key), Change(1, None, {"trials": "5"}))]
    events.close()
    assert kept == [("task", 0), ("act", 0), ("check", 0), ("reflect", 0), ("lesson", 0)]


def test_events_of_kinds_that_are_not_known_do_no_harm() -> None:
    events = [
        Event(1, "task", 0, 0.0, problem("t")),
        Event(2, "prophecy", 0, 0.0, {"anything": 1}),
        Event(3, "row", 0, 1.0, row("t", another="field")),
    ]
    found = told(events)
    assert found.attempts == ()
    assert found.row is not None
