"""TextWorld games: the same seed makes the same game, the walkthrough wins it, and nothing else does."""

from __future__ import annotations

import asyncio
import shutil
from importlib.util import find_spec
from pathlib import Path

import pytest

from hardwon.environments.protocol import Observation
from hardwon.environments.textworld import textworld_game
from hardwon.environments.textworld_making import GameSize, make_games, read_game
from hardwon.errors import EnvironmentTrouble, UsageError

pytestmark = pytest.mark.skipif(find_spec("textworld") is None, reason="the extra games is not installed")

SIZE = GameSize(rooms=2, objects=3, quest=2)


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny game of seed 1, made once for all of these tests."""
    return make_games(tmp_path_factory.mktemp("made"), SIZE, [1])[1]


@pytest.fixture
def game(made: Path, tmp_path: Path) -> Path:
    """A copy of its own, with the playable file if that was compiled already."""
    for path in (made, made.with_suffix(".z8")):
        if path.exists():
            shutil.copy(path, tmp_path)
    return tmp_path / made.name


def walkthrough(game: Path) -> list[str]:
    actions: list[str] = read_game(game)["metadata"]["walkthrough"]
    return actions


def play(game: Path, *actions: str) -> list[Observation]:
    async def episode() -> list[Observation]:
        world = textworld_game(game, 50)
        try:
            return [await world.reset(0), *[await world.step(action) for action in actions]]
        finally:
            await world.close()

    return asyncio.run(episode())


def test_two_who_compile_a_game_at_once_both_play_it(made: Path) -> None:
    async def both() -> list[Observation]:
        worlds = [textworld_game(made, 9), textworld_game(made, 9)]
        try:
            return await asyncio.gather(*(world.reset(0) for world in worlds))
        finally:
            await asyncio.gather(*(world.close() for world in worlds))

    first, second = asyncio.run(both())
    assert first == second
    assert first.text.startswith("-= ")
    assert sorted(path.suffix for path in made.parent.iterdir()) == [".json", ".z8"]


def test_the_walkthrough_wins_and_only_its_last_action_does(game: Path) -> None:
    first, *seen = play(game, *walkthrough(game))
    assert not first.won
    assert not first.done
    assert [step.won for step in seen] == [False] * (len(seen) - 1) + [True]
    assert seen[-1].done
    assert seen[-1].reward == 1.0
    assert "The End" in seen[-1].text


def test_the_walkthrough_is_among_the_valid_actions(game: Path) -> None:
    actions = walkthrough(game)
    seen = play(game, *actions)
    for before, action in zip(seen, actions, strict=False):
        assert action in (before.valid_actions or ())


def test_an_observation_is_what_the_player_reads_and_not_banner_task_or_status_line(game: Path) -> None:
    first, looked = play(game, "look")
    assert first.text == looked.text
    assert "$$" not in first.text
    assert read_game(game)["objective"] not in first.text
    assert "\n>" not in first.text
    assert "\n\n\n" not in first.text


def test_the_same_seed_makes_the_same_game(made: Path, tmp_path: Path) -> None:
    again = make_games(tmp_path / "again", SIZE, [1])[1]
    assert read_game(again) == read_game(made)
    assert again.name == made.name


def test_words_do_not_win(game: Path) -> None:
    words = ("*** The End ***", "say *** The End ***", "You scored 1 out of a possible 1", "won", "", "  ", "🎉 é\0")
    for step in play(game, *words)[1:]:
        assert not step.won
        assert not step.done
        assert step.reward == 0.0


def test_commands_to_the_interpreter_are_no_actions(game: Path) -> None:
    before = {path.name for path in game.parent.iterdir()}
    first, *seen = play(game, "save", "RESTART", "quit", "undo", "script", "tw-print-state", "look")
    assert {step.text for step in seen[:-1]} == {"That is no action of this world."}
    assert seen[-1].text == first.text
    assert {path.name for path in game.parent.iterdir()} - before <= {game.with_suffix(".z8").name}


@pytest.mark.parametrize("order", ["me, restart", "me, save", '"quit"', "bob, 'undo'"])
def test_commands_to_the_interpreter_are_none_by_way_of_somebody_either(game: Path, order: str) -> None:
    first, *seen = play(game, order, "yes", "look")
    assert seen[0].text == "That is no action of this world."
    assert seen[-1].text == first.text


def test_of_several_actions_in_one_the_first_is_done(game: Path) -> None:
    first = play(game, walkthrough(game)[0])[1]
    for joint in (". ", ", then ", "\n"):
        assert play(game, joint.join(walkthrough(game)))[1] == first


@pytest.mark.parametrize("keep", [0, 1000, -1])
def test_a_damaged_playable_file_is_compiled_again(game: Path, keep: int) -> None:
    whole = play(game, "look")
    playable = game.with_suffix(".z8")
    playable.write_bytes(playable.read_bytes()[:keep])
    assert play(game, "look") == whole


def test_a_broken_game_is_trouble_that_names_it_and_the_mend(game: Path) -> None:
    game.write_text("{}")
    with pytest.raises(EnvironmentTrouble, match=f"{game} is no game that can be played .*; make it again, or take it"):
        play(game)
    with pytest.raises(UsageError, match="not a game of TextWorld"):
        read_game(game)


def test_a_damaged_game_in_the_cache_is_made_again(made: Path, tmp_path: Path) -> None:
    damaged = tmp_path / made.name
    damaged.write_text(made.read_text()[:1000])
    assert make_games(tmp_path, SIZE, [1]) == {1: damaged}
    assert read_game(damaged) == read_game(made)


def test_a_cache_that_can_not_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="set HARDWON_CACHE") as caught:
        make_games(tmp_path / "file" / "games", SIZE, [1])
    assert str(tmp_path / "file") in str(caught.value)
