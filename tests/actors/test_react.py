"""The acting agent: one action a turn, corrections with a cap, a bounded conversation, a world that is closed."""

from __future__ import annotations

import asyncio
import time
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.actors.acting import GOAL, Asked, Corridor, session

from hardwon.actors.history import conversation, spoken, transcript
from hardwon.actors.react import ReActActor
from hardwon.actors.react_text import read_turn
from hardwon.budget import Budget, BudgetExhausted
from hardwon.errors import EnvironmentTrouble
from hardwon.evaluators.answers import final_answer
from hardwon.models.protocol import Message
from hardwon.record import MemoryRecord, trajectory_from, trajectory_payload
from hardwon.trial import Feedback, Lesson, Step, Trajectory, Trial

NORTH = "Thought: on we go\nAction: go north"


def act(model: Asked, world: Corridor, **settings: int) -> Trajectory:
    return asyncio.run(session(model, ReActActor(lambda: world, **settings)).act())


def test_an_episode_runs_until_the_world_is_won() -> None:
    world, model = Corridor(), Asked(NORTH)
    done = act(model, world)
    assert (done.won, done.reward, done.output, done.reply) == (True, 1.0, None, NORTH)
    assert [(step.thought, step.action) for step in done.steps] == [("on we go", "go north")] * 3
    assert world.closed == 1
    last = model.requests[-1].messages
    assert [message.role for message in last] == ["system", "user", "assistant", "user", "assistant", "user"]
    assert last[2].content == NORTH
    assert last[3].content == "Observation: You went north.\n\nYou are 1 steps in."
    assert "You stand at the south end" in last[1].content


def test_a_reader_of_an_episode_is_shown_what_the_world_showed_first() -> None:
    done = act(Asked("Action: wait"), Corridor())
    assert transcript(done, opened=True).startswith("Observation: You stand at the south end of a corridor.")
    assert transcript(done).startswith("Action: wait")
    assert trajectory_from(trajectory_payload(done)) == done
    before_it_was_kept = {**trajectory_payload(done)}
    del before_it_was_kept["opening"]
    assert trajectory_from(before_it_was_kept) == replace(done, opening="")


def test_done_is_not_won_and_an_answer_is_the_output() -> None:
    done = act(Asked("Action: say forty-two"), Corridor())
    assert (done.output, done.won, done.reward) == ("forty-two", False, 0.0)


def test_the_step_cap_ends_an_episode_unfinished() -> None:
    done = act(Asked(NORTH), Corridor(length=9), steps=4)
    assert (len(done.steps), done.won, done.output) == (4, False, None)
    assert done.reward == pytest.approx(4 / 9)


def test_replies_without_an_action_are_told_so_and_end_the_episode_after_three() -> None:
    world, model = Corridor(), Asked("I think\nand think", "", "Thought: hm", NORTH)
    done = act(model, world)
    assert world.taken == []
    assert [step.action for step in done.steps] == ["", "", ""]
    assert all("held no action" in step.observation for step in done.steps)
    assert model.requests[1].messages[-1].content.startswith("Observation: Your reply held no action")
    assert all(message.content for request in model.requests for message in request.messages)
    assert world.closed == 1


def test_an_action_after_a_correction_goes_on() -> None:
    model = Asked("hm\nhm", "hm\nhm", NORTH, "hm\nhm", "hm\nhm", NORTH)
    assert act(model, Corridor()).won


def test_an_action_that_is_repeated_without_effect_is_told_so_and_has_a_cap() -> None:
    world, model = Corridor(length=9), Asked("Action: wait")
    done = act(model, world)
    assert world.taken == ["wait"] * 4
    assert "Do something else" not in done.steps[0].observation
    assert all("Do something else" in step.observation for step in done.steps[1:])
    to_and_fro = Asked(*["Action: wait", "Action: look"] * 9)
    assert len(act(to_and_fro, Corridor(length=9)).steps) == 5


def test_a_repeated_action_with_an_effect_is_no_mistake() -> None:
    assert act(Asked(NORTH), Corridor(length=12)).won


@pytest.mark.parametrize(
    ("reply", "thought", "action"),
    [
        (NORTH, "on we go", "go north"),
        (
            "Thought 1: a\nAction 1: Search[x]\nObservation 1: made up\nThought 2: b\nAction 2: Finish[y]",
            "a",
            "Search[x]",
        ),
        ("Thought: a\nObservation: made up\nAction: Finish[y]", "a", None),
        ("**Thought:** a\n**Action:** `look`", "a", "look"),
        ("action: look\nAction: go", "", "look"),
        ("Thought: a\nAction:\nlook around", "a", "look around"),
        ("I search.\n Search[a [b] c] \nmore", "I search.", "Search[a [b] c]"),
        ("Thought: which way?\nwait", "which way?", "wait"),
        ("Thought: no way", "no way", None),
        ("Action:", "", None),
        ("Thought: a Action: Search[x]", "a", "Search[x]"),
        ("Thought: the next action: look around\nAction: wait", "the next action: look around", "wait"),
        ("1. Thought: a\n2. Action: Search[x]", "a", "Search[x]"),
        ("- Action: Search[x]", "", "Search[x]"),
        ("Action #1: Search[x]", "", "Search[x]"),
        ("Act: Search[x]", "", "Search[x]"),
        ("Action：Search[x]", "", "Search[x]"),
        ("Action: 1. Search[x]", "", "Search[x]"),
        ("Action: Action: Search[x]", "", "Search[x]"),
        ("Thought: a\nAction:\n```\nSearch[x]\n```", "a", "Search[x]"),
        ("Action: Search\nAction Input: x y", "", "Search[x y]"),
        ("Action: [go north]", "", "go north"),
        ('Action: "go north"', "", "go north"),
        ("Action: [Search[x]]", "", "Search[x]"),
        ("Observation: You stand here.\nThought: a\nAction: look", "a", "look"),
        ("Observation: You stand here.\nAction: look\nObservation: made up\nAction: Finish[y]", "", "look"),
        ("", "", None),
    ],
)
def test_a_turn_is_read_however_it_is_written(reply: str, thought: str, action: str | None) -> None:
    assert read_turn(reply, ("go north", "wait")) == (thought, action)


@pytest.mark.parametrize("sign", ["*", " ", "\n", "#", "> ", "Observation: x\n", "1. ", "Action"])
def test_a_long_reply_of_one_sign_takes_no_time_to_speak_of(sign: str) -> None:
    started = time.process_time()
    read_turn(sign * 20_000)
    final_answer(sign * 20_000)
    assert time.process_time() - started < 1


@given(st.text(max_size=80), st.sampled_from(["", "Action: ", "Thought: ", "Observation: ", "\nAction:"]))
def test_any_reply_is_read(text: str, label: str) -> None:
    thought, action = read_turn(f"{text}{label}{text}")
    assert action is None or action.strip()
    assert "\nObservation:" not in thought


def test_trouble_of_the_world_passes_through_and_the_world_is_closed() -> None:
    world = Corridor(breaks_at=2)
    with pytest.raises(EnvironmentTrouble, match="fell in"):
        act(Asked(NORTH), world)
    assert world.closed == 1


def test_a_budget_that_ends_in_an_episode_passes_through_and_the_world_is_closed() -> None:
    world = Corridor()
    playing = session(Asked(NORTH), ReActActor(lambda: world), budget=Budget(calls=2))
    with pytest.raises(BudgetExhausted):
        asyncio.run(playing.act())
    assert (world.taken, world.closed) == (["go north"] * 2, 1)


def test_a_long_observation_is_cut_with_a_mark() -> None:
    class Loud(Corridor):
        async def reset(self, seed: int):  # type: ignore[no-untyped-def]
            seen = await super().reset(seed)
            return type(seen)("x" * 9000, valid_actions=seen.valid_actions)

    model = Asked(NORTH)
    act(model, Loud())
    assert "characters…]" in model.prompt(0)
    assert len(model.prompt(0)) < 5000


@given(
    st.lists(st.builds(Step, st.text(max_size=9), st.text(max_size=9), st.text(max_size=200)), max_size=12),
    st.integers(min_value=1, max_value=900),
)
def test_the_history_keeps_the_task_and_the_last_steps_and_counts_what_is_left_out(
    steps: list[Step], context: int
) -> None:
    opening = (Message("system", "rules"), Message("user", "task and lessons"))
    told = conversation(opening, [spoken(step) for step in steps], context)
    kept = (len(told) - 2) // 2
    assert [message.role for message in told] == ["system", "user", *["assistant", "user"] * kept]
    assert told[0] == opening[0]
    assert told[1].content.startswith("task and lessons")
    assert [m.content for m in told[3::2]] == [f"Observation: {s.observation}" for s in steps[len(steps) - kept :]]
    assert kept >= min(1, len(steps))
    left_out = len(steps) - kept
    assert (f"first {left_out} steps" in told[1].content) == (left_out > 1)
    assert ("left out" in told[1].content) == (left_out > 0)
    if kept > 1:
        assert sum(len(message.content.encode()) for message in told[2:]) + 21 <= context * 3


def test_lessons_the_last_attempt_and_an_approach_reach_the_next_episode() -> None:
    model = Asked(NORTH)
    actor = ReActActor(Corridor, tools="go north: one step")
    last = Trial(
        1,
        Trajectory(None, "x", (Step("left?", "go left", "A wall."), Step("", "wait", "Nothing happens."))),
        Feedback("fail", 0.0, "The goal was not reached."),
    )
    lesson = Lesson("Never go left.\nThere is a wall.")
    asyncio.run(session(model, actor).act([lesson], last, approach="Go straight on."))
    prompt = model.prompt(0)
    for part in (
        "go north: one step",
        "Thought: left?\nAction: go left\nObservation: A wall.",
        "The goal was not reached.",
    ):
        assert part in prompt
    for part in ("- Never go left.\n  There is a wall.", "Take this approach: Go straight on."):
        assert part in prompt
    asyncio.run(session(model, actor).act((), last, feedback=False))
    assert "A wall." in model.requests[3].messages[1].content
    assert "The goal was not reached." not in model.prompt(3)


def test_a_finished_episode_is_not_played_again_and_an_open_one_pays_no_call_twice() -> None:
    record, model, worlds = MemoryRecord(), Asked(NORTH), list[Corridor]()

    def world() -> Corridor:
        worlds.append(Corridor(breaks_at=2 if len(worlds) == 1 else None))
        return worlds[-1]

    async def two_episodes() -> list[Trajectory]:
        playing = session(model, ReActActor(world), record=record)
        return [await playing.act(), await playing.act()]

    with pytest.raises(EnvironmentTrouble):
        asyncio.run(two_episodes())
    assert (len(worlds), len(model.requests)) == (2, 5)
    first, second = asyncio.run(two_episodes())
    assert first == second
    assert (len(worlds), len(model.requests)) == (3, 6)
    assert [request.index for request in model.requests] == list(range(6))


def test_an_attempt_is_told_as_its_steps_or_else_as_its_reply() -> None:
    assert transcript(Trajectory("a", " the reply ")) == "the reply"
    steps = (Step("t", "a", "o" * 2000), Step("", "", "no action"))
    told = transcript(Trajectory("a", "the reply", steps))
    assert told.startswith("Thought: t\nAction: a\nObservation: ooo")
    assert "characters…]" in told
    assert "the reply" not in told
    assert len(transcript(Trajectory(None, "", steps * 40))) <= 5000


def test_a_goal_in_a_world_is_shown_as_the_problem_has_it() -> None:
    model = Asked(NORTH)
    act(model, Corridor())
    assert model.requests[0].messages[1].content.startswith(GOAL.prompt)
