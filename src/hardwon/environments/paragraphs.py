"""Question answering over paragraphs: `Search`, `Lookup`, `Finish`, as in ReAct (Yao et al. 2023)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from hardwon.environments.bm25 import Bm25, folded
from hardwon.environments.protocol import Observation

TOOLS = """\
Search[title or words]: shows the paragraph with that title, or the one that fits the words best.
Lookup[word]: shows the next sentence with that word in the paragraph found last.
Finish[answer]: hands in the answer and ends the episode."""

_SIMILAR = 4
_LONGEST_ACTION = 1000


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A title and the sentences under it."""

    title: str
    sentences: tuple[str, ...]

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.sentences).split())


class Library:
    """Paragraphs that can be searched by title and by words; the index is built with the first search by words."""

    def __init__(self, paragraphs: Sequence[Paragraph]) -> None:
        self.paragraphs = tuple(dict.fromkeys(paragraphs))
        self._by_title: dict[str, Paragraph] = {}
        for paragraph in self.paragraphs:
            self._by_title.setdefault(folded(paragraph.title), paragraph)

    def titled(self, title: str) -> Paragraph | None:
        """The paragraph with this title, whatever its case and accents, in quotes or not; the first of several."""
        plain = folded(title)
        return self._by_title.get(plain) or self._by_title.get(plain.strip("\"'"))

    def search(self, words: str, most: int) -> list[Paragraph]:
        """The paragraphs that fit the words, best first."""
        return [self.paragraphs[place] for place in self._index.rank(words, most)]

    @cached_property
    def _index(self) -> Bm25:
        return Bm25(f"{paragraph.title} {paragraph.text}" for paragraph in self.paragraphs)


class ParagraphWorld:
    """One question's episode over a library: an `Environment`.

    Nothing here knows the right answer, so no episode is ever `won`: what was handed in is the observation's `answer`.
    """

    def __init__(self, library: Library) -> None:
        self._library = library
        self._page: Paragraph | None = None
        self._looked_up = ""
        self._shown = 0
        self._done = False

    async def reset(self, seed: int) -> Observation:
        """Forgets the page found last; there is no chance in this world."""
        self._page, self._looked_up, self._shown, self._done = None, "", 0, False
        return Observation("")

    async def step(self, action: str) -> Observation:
        """Never raises: an action that is none of the three is answered with what they are."""
        if self._done:
            return Observation("The episode is over.", done=True)
        name, argument = read_call(action[:_LONGEST_ACTION])
        if name in ("search", "lookup", "finish") and not argument:
            return Observation(f"{name.capitalize()}[] names nothing: put it between the brackets.")
        if name == "search":
            return Observation(self._search(argument))
        if name == "lookup":
            return Observation(self._lookup(argument))
        if name == "finish":
            self._done = True
            return Observation("The answer is handed in.", done=True, answer=argument)
        return Observation(
            "There is no such action. The actions are Search[…], Lookup[…] and Finish[…], one at a time."
        )

    async def close(self) -> None:
        """Nothing to free."""

    def _search(self, words: str) -> str:
        exact = self._library.titled(words)
        found = self._library.search(words, _SIMILAR + 1)
        if exact is None and not found:
            return f"Nothing is found for {words!r}. Search for a name or other words of the question."
        page = exact if exact is not None else found[0]
        self._page, self._looked_up, self._shown = page, "", 0
        if exact is not None:
            return f"{page.title}: {page.text}"
        others = "; ".join(paragraph.title for paragraph in found[1:])
        similar = f" (Similar titles: {others})" if others else ""
        return f"No paragraph has the title {words!r}. The best fit is {page.title}: {page.text}{similar}"

    def _lookup(self, word: str) -> str:
        if self._page is None:
            return "There is no paragraph to look in yet. Search first."
        sentences = [s.strip() for s in self._page.sentences if folded(word) in folded(s)]
        if folded(word) != self._looked_up:
            self._looked_up, self._shown = folded(word), 0
        if self._shown >= len(sentences):
            more = "more " if sentences else ""
            return f"{self._page.title} has no {more}sentences with {word!r}."
        self._shown += 1
        return f"(Result {self._shown} of {len(sentences)}) {sentences[self._shown - 1]}"


def read_call(action: str) -> tuple[str, str]:
    """`Name[argument]` as the name in lower case and the argument; what follows its closing bracket is dropped.

    An argument whose bracket is never closed goes to the end; without any bracket the argument is empty.
    """
    name, opened, rest = action.strip().partition("[")
    depth = 1 if opened else 0
    for place, sign in enumerate(rest):
        depth += (sign == "[") - (sign == "]")
        if depth == 0:
            rest = rest[:place]
            break
    return name.strip().casefold(), " ".join(rest.split())
