"""BM25 over short texts (Robertson & Zaragoza 2009), in plain Python: enough for the paragraphs of a data file."""

from __future__ import annotations

import html
import math
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

_WORD = re.compile(r"\w+")
_K1, _B = 1.2, 0.75
_PLAIN = str.maketrans(
    {"’": "'", "‘": "'", "“": '"', "”": '"', "–": "-", "—": "-", "‐": "-", "ø": "o", "ł": "l", "đ": "d", "ð": "d",
     "æ": "ae", "œ": "oe", "ı": "i", "þ": "th"}
)  # fmt: skip
"""Letters and signs that have no decomposition, as a keyboard without them writes them."""


def folded(text: str) -> str:
    """One spelling for texts that a reader takes for the same.

    Case, accents, width, spaces, the kind of a quote or dash, and the entities that HTML left make no difference.
    """
    plain = unicodedata.normalize("NFKD", html.unescape(text).casefold()).translate(_PLAIN)
    return " ".join("".join(sign for sign in plain if not unicodedata.combining(sign)).split())


class Bm25:
    """An index of texts that never changes."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._places: defaultdict[str, list[tuple[int, int]]] = defaultdict(list)
        lengths = []
        for place, text in enumerate(texts):
            counts = Counter(words(text))
            lengths.append(counts.total())
            for word, count in counts.items():
                self._places[word].append((place, count))
        mean = sum(lengths) / len(lengths) if lengths else 0.0
        self._damping = [_K1 * (1 - _B + _B * length / mean) if mean else _K1 for length in lengths]

    def rank(self, query: str, most: int) -> list[int]:
        """The positions of the texts that share a word with `query`, best first, at most `most`; earlier ones first."""
        scores: defaultdict[int, float] = defaultdict(float)
        for word in dict.fromkeys(words(query)):
            found = self._places.get(word, ())
            rarity = math.log(1 + (len(self._damping) - len(found) + 0.5) / (len(found) + 0.5))
            for place, count in found:
                scores[place] += rarity * count * (_K1 + 1) / (count + self._damping[place])
        return sorted(scores, key=lambda place: (-scores[place], place))[:most]


def words(text: str) -> Sequence[str]:
    """The words of a text in one spelling, as the index counts them."""
    return _WORD.findall(folded(text))
