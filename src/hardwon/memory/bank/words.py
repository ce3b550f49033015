"""BM25 over the texts of a bank (Robertson & Zaragoza 2009), in numpy: many items in a few milliseconds."""

from __future__ import annotations

import math
import re
from array import array
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from hardwon.environments.bm25 import words as folded_words

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_WORD = re.compile(r"\w+")
_K1, _B = 1.2, 0.75
_POSTINGS = 60_000
"""At most so many places are looked at for one query, those of its rarest words first."""
_LONGEST_QUERY = 4000
_OTHERS = 100
"""A word's rarity is reckoned as if so many texts more had none of it: in a small bank every word looks common."""
_HALF = 16.0
"""The BM25 score that counts as a relevance of one half; one rare word in common comes to about 4."""
# fmt: off
_PLAIN = frozenset({
    "a", "about", "after", "all", "also", "an", "and", "any", "are", "as", "at", "be", "been", "but", "by", "can",
    "do", "does", "each", "every", "for", "from", "given", "has", "have", "how", "if", "in", "into", "is", "it", "its",
    "more", "must", "no", "not", "of", "on", "one", "only", "or", "other", "our", "should", "so", "such", "than",
    "that", "the", "their", "them", "then", "there", "these", "they", "this", "those", "to", "use", "was", "we", "were",
    "what", "when", "where", "which", "while", "who", "will", "with", "would", "you", "your",
})
# fmt: on


class Words:
    """An index of texts that never changes; texts are known by their position."""

    def __init__(self, texts: Iterable[str]) -> None:
        import numpy as np

        self._places: defaultdict[str, array[int]] = defaultdict(lambda: array("I"))
        self._often: defaultdict[str, array[int]] = defaultdict(lambda: array("B"))
        lengths = array("f")
        for place, text in enumerate(texts):
            counts = Counter(words(text))
            lengths.append(counts.total())
            for word, count in counts.items():
                self._places[word].append(place)
                self._often[word].append(min(count, 255))
        length = np.frombuffer(lengths, np.float32) if lengths else np.zeros(0, np.float32)
        mean = float(length.mean()) if lengths else 0.0
        self._damping = (_K1 * (1 - _B + _B * length / mean) if mean else length + _K1).astype(np.float32)

    def relevance(self, asked: Sequence[str]) -> NDArray[np.float32]:
        """How relevant each text is to the words that `rarest_first` gave, in 0..1: BM25 brought into that range."""
        import numpy as np

        scores = np.zeros(len(self._damping), np.float32)
        looked_at = 0
        for word in asked:
            found = self._places[word]
            looked_at += len(found)
            if looked_at > _POSTINGS:
                break
            places = np.frombuffer(found, np.uint32)
            often = np.frombuffer(self._often[word], np.uint8).astype(np.float32)
            rarity = math.log(1 + (len(scores) + _OTHERS - len(found) + 0.5) / (len(found) + 0.5))
            scores[places] += rarity * (_K1 + 1) * often / (often + self._damping[places])
        return scores / (scores + np.float32(_HALF))

    def rarest_first(self, query: str) -> list[str]:
        """The words of a query by which texts are told apart, the rarest first; numbers are not among them."""
        known = {word for word in words(query[:_LONGEST_QUERY]) if word in self._places and word not in _PLAIN}
        return sorted((word for word in known if not word.isdigit()), key=lambda word: (len(self._places[word]), word))


def words(text: str) -> Sequence[str]:
    """The words of a text in one spelling; case and accents make no difference."""
    return _WORD.findall(text.lower()) if text.isascii() else folded_words(text)
