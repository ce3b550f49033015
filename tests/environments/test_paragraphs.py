"""The world of paragraphs: search by title and words, look up sentence by sentence, hand in an answer."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hardwon.environments.bm25 import Bm25, folded
from hardwon.environments.paragraphs import Library, Paragraph, ParagraphWorld, read_call
from hardwon.environments.protocol import Environment, Observation

PAGES = (
    Paragraph("Ålesund", ("Ålesund is a port in Norway.", " It burned down in 1904.", " The port was rebuilt.")),
    Paragraph("Fire of 1904", ("A fire destroyed much of a town.",)),
    Paragraph("Norway", ("Norway is a country.", " Its capital is Oslo.")),
)


def play(*actions: str, pages: Sequence[Paragraph] = PAGES) -> list[Observation]:
    async def episode() -> list[Observation]:
        world: Environment = ParagraphWorld(Library(pages))
        await world.reset(0)
        seen = [await world.step(action) for action in actions]
        await world.close()
        return seen

    return asyncio.run(episode())


@pytest.mark.parametrize("title", ["Ålesund", "ålesund", "Alesund", " ÅLESUND "])
def test_a_title_is_found_whatever_its_case_and_accents(title: str) -> None:
    (seen,) = play(f"Search[{title}]")
    assert seen.text == "Ålesund: Ålesund is a port in Norway. It burned down in 1904. The port was rebuilt."
    assert not seen.done


@pytest.mark.parametrize(
    ("title", "asked"),
    [
        ("Simon &amp; Garfunkel", "Simon & Garfunkel"),
        ("Ain’t No River", "Ain't No River"),
        ("Møller", "Moller"),
        ("Łódź", "Lodz"),
        ("1914–18", "1914-18"),
        ("Paris", '"Paris"'),
        ("Paris", "'Paris'"),
        ("“Heroes”", '"Heroes"'),
    ],
)
def test_a_title_is_found_as_a_keyboard_without_its_signs_writes_it(title: str, asked: str) -> None:
    (seen,) = play(f"Search[{asked}]", pages=[Paragraph(title, ("A text.",)), Paragraph("Other", ("More.",))])
    assert seen.text == f"{title}: A text."


def test_words_find_the_best_paragraph_and_name_others() -> None:
    (seen,) = play("Search[capital of Norway]")
    assert "No paragraph has the title 'capital of Norway'" in seen.text
    assert "The best fit is Norway:" in seen.text
    assert "(Similar titles:" in seen.text
    assert "Nothing is found" in play("Search[xyzzy]")[0].text


def test_lookup_goes_from_sentence_to_sentence_and_starts_anew_on_another_page() -> None:
    texts = [
        o.text for o in play("Lookup[port]", "Search[Ålesund]", *["Lookup[PORT]"] * 3, "Search[Norway]", "Lookup[port]")
    ]
    assert "Search first" in texts[0]
    assert texts[2] == "(Result 1 of 2) Ålesund is a port in Norway."
    assert texts[3] == "(Result 2 of 2) The port was rebuilt."
    assert "no more sentences" in texts[4]
    assert "no sentences with 'port'" in texts[6]


def test_finish_hands_in_the_answer_and_nothing_counts_after_it() -> None:
    handed, late = play("finish[Oslo]", "Search[Norway]")
    assert (handed.answer, handed.done, handed.won) == ("Oslo", True, False)
    assert late.done
    assert "over" in late.text


@pytest.mark.parametrize(
    "action", ["", "go north", "Search", "Search[]", "Finish[ ]", "Delete[x]", "[", "]", "Ask[[x]]"]
)
def test_an_action_that_is_none_is_answered_and_ends_nothing(action: str) -> None:
    (seen,) = play(action)
    assert not seen.done
    assert seen.answer is None
    assert "Search[" in seen.text or "[] names nothing" in seen.text


@pytest.mark.parametrize(
    ("action", "read"),
    [
        ("Search[a b]", ("search", "a b")),
        ("  Search [ List of [x] ] then", ("search", "List of [x]")),
        ("Finish[Paris", ("finish", "Paris")),
        ("Lookup", ("lookup", "")),
    ],
)
def test_a_call_is_read_to_its_own_closing_bracket(action: str, read: tuple[str, str]) -> None:
    assert read_call(action) == read


@given(st.text(max_size=60))
def test_any_action_is_answered(action: str) -> None:
    assert play(action)[0].text


def test_the_same_paragraph_twice_is_there_once_and_the_first_of_a_title_is_found() -> None:
    other = Paragraph("Norway", ("Another text.",))
    library = Library([*PAGES, *PAGES, other])
    assert library.paragraphs == (*PAGES, other)
    assert library.titled("norway") == PAGES[2]


def test_rare_words_and_short_texts_rank_first_and_ties_keep_their_order() -> None:
    index = Bm25(["common rare", "common", "common common filler filler filler", "common rare", "other"])
    assert index.rank("rare common", 9)[:2] == [0, 3]
    assert index.rank("rare", 1) == [0]
    assert 4 not in index.rank("common", 9)
    assert index.rank("", 3) == []
    assert Bm25([]).rank("x", 3) == []


@given(st.lists(st.text(alphabet="ab c", max_size=12), max_size=6), st.text(alphabet="abc ", max_size=8))
def test_a_rank_holds_each_text_that_shares_a_word_once(texts: list[str], query: str) -> None:
    wanted = {n for n, text in enumerate(texts) if set(text.split()) & set(query.split())}
    ranked = Bm25(texts).rank(query, len(texts))
    assert sorted(ranked) == sorted(wanted)


@given(st.text(max_size=30))
def test_folding_twice_changes_nothing_for_plain_texts(text: str) -> None:
    plain = folded(text)
    assert " ".join(plain.split()) == plain
