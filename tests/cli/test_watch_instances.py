"""The table of a batch fits the terminal, whatever it is of."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from hardwon.cli.watch_instances import instance_table, summary
from hardwon.runs.instances import Instance, Standing
from hardwon.runs.journal import Key
from hardwon.runs.stages import ORDER


def instances(names: st.SearchStrategy[str]) -> st.SearchStrategy[Instance]:
    keys = st.builds(Key, names, st.sampled_from(["single", "reflexion:trials=5"]), st.integers(0, 3))
    costs = st.none() | st.floats(0, 5000)
    return st.builds(
        Instance,
        keys,
        st.sampled_from(ORDER),
        *[st.integers(0, 200)] * 2,
        st.integers(0, 10**9),
        costs,
        st.floats(0, 1e6),
    )


def standing(working: list[Instance], **other: object) -> Standing:
    known = {"solved": 3, "unsolved": 2, "ungraded": 0, "errors": 1, "tokens": 12_345, "cost_usd": 1.5, "stages": {}}
    return Standing(total=500, working=tuple(working), **{**known, **other})  # type: ignore[arg-type]


@given(st.lists(instances(st.text(max_size=60)), max_size=12), st.integers(4, 160), st.integers(2, 40))
def test_it_is_never_wider_or_higher_than_the_terminal_and_nothing_in_it_acts(
    working: list[Instance], width: int, height: int
) -> None:
    lines = instance_table(standing(working), width, height)
    assert len(lines) <= height
    assert max(map(cell_len, lines)) <= width
    assert not re.search(r"[\x00-\x1f\x7f-\x9f\u202a-\u202e]", "".join(lines))


@given(st.lists(instances(st.sampled_from(["django__django-11099", "astropy__astropy-7746"])), min_size=1, max_size=30))
def test_every_instance_is_shown_or_counted(working: list[Instance]) -> None:
    lines = instance_table(standing(working), 120, 16)
    shown = sum("__" in line for line in lines)
    more = re.fullmatch(r"and (\d+) more in work", lines[-1])
    assert shown + (int(more[1]) if more else 0) == len(working)


def test_forty_columns_have_room_for_stage_step_and_cost() -> None:
    work = [Instance(Key("django__django-11099", "single", 0), "workspace ready", 2, 17, 123_456, 0.5, 75.0)]
    wide, narrow = instance_table(standing(work), 100, 10), instance_table(standing(work), 40, 10)
    assert wide[1].split() == ["instance", "stage", "trial", "step", "cost", "time"]
    assert wide[2] == "django__django-11099  workspace ready      2    17  $0.5000  1:15"
    assert re.fullmatch(r"…\S+-11099 +ready +17 +\$0\.5000", narrow[-1])


def test_the_summary_says_what_is_unknown() -> None:
    assert summary(standing([])) == (
        "6 of 500 finished (3 solved, 2 not solved, 1 error) · 0 in work · 494 waiting · 12k tokens · $1.50"
    )
    assert summary(standing([], cost_usd=None)).endswith("$?")
    assert summary(standing([], cost_usd=0.0)).endswith("12k tokens")
