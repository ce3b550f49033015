"""Credit: known effects lie within their intervals at the stated rate, noise is told as noise, and harm is put away."""

import random
from pathlib import Path

import pytest
from tests.memory.banks import item

from hardwon.memory.bank.credit import difference, effects
from hardwon.memory.bank.curation import apply, current, measured, review
from hardwon.memory.bank.sqlite import SqliteBank
from hardwon.memory.bank.store import Episode, Outcome, Use

RUNS = 200
WORLD = {"A": 0.25, "B": -0.2, "C": 0.0}


def world(source: random.Random, lifts: dict[str, float], tasks: int, share: float = 0.2) -> list[Outcome]:
    """Tasks that each recall every item, and are won with a chance that the shown ones move."""
    found = []
    for n in range(tasks):
        shown = {name: source.random() >= share for name in lifts}
        won = source.random() < 0.5 + sum(lift for name, lift in lifts.items() if shown[name])
        found += [Outcome(name, f"t{n}", shown[name], won, 100) for name in lifts]
    return found


def test_known_effects_lie_within_their_intervals_at_the_stated_rate() -> None:
    source = random.Random(6)
    inside = dict.fromkeys(WORLD, 0)
    words = {name: [0, 0, 0] for name in WORLD}
    for _ in range(RUNS):
        found = effects(world(source, WORLD, 300))
        for name, lift in WORLD.items():
            low, high = found[name].interval
            inside[name] += low <= lift <= high
            words[name][["helps", "harms", "no effect shown"].index(found[name].word)] += 1
    assert all(count >= 0.91 * RUNS for count in inside.values()), inside  # 95 % less two standard errors and a half
    assert words["A"][0] > 0.5 * RUNS
    assert words["A"][1] == words["B"][0] == 0
    assert words["B"][1] > 0.3 * RUNS
    assert words["C"][2] >= 0.94 * RUNS


def test_a_bank_of_pure_noise_is_told_as_noise_at_the_stated_rate() -> None:
    source = random.Random(7)
    noise = {f"n{k}": 0.0 for k in range(10)}
    clean = sum(
        all(e.word == "no effect shown" for e in effects(world(source, noise, 150)).values()) for _ in range(RUNS)
    )
    assert clean >= 0.91 * RUNS


def test_an_item_that_was_never_withheld_has_no_measured_effect() -> None:
    (effect,) = effects([Outcome("x", "t", True, True, 5)]).values()
    assert (effect.lift, effect.interval, effect.tokens, effect.word) == (None, (-1.0, 1.0), None, "no effect shown")
    assert difference([], [Outcome("x", "t", False, True, 5)]) == (-1.0, 1.0)


def test_repeating_the_same_tasks_does_not_pass_for_more_evidence() -> None:
    once = [Outcome("x", f"t{n}", n % 2 == 0, n % 4 < 3 - n % 3, 5) for n in range(60)]
    (one,), (many,) = effects(once).values(), effects(once * 5).values()
    assert many.lift == one.lift
    assert many.interval == pytest.approx(one.interval, abs=0.02)


def filled(place: Path, outcomes: list[Outcome], ids: dict[str, str]) -> SqliteBank:
    bank = SqliteBank(place / "bank.sqlite")
    by_task: dict[str, list[Outcome]] = {}
    for outcome in outcomes:
        by_task.setdefault(outcome.task, []).append(outcome)
    for task, found in by_task.items():
        uses = [Use(ids[o.item_id], o.shown, n, 0.5) for n, o in enumerate(found, 1)]
        bank.admit(Episode("r", task, "a", 0, found[0].won, 100), [], uses)
    return bank


def test_a_review_quarantines_harm_and_confirms_help_and_spares_what_is_pinned(tmp_path: Path) -> None:
    items = {
        "A": item("Alpha walrus", "Feed the walrus at dawn."),
        "B": item("Beta otter", "Count each otter twice."),
        "P": item("Pinned heron", "Photograph the heron.", state="pinned"),
        "C": item("Gamma lynx", "Look behind the lynx."),
    }
    ids = {name: kept.id for name, kept in items.items()}
    lifts = {"A": 0.3, "B": -0.35, "P": -0.1, "C": 0.0}
    bank = filled(tmp_path, world(random.Random(1), lifts, 600), ids)
    bank.write(items.values(), "added")
    findings = review(bank)
    assert {(f.item.id, f.change) for f in findings} == {(ids["A"], "active"), (ids["B"], "quarantined")}
    assert apply(bank, findings) == 2
    assert {i.id: i.state for i in current(bank)} == {
        ids["A"]: "active", ids["B"]: "quarantined", ids["P"]: "pinned", ids["C"]: "provisional"
    }  # fmt: skip
    assert apply(bank, review(bank)) == 0


def test_what_is_never_relevant_is_retired(tmp_path: Path) -> None:
    bank = SqliteBank(tmp_path / "bank.sqlite")
    used, unused = item("Used walrus", "Feed it."), item("Unused otter", "Count it.")
    bank.write([used, unused], "added")
    for n in range(5):
        bank.admit(Episode("r", f"t{n}", "a", 0, True, 1), [], [Use(used.id, True, 1, 0.5)])
    assert [(f.item.id, f.kind, f.change) for f in review(bank, idle=5)] == [(unused.id, "idle", "superseded")]


def test_duplicates_and_contradictions_are_said_and_merging_moves_the_credit(tmp_path: Path) -> None:
    bank = SqliteBank(tmp_path / "bank.sqlite")
    one = item("Sort before scanning", "Always sort the intervals by their start before scanning them.", task="1")
    twin = item("Sort before scanning", "Always sort the intervals by their start before scanning.", task="2")
    against = item("Sort before scanning", "Never sort the intervals by their start before scanning them.", task="3")
    bank.write([one, twin, against], "added")
    bank.admit(Episode("r", "t", "a", 0, True, 9), [], [Use(twin.id, True, 1, 0.5)])
    assert {f.kind for f in review(bank)} == {"duplicate", "contradiction"}
    assert apply(bank, review(bank)) == 2
    kept = next(i for i in current(bank) if i.supersedes)
    gone = next(i for i in current(bank) if i.state == "superseded")
    assert {kept.id, gone.id} == {one.id, twin.id}
    assert (kept.supersedes, kept.state) == ((gone.id,), "active")
    (effect,) = measured(bank).values()
    assert (effect.item_id, effect.shown.of) == (kept.id, 1)
