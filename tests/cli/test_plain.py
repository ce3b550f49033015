"""Text of models in a terminal: nothing in it acts, and nothing in it hides."""

import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from hardwon.cli.plain import one_line, printable


@given(st.text(st.characters(exclude_categories=()), max_size=60))
def test_no_sign_that_acts_or_is_not_seen_is_left(text: str) -> None:
    safe = printable(text)
    assert all(c in "\n\t" or unicodedata.category(c) not in ("Cc", "Cs", "Cf") for c in safe)
    assert printable(safe) == safe
    assert "\n" not in one_line(text)


def test_signs_without_width_are_dropped_and_those_that_act_leave_a_mark() -> None:
    assert printable("pass\u200bword\u2060\ufeff\U000e0041\U000e007f") == "password"
    assert printable("a\x1b[31m\u202e") == "a\ufffd[31m\ufffd"
    assert printable("漢字 é 🙂") == "漢字 é 🙂"
