"""A comparison's faces: readable in 80 columns, safe to open, and the same picture for the same numbers."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from PIL import Image
from tests.runs.compared import any_rows, arm_rows

from hardwon.errors import UsageError
from hardwon.runs.comparison import Comparison, as_html, as_json, as_markdown, as_table, compare, draw
from hardwon.runs.comparison.chart import ticks
from hardwon.runs.row import Point, Row

ARMS = ("best_of_n", "reflexion", "last_attempt_and_reflection", "ab_mcts", "auto", "placebo", "tree_of_thoughts")
CONFIG: dict[str, Any] = {"settings": {"suite": "humaneval", "model": "local:qwen2.5-coder-0.5b", "seeds": [0, 1]}}
EVIL = '<script>alert("1")</script>&amp;|$x^{2}$'


def rows() -> list[Row]:
    made = [r for s in range(2) for r in arm_rows("single", [t % 2 == 0 for t in range(30)], seed=s, tokens=90_000)]
    for i, arm in enumerate(ARMS):
        for seed in range(2):
            solved = [None if t == i else t % 2 == 0 or t % (i + 3) == seed for t in range(30)]
            made += arm_rows(arm, solved, seed=seed, tokens=100_000 + 999_999 * i, cost_usd=0.12345 * i)
    return [replace(r, feedback="oracle") if r.arm == "auto" else r for r in made]


@pytest.fixture(scope="module")
def comparison() -> Comparison:
    return compare(rows(), "single", {"tokens": 8_000_000}, resamples=200)


def test_the_table_fits_80_columns_with_an_arm_a_line(comparison: Comparison) -> None:
    lines = as_table(CONFIG, comparison).splitlines()
    assert lines[0] == "humaneval · local:qwen2.5-coder-0.5b · tokens=8_000_000 for each task · seeds 0, 1"
    assert max(len(line) for line in lines[1:]) <= 80
    for arm in ("single", *ARMS):
        assert sum(line.startswith(f"{arm} ") for line in lines) >= 4
    assert re.search(r"^single +30/60 +50\.0% +33\.2 to 66\.8 +grounded$", as_table(CONFIG, comparison), re.MULTILINE)


def test_rows_over_the_token_budget_are_remarked_upon() -> None:
    made = [*arm_rows("single", [True, False], tokens=100), *arm_rows("loop", [True, True], tokens=1103)]
    (remark,) = [
        said for said in compare(made, "single", {"tokens": 1000}, resamples=20).remarks if "went over" in said
    ]
    assert remark.startswith("2 of 4 rows went over the budget of 1,000 tokens, by at most 103: the provider counted")
    assert not any("went over" in said for said in compare(made, "single", {"tokens": 1103}, resamples=20).remarks)
    assert not any("went over" in said for said in compare(made, "single", {"calls": 1}, resamples=20).remarks)


def test_every_table_with_an_oracle_arm_says_so(comparison: Comparison) -> None:
    blocks = as_markdown(CONFIG, comparison).split("**")[1:]
    tables = ["".join(block) for block in zip(blocks[::2], blocks[1::2], strict=True)]
    assert len(tables) == 5
    assert all("oracle feedback" in table for table in tables)
    assert re.search(r"auto \([\d.]+%, oracle feedback\)</li>", as_html(CONFIG, comparison))


def test_json_holds_the_settings_and_every_number(comparison: Comparison) -> None:
    read = json.loads(as_json(CONFIG, comparison))
    assert read["settings"] == CONFIG["settings"]
    assert [arm["arm"] for arm in read["arms"]] == ["single", *ARMS]
    assert read["differences"][0]["sentence"] == comparison.differences[0].sentence
    assert len(read["arms"][0]["curve"]["at"]) == len(read["arms"][0]["curve"]["rate"]) <= 200


class Page(HTMLParser):
    """Collects what a page refers to and shows, and checks that its elements close."""

    VOID = frozenset({"meta", "circle", "line", "path", "br"})

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def parsed(html: str) -> Page:
    page = Page()
    page.feed(html)
    page.close()
    assert page.open == []
    return page


def test_the_page_needs_nothing_from_outside_and_runs_nothing(comparison: Comparison) -> None:
    html = as_html(CONFIG, comparison)
    page = parsed(html)
    assert not {"script", "link", "img", "iframe", "object", "base", "a", "form"} & set(page.tags)
    assert not {name for name, _ in page.attributes} & {"src", "href", "xlink:href", "action", "srcset"}
    assert not any(name.startswith("on") for name, _ in page.attributes)
    assert not re.search(r"https?:|url\(|@import", html)
    assert ("content", "default-src 'none'; style-src 'unsafe-inline'") in page.attributes
    assert "prefers-color-scheme: dark" in html
    assert page.tags.count("table") == page.tags.count("caption") == 5
    assert page.attributes.count(("scope", "row")) == 4 * 8 + 7
    for found in comparison.differences:
        assert found.sentence in page.text


def test_hostile_names_are_shown_and_not_obeyed(tmp_path: Path) -> None:
    found = compare([*arm_rows("single", [True, False]), *arm_rows(EVIL, [True, None])], "single", {"tokens": 200})
    config = {"settings": {"suite": EVIL, "model": EVIL, "seeds": [0], "note": EVIL}}
    page = parsed(as_html(config, found))
    assert "script" not in page.tags
    assert page.text.count(EVIL) > 8
    markdown = as_markdown(config, found)
    assert "<script" not in markdown
    assert len({line.count("|") - line.count("\\|") for line in markdown.splitlines() if line.startswith("| ")}) <= 4
    draw(found, tmp_path / "evil.svg")
    assert b"<script" not in (tmp_path / "evil.svg").read_bytes()


def test_a_single_arm_or_nothing_graded_still_has_every_face(tmp_path: Path) -> None:
    for found in (
        compare(arm_rows("_single", [True, False]), "_single", {}),
        compare(arm_rows("single", [None, None]), "single", {"calls": 3}),
    ):
        assert as_table({}, found).startswith("? · ? · ")
        parsed(as_html({}, found))
        assert "\n- " in as_markdown({}, found)
        assert json.loads(as_json({}, found))["differences"] == []
        draw(found, tmp_path / "one.png")


@settings(max_examples=40, deadline=None)
@given(any_rows())
def test_whatever_a_run_leaves_behind_can_be_shown(rows: list[Row]) -> None:
    for budget in ({"tokens": 30}, {"usd": 0.25}):
        found = compare(rows, "base", budget, resamples=20)
        page = parsed(as_html(CONFIG, found))
        paths = [value for name, value in page.attributes if name == "d"]
        assert len(paths) == len(found.arms)
        assert all(re.fullmatch(r"(M[\d.]+ [\d.]+|H[\d.]+|V[\d.]+)*", path or "") for path in paths)
        assert as_table(CONFIG, found)


def test_a_gap_in_what_is_known_is_a_gap_in_the_line() -> None:
    unknown = (Point(1, 10, None, 1, None), Point(2, 20, None, 2, True))
    page = parsed(as_html({}, compare(arm_rows("a", [True], tokens=40, curve=unknown), "a", {"tokens": 40})))
    (path,) = [value for name, value in page.attributes if name == "d"]
    assert path is not None
    assert re.fullmatch(r"M56 352H\S+M\S+ 12H\S+", path)


def test_pictures_are_what_their_names_say(comparison: Comparison, tmp_path: Path) -> None:
    draw(comparison, tmp_path / "curves.png")
    draw(comparison, tmp_path / "curves.svg")
    with Image.open(tmp_path / "curves.png") as image:
        image.load()
        assert (image.format, image.size) == ("PNG", (1200, 750))
    root = ElementTree.parse(tmp_path / "curves.svg").getroot()
    assert root.tag == "{http://www.w3.org/2000/svg}svg"


def test_equal_numbers_draw_equal_files(comparison: Comparison, tmp_path: Path) -> None:
    for name in ("a.svg", "b.svg", "a.png", "b.png"):
        draw(comparison, tmp_path / name)
    for suffix in ("svg", "png"):
        assert (tmp_path / f"a.{suffix}").read_bytes() == (tmp_path / f"b.{suffix}").read_bytes()
    assert b"<dc:date>" not in (tmp_path / "a.svg").read_bytes()


def test_what_can_not_be_drawn_is_a_usage_error(comparison: Comparison, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"curves\.pdf: pictures are PNG or SVG"):
        draw(comparison, tmp_path / "curves.pdf")
    with pytest.raises(UsageError, match=r"curves\.png: can not be written \(No such file"):
        draw(comparison, tmp_path / "nowhere" / "curves.png")


@pytest.mark.parametrize("end", [0.1, 0.35, 1.0, 7.0, 40.0, 3033.0, 8e6, 0.00042])
def test_axes_have_a_few_round_marks(end: float) -> None:
    marks = ticks(end)
    assert 3 <= len(marks) <= 7
    assert marks[0] == 0
    assert marks[-1] <= end * 1.000001
