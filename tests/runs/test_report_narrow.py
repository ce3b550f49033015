"""Reports in little room: nothing is wider than the terminal, and nothing is lost."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.runs.compared import arm_rows

from hardwon.runs.comparison import compare
from hardwon.runs.report import as_table, facts
from hardwon.runs.report_fold import fold, pairs, table
from hardwon.runs.report_narrow import as_narrow_table
from hardwon.runs.summary import summarise

CONFIG = {"settings": {"suite": "starter-repos", "model": "openai:a-model-with-a-long-name", "seed": 0}}
TEXT = st.text("abc 1-", min_size=1, max_size=60).map(lambda text: " ".join(text.split())).filter(bool)


def bare(text: str) -> str:
    return "".join(text.split())


@given(TEXT, st.integers(4, 80))
def test_a_folded_text_fits_and_holds_every_sign(text: str, width: int) -> None:
    lines = fold(text, width)
    assert max(map(len, lines)) <= width
    assert bare("".join(lines)) == bare(text)
    assert fold(text, None) == [text]


@given(st.lists(st.tuples(TEXT, TEXT), min_size=1, max_size=4), st.integers(8, 100))
def test_labels_and_values_fit_and_hold_every_sign(found: list[tuple[str, str]], width: int) -> None:
    lines = pairs(found, width)
    assert max(map(len, lines)) <= width
    assert sorted(bare("".join(lines))) == sorted(bare("".join(label + value for label, value in found)))


@given(st.lists(st.tuples(TEXT, TEXT, TEXT), min_size=1, max_size=4), st.integers(8, 100))
def test_a_table_fits_and_holds_every_cell(rows: list[tuple[str, str, str]], width: int) -> None:
    lines = table(("arm", "x", "y"), rows, width)
    assert max(map(len, lines)) <= width
    held = bare("".join(lines))
    assert all(bare(cell) in held for row in rows for cell in row if width > 70)
    assert len(bare("".join(map("".join, rows)))) <= len(held)


@pytest.mark.parametrize("width", [40, 50, 60, 79])
def test_a_report_fits_terminals_of_40_columns_and_more(width: int) -> None:
    rows = [replace(row, feedback="oracle", trials=2) for row in arm_rows("reflexion", [True, False] * 20)]
    for several in (rows, rows + arm_rows("single", [False] * 40)):
        told = as_table(CONFIG, summarise(several), width=width)
        assert max(map(len, told.splitlines())) <= width
        assert "reflexion(oraclefeedback)" in bare(told)
        assert all(bare(value) in bare(told) for _, values in facts(summarise(several)) for value in values)


@pytest.mark.parametrize("width", [40, 60])
def test_a_comparison_fits_them_too_and_keeps_its_verdicts(width: int) -> None:
    rows = [*arm_rows("single", [True, False] * 10), *arm_rows("last_attempt_and_reflection", [True] * 20)]
    compared = compare(rows, "single", {"tokens": 8_000}, resamples=100)
    told = as_narrow_table(CONFIG, compared, width)
    assert max(map(len, told.splitlines())) <= width
    assert bare(compared.differences[0].sentence) in bare(told)
    assert told.count("last_attempt_and_reflection\n") >= 4
