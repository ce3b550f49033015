"""Texts of models and programs: shown for what they are, escaped, bounded."""

import unicodedata

from hypothesis import given
from hypothesis import strategies as st
from markupsafe import Markup

from hardwon.view.carried import carried
from hardwon.view.change import changes
from hardwon.view.colours import coloured
from hardwon.view.text import cut, shown

ANY = st.text(st.characters(exclude_categories=()), max_size=80)


@given(ANY)
def test_no_control_character_or_direction_mark_is_left(text: str) -> None:
    safe = shown(text)
    assert all(c in "\n\t" or unicodedata.category(c) not in ("Cc", "Cs") for c in safe)
    assert not set(safe) & set("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f\u061c")
    assert shown(safe) == safe
    safe.encode()


def test_ordinary_text_of_any_script_stays_as_it_is() -> None:
    for text in ("if x < 1:\n\treturn 'é'", "שלום עולם", "می‌خواهم", "漢字", "👩‍🔬"):
        assert shown(text) == text


def test_what_looks_like_a_providers_key_is_left_out() -> None:
    assert shown("Incorrect API key provided: sk-proj-abcdefghijklmnopqrstuv") == "Incorrect API key provided: ‹key›"
    assert shown("skip_whitespace_and_comments_everywhere") == "skip_whitespace_and_comments_everywhere"


def test_keys_of_code_hosts_and_clouds_are_left_out() -> None:
    for key in (
        *(f"gh{kind}_{'a1' * 18}" for kind in "pousr"),
        f"github_pat_{'a1_' * 27}a",
        f"AKIA{'B2' * 8}",
        f"glpat-{'a-1' * 7}",
    ):
        assert shown(key) == "‹key›"
        assert shown(f"token {key} refused") == "token ‹key› refused"
    assert shown("ghost_writers_of_the_nineteenth_century") == "ghost_writers_of_the_nineteenth_century"


@given(ANY)
def test_coloured_programs_are_escaped(text: str) -> None:
    for language in ("python", "diff", "text"):
        plain = coloured(text, language)  # type: ignore[arg-type]
        assert "<" not in Markup(plain).striptags() or "&lt;" in plain
        assert plain.count("<") == plain.count("<span") + plain.count("</span>")


def test_a_huge_line_is_cut_and_says_so() -> None:
    assert cut("x" * 100, 10) == "x" * 10 + "\n… 90 characters more, in the journal"
    assert len(coloured("x = '" + "y" * 5_000_000 + "'", "python")) < 100_000


@given(st.lists(st.sampled_from("abcd"), max_size=12), st.lists(st.sampled_from("abcd"), max_size=12))
def test_a_difference_holds_every_line_that_came_or_went(before: list[str], after: list[str]) -> None:
    found = changes("\n".join(before), "\n".join(after))
    old, new = "\n".join(before).splitlines(), "\n".join(after).splitlines()
    assert bool(found) == (old != new)
    gone = [line.text for line in found if line.kind == "gone"]
    came = [line.text for line in found if line.kind == "new"]
    assert len(new) - len(old) == len(came) - len(gone)
    assert set(gone) <= set(old)
    assert set(came) <= set(new)
    if found and not any(line.kind == "gap" for line in found):
        assert [line.text for line in found if line.kind != "gone"] == new
        assert [line.text for line in found if line.kind != "new"] == old


@given(st.text("ab \n", max_size=60), st.text("ab \n", max_size=60))
def test_the_parts_of_a_lesson_are_the_lesson(lesson: str, prompt: str) -> None:
    parts = carried(lesson, prompt)
    assert "".join(text for text, _ in parts).rstrip() == (lesson.rstrip() if lesson.strip() else "")


def test_words_that_the_next_prompt_carried_are_told_from_those_it_left_out() -> None:
    lesson = "Guard against the empty list first. Then sort whatever is left over."
    assert carried(lesson, f"Lessons:\n- {lesson}\nGo.") == [(lesson, True)]
    assert carried(lesson, "Nothing of the kind.") == [(lesson, False)]
    parts = carried(lesson, "Remember: guard Guard against the empty list first. Done.")
    assert parts == [("Guard against the empty list first.", True), (" Then sort whatever is left over.", False)]
