"""A blocking world may crash, hang or babble: the run goes on, and nothing is left behind."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from hardwon import ScriptedModel
from hardwon.environments.process import ProcessWorld, WorldLimits
from hardwon.environments.protocol import Observation
from hardwon.environments.task import EpisodeTask
from hardwon.errors import EnvironmentTrouble
from hardwon.evaluators.reward import EnvironmentReward
from hardwon.runs.folder import open_folder
from hardwon.runs.results import rows
from hardwon.runs.runner import Arm, Runner
from hardwon.strategies.registry import make_strategy
from hardwon.task import Problem

WORLDS = "tests.environments.worlds"
SHORT = WorldLimits(start_seconds=20.0, step_seconds=0.3)


def echo(limits: WorldLimits = WorldLimits()) -> ProcessWorld:  # noqa: B008
    return ProcessWorld(f"{WORLDS}:Echo", {"first": "begin"}, limits)


def play(world: ProcessWorld, *actions: str) -> list[Observation]:
    async def episode() -> list[Observation]:
        try:
            return [await world.reset(7), *[await world.step(action) for action in actions]]
        finally:
            await world.close()

    return asyncio.run(episode())


def trouble(world: ProcessWorld, *actions: str) -> str:
    with pytest.raises(EnvironmentTrouble) as caught:
        play(world, *actions)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def gone(pid: int) -> bool:
    """Whether a process has ended and was reaped."""
    return not Path(f"/proc/{pid}").exists()


def in_process(do: Callable[[ProcessWorld, int, Path], Awaitable[None]]) -> tuple[int, Path]:
    """Does something to a world whose process and folder are known, and says which they were."""

    async def episode() -> tuple[int, Path]:
        world = ProcessWorld(f"{WORLDS}:Inside", {})
        try:
            pid, folder, _ = (await world.reset(0)).text.split("\n")
            await do(world, int(pid), Path(folder))
        finally:
            await world.close()
        return int(pid), Path(folder)

    return asyncio.run(episode())


def test_an_observation_comes_through_as_the_world_gave_it() -> None:
    first, second, last = play(echo(), "look", "win")
    assert first == Observation("begin 7", valid_actions=("win",))
    assert second == Observation("1: look", 0.01)
    assert last == Observation("2: win", 0.02, True, True)


@pytest.mark.parametrize(
    ("action", "says"),
    [
        ("leave", "left with status 3"),
        ("segfault", "SIGSEGV"),
        ("raise", "ValueError: the door"),
        ("nonsense", "TypeError"),
        ("hang", "no answer within 0.3 seconds"),
    ],
)
def test_a_world_that_fails_is_trouble_and_says_how(action: str, says: str) -> None:
    assert says in trouble(echo(SHORT), action)


def test_the_time_of_a_step_is_its_own_however_many_went_before() -> None:
    assert "no answer within 0.3 seconds" in trouble(echo(SHORT), *["look"] * 100, "hang")


def test_an_episode_goes_on_in_another_event_loop() -> None:
    world = echo()
    try:
        assert asyncio.run(world.reset(1)).text == "begin 1"
        assert [asyncio.run(world.step("look")).text for _ in range(2)] == ["1: look", "2: look"]
    finally:
        asyncio.run(world.close())


def test_a_long_action_goes_through_whole() -> None:
    action = "x" * (2 << 20)
    (seen,) = play(echo(WorldLimits(characters=8 << 20)), action)[1:]
    assert seen.text == f"1: {action}"


@pytest.mark.parametrize("action", ["caf\u00e9 \U0001f600", "two\nlines", 'a "quoted" one', "\u2028"])
def test_any_text_comes_through_as_it_is(action: str) -> None:
    assert play(echo(), action)[1].text == f"1: {action}"


def test_half_a_character_is_replaced_and_ends_nothing() -> None:
    assert [seen.text for seen in play(echo(), "a\ud800b", "look")[1:]] == ["1: a?b", "2: look"]


def test_a_world_that_does_not_start_is_trouble() -> None:
    assert "ModuleNotFoundError" in trouble(ProcessWorld("no_such_module:Echo", {}))
    assert "no answer within 1" in trouble(ProcessWorld(f"{WORLDS}:hanging", {}, WorldLimits(start_seconds=1.0)))
    assert "unexpected keyword" in trouble(ProcessWorld(f"{WORLDS}:Echo", {"second": 2}))


def test_no_step_without_an_episode() -> None:
    with pytest.raises(EnvironmentTrouble, match="reset the world first"):
        asyncio.run(echo().step("look"))


def test_after_trouble_a_reset_begins_anew() -> None:
    async def twice() -> Observation:
        world = echo()
        try:
            await world.reset(1)
            with pytest.raises(EnvironmentTrouble):
                await world.step("leave")
            return await world.reset(2)
        finally:
            await world.close()

    assert asyncio.run(twice()).text == "begin 2"


def test_what_is_left_out_of_a_long_observation_is_said() -> None:
    text = play(echo(WorldLimits(characters=1000)), "long")[1].text
    assert len(text) <= 1000
    head, _, rest = text.partition(" […")
    left_out, _, tail = rest.partition(" characters…] ")
    assert head == "a" * len(head)
    assert tail == "b" * len(tail)
    assert len(head) + int(left_out) + len(tail) == 10_000


def test_what_a_world_prints_does_not_disturb_the_conversation() -> None:
    assert play(echo(), "print", "look")[2].text == "2: look"


def test_an_episode_ends_after_its_most_steps_and_is_not_won_by_that() -> None:
    _, first, second, third = play(echo(WorldLimits(steps=2)), "look", "look", "win")
    assert not first.done
    assert second.done
    assert not second.won
    assert "2 actions are the most" in second.text
    assert third == second


def test_what_is_done_stays_done() -> None:
    _, won, after = play(echo(), "win", "leave")
    assert won.won
    assert after == won


def test_a_world_killed_in_the_middle_of_a_step_is_trouble() -> None:
    async def kill(world: ProcessWorld, pid: int, folder: Path) -> None:
        step = asyncio.create_task(world.step("wait"))
        while not (folder / "left-behind").exists():
            await asyncio.sleep(0.01)
        os.kill(pid, signal.SIGKILL)
        with pytest.raises(EnvironmentTrouble, match="SIGKILL"):
            await step

    pid, _ = in_process(kill)
    assert gone(pid)


def test_a_cancelled_step_ends_the_world() -> None:
    async def cancel(world: ProcessWorld, pid: int, folder: Path) -> None:
        step = asyncio.create_task(world.step("wait"))
        while not (folder / "left-behind").exists():
            await asyncio.sleep(0.01)
        step.cancel()
        with pytest.raises(asyncio.CancelledError):
            await step
        assert gone(pid)

    in_process(cancel)


def test_close_leaves_neither_process_nor_folder() -> None:
    async def nothing(world: ProcessWorld, pid: int, folder: Path) -> None:
        assert not gone(pid)
        assert folder.is_dir()

    pid, folder = in_process(nothing)
    assert gone(pid)
    assert not folder.exists()


def test_a_world_sees_none_of_our_secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-1")
    text = play(ProcessWorld(f"{WORLDS}:Inside", {}))[0].text
    assert "PATH" in text
    assert "OPENAI_API_KEY" not in text


def test_eight_worlds_go_on_at_the_same_time(tmp_path: Path) -> None:
    async def all_at_once() -> list[Observation]:
        worlds = [ProcessWorld(f"{WORLDS}:Meeting", {"folder": str(tmp_path), "expected": 8}) for _ in range(8)]
        try:
            await asyncio.gather(*(world.reset(0) for world in worlds))
            return await asyncio.gather(*(world.step("go") for world in worlds))
        finally:
            await asyncio.gather(*(world.close() for world in worlds))

    assert all(seen.won for seen in asyncio.run(all_at_once()))


def test_a_crashed_world_is_an_error_in_the_row_and_never_a_failure(tmp_path: Path) -> None:
    task = EpisodeTask(
        problem=Problem("echo", "Win.", "game"),
        feedback=EnvironmentReward(),
        grader=EnvironmentReward(),
        digest="1",
        environment=echo,
    )
    model = ScriptedModel.from_replies({"*": {"act": ["Action: look", "Action: segfault"], "reflect": ["Think."]}})

    async def run() -> None:
        with open_folder(tmp_path / "run", {"settings": {}}) as journal:
            await Runner(journal, model).run([task], [Arm("reflexion", make_strategy("reflexion"))])
            (row,) = rows(journal)
            assert row.solved is None
            assert row.stop == "error"
            assert "SIGSEGV" in (row.error or "")
            assert row.lessons == 0

    asyncio.run(run())
