"""The acting agent by native calls: the same caps and corrections, whole pairs in the history, nothing paid twice."""

from __future__ import annotations

import asyncio
import json
from importlib.util import find_spec
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.actors.acting import GOAL, Asked, Corridor, call, calls, session, unanswered
from tests.models.chat_server import calling, serving

from hardwon.actors.calling import answered
from hardwon.actors.choose import actor_for, tool_settings, with_tool_use
from hardwon.actors.history import conversation
from hardwon.actors.react import ReActActor
from hardwon.actors.react_native import CallSpeech
from hardwon.environments.paragraphs import TOOLS, Library, Paragraph, ParagraphWorld, read_call
from hardwon.environments.task import EpisodeTask
from hardwon.errors import EnvironmentTrouble, UsageError
from hardwon.models.hosted import HostedModel
from hardwon.models.protocol import Completion, Message, Usage
from hardwon.models.tools import ToolCall, ToolUse
from hardwon.record import MemoryRecord
from hardwon.sandbox.choose import open_sandbox
from hardwon.session import Session
from hardwon.suites.protocol import SuiteOptions
from hardwon.suites.textworld import load as textworld
from hardwon.suites.textworld import walkthroughs
from hardwon.task import Problem, Task
from hardwon.trial import Trajectory

NORTH = call("act", "On we go.", action="go north")


def act(model: Asked, world: Corridor, tool_use: ToolUse = "native", **settings: int) -> Trajectory:
    return asyncio.run(session(model, ReActActor(lambda: world, tool_use=tool_use, **settings)).act())


def test_an_episode_by_calls_is_won_as_one_in_text_is() -> None:
    world, model = Corridor(), Asked(NORTH)
    done = act(model, world)
    assert (done.won, done.reward, done.output) == (True, 1.0, None)
    assert done.reply == 'On we go.\nact({"action": "go north"})'
    assert [(step.thought, step.action) for step in done.steps] == [("On we go.", "go north")] * 3
    first, last = model.requests[0], model.requests[-1]
    assert [tool.name for tool in first.tools] == ["act"]
    assert first.stop == ()
    assert "Action:" not in model.prompt(0)
    assert [message.role for message in last.messages] == ["system", "user", "assistant", "tool", "assistant", "tool"]
    assert last.messages[3].content == "You went north.\n\nYou are 1 steps in."
    assert last.messages[2].tool_calls == (ToolCall("call-act-0-0", "act", '{"action": "go north"}'),)


def test_agents_call_tools_where_it_suits_the_model_and_as_they_are_told() -> None:
    class Hosted(Asked):
        calls_tools = True

    task = EpisodeTask(problem=GOAL, feedback=None, grader=None, digest="d", environment=Corridor)
    for made, use, native in (
        (Hosted, "auto", True),
        (Asked, "auto", False),
        (Hosted, "text", False),
        (Asked, "native", True),
    ):
        model, set_to = made(NORTH), with_tool_use([task], use)  # type: ignore[arg-type]
        act(model, Corridor(), use)  # type: ignore[arg-type]
        assert bool(model.requests[0].tools) == native
        settings = tool_settings([each.tool_use for each in set_to if isinstance(each, EpisodeTask)], model)
        assert (settings.get("tools") == "native") == bool(settings) == native


def test_a_hosted_model_plays_by_calls_without_being_told_to() -> None:
    with serving(calling(("same-id", "act", '{"action": "go north"}'))) as server:

        async def play() -> Trajectory:
            model = HostedModel(f"{server.url}#m", parallel=1)
            try:
                return await Session(GOAL, model, ReActActor(Corridor), None).act()
            finally:
                await model.close()

        assert asyncio.run(play()).won
    roles = [message["role"] for message in server.bodies[-1]["messages"]]
    assert roles == ["system", "user", "assistant", "tool", "assistant", "tool"]


def test_asking_for_calls_where_no_agent_acts_is_refused() -> None:
    plain = Task(Problem("p", "Add."), None, None, "d")
    assert with_tool_use([plain], "auto") == (plain,)
    with pytest.raises(UsageError, match="--tools native: no agent acts"):
        with_tool_use([plain], "native")


def test_actions_of_the_form_name_and_brackets_are_a_tool_each() -> None:
    library = Library([Paragraph("Ada", ("Ada was born in Lindhafen.", "She sculpted."))])
    model = Asked(call("Search", argument="Ada"), call("Lookup", argument="sculpted"), call("Finish", argument=1881))
    actor = ReActActor(lambda: ParagraphWorld(library), 8, TOOLS, tool_use="native")
    done = asyncio.run(session(model, actor, problem=Problem("q", "When was Ada born?", "question")).act())
    assert done.output == "1881"
    assert [step.action for step in done.steps] == ["Search[Ada]", "Lookup[sculpted]", "Finish[1881]"]
    assert model.heard(1) == "Ada: Ada was born in Lindhafen. She sculpted."
    search = model.requests[0].tools[0]
    assert (search.name, search.parameters["required"]) == ("Search", ["argument"])
    assert search.description.startswith("shows the paragraph with that title")
    assert [tool.name for tool in CallSpeech.of("look: look around\ngo PLACE: walk").tools] == ["act"]
    assert "go PLACE: walk" in CallSpeech.of("look: look around\ngo PLACE: walk").tools[0].description


@pytest.mark.parametrize(("argument", "read"), [("x] y", "x) y"), ("a [b] c", "a [b] c"), ("][", ")("), ("[", "(")])
def test_an_argument_is_handed_over_whole_whatever_brackets_it_holds(argument: str, read: str) -> None:
    action = acted("Finish[answer]: hands in the answer", "Finish", argument)
    assert read_call(action) == ("finish", read)


def test_a_world_may_have_an_action_named_as_the_tool_for_any_action() -> None:
    assert acted("act[part]: play a part", "act", "Hamlet") == "act[Hamlet]"


def acted(actions: str, name: str, argument: str) -> str:
    called = ToolCall("1", name, json.dumps({"argument": argument}))
    _, action, _ = CallSpeech.of(actions).read(Completion("", Usage(1, 1), "m", tool_calls=(called,)), ())
    assert action is not None
    return action


def test_replies_without_a_call_are_told_so_in_the_conversation_and_end_the_episode_after_three() -> None:
    world, model = Corridor(), Asked("I think\nAction: go north", "", "Hm.", NORTH)
    done = act(model, world)
    assert world.taken == []
    assert [step.action for step in done.steps] == ["", "", ""]
    assert [message.role for message in model.requests[1].messages] == ["system", "user", "assistant", "user"]
    assert model.heard(1) == "Your reply held no call, so nothing has happened. Call the tool `act`."
    assert all(message.content for request in model.requests for message in request.messages)
    assert act(Asked("Hm.", "Hm.", NORTH, "Hm.", "Hm.", NORTH), Corridor()).won


@pytest.mark.parametrize(
    ("made", "told"),
    [
        (("act", '{"action": "go'), "Give one JSON object: `act` takes action"),
        (("act", "[]"), "Give one JSON object"),
        (("act", {}), "Give one JSON object"),
        (("act", {"action": " "}), "Give one JSON object"),
        (("act", {"action": ["go north"]}), "Give one JSON object"),
        (("walk to", {"action": "go north"}), "There is no such tool"),
    ],
)
def test_a_call_that_can_not_be_carried_out_is_answered_with_what_is_wrong(made: tuple[str, object], told: str) -> None:
    world, model = Corridor(), Asked(calls(made), NORTH)
    assert act(model, world).won
    assert world.taken == ["go north"] * 3
    answer = model.requests[1].messages[-1]
    assert (answer.role, answer.tool_call_id) == ("tool", "call-act-0-0")
    assert told in answer.content
    assert act(Asked(calls(made)), Corridor()).steps[-1].observation == answer.content


def test_a_call_that_was_cut_off_is_told_so() -> None:
    class CutOff(Asked):
        async def generate(self, request):  # type: ignore[no-untyped-def]
            done = await super().generate(request)
            short = len(self.requests) == 1
            return Completion("", done.usage, "m", None, "length" if short else "stop", done.tool_calls)

    model = CutOff(calls(("act", '{"action": "go nor')), NORTH)
    assert act(model, Corridor()).won
    assert "cut off before its call was complete" in model.heard(1)


def test_of_several_calls_the_first_is_carried_out_and_the_others_are_answered() -> None:
    world = Corridor(length=2)
    model = Asked(calls(("act", {"action": "wait"}), ("act", {"action": "go north"}), ("oops", "{")), NORTH)
    assert act(model, world).won
    assert world.taken == ["wait", "go north", "go north"]
    told = model.requests[1].messages[-3:]
    assert [message.role for message in told] == ["tool"] * 3
    assert [message.content.partition(":")[0] for message in told] == ["Nothing happens.", "Not run", "Not run"]
    assert unanswered(model.requests[-1].messages) == []


def test_a_repeated_call_without_effect_is_told_so_and_has_the_same_cap() -> None:
    world, model = Corridor(length=9), Asked(call("act", action="wait"))
    done = act(model, world)
    assert world.taken == ["wait"] * 4
    assert all("Do something else" in step.observation for step in done.steps[1:])
    assert len(act(Asked(NORTH), Corridor(length=9), steps=4).steps) == 4


REPLIES = st.builds(
    Completion,
    st.text(max_size=20),
    st.just(Usage(1, 1)),
    st.just("m"),
    tool_calls=st.lists(
        st.builds(ToolCall, st.integers(0, 10**9).map(str), st.text(max_size=9), st.text(max_size=40)), max_size=3
    ).map(tuple),
)


@given(st.lists(st.tuples(REPLIES, st.text(max_size=200)), max_size=12), st.integers(min_value=1, max_value=900))
def test_the_history_never_shows_a_call_without_its_answer(said: list[tuple[Completion, str]], context: int) -> None:
    opening = (Message("system", "rules"), Message("user", "task"))
    turns = [answered(reply, reply.text, told) for reply, told in said]
    told = conversation(opening, turns, context)
    assert unanswered(told) == []
    kept = sum(message.role == "assistant" for message in told)
    assert told[2:] == tuple(message for turn in turns[len(turns) - kept :] for message in turn)
    assert kept >= min(1, len(turns))
    assert ("left out" in told[1].content) == (kept < len(turns))


def test_an_open_episode_goes_on_and_pays_no_call_twice() -> None:
    record, model, worlds = MemoryRecord(), Asked(NORTH), list[Corridor]()

    def world() -> Corridor:
        worlds.append(Corridor(breaks_at=None if worlds else 2))
        return worlds[-1]

    def once() -> Trajectory:
        return asyncio.run(session(model, ReActActor(world, tool_use="native"), record=record).act())

    with pytest.raises(EnvironmentTrouble):
        once()
    assert len(model.requests) == 2
    assert once().won
    assert [request.index for request in model.requests] == [0, 1, 2]
    assert once().won
    assert len(model.requests) == 3


@pytest.mark.skipif(find_spec("textworld") is None, reason="the extra games is not installed")
def test_the_expert_wins_a_real_game_by_calls(tmp_path: Path) -> None:
    settings = tmp_path / "size.json"
    settings.write_text('{"rooms": 2, "objects": 3, "quest": 2, "games": 1, "seed": 1}')
    options = SuiteOptions(data=settings)
    ((_, walkthrough),) = walkthroughs(options).items()

    async def play() -> bool | None:
        sandbox = open_sandbox(workers=1)
        try:
            (task,) = with_tool_use(textworld(options, sandbox), "native")
            model = Asked(*(call("act", "I know the way.", action=action) for action in walkthrough))
            trial = await Session(task.problem, model, actor_for(task), task.feedback).attempt()
            assert trial.feedback.verdict == "pass"
            return trial.trajectory.won
        finally:
            await sandbox.close()

    assert asyncio.run(play())
