"""Banks, items and an embedder for the tests of the reasoning bank."""

import hashlib
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hardwon.environments.bm25 import words
from hardwon.memory.bank.item import Item, Provenance, Scope


def item(title: str, content: str = "Do it with care.", **given: Any) -> Item:
    origin = {key: given.pop(key) for key in ("task", "problem", "run", "asked") if key in given}
    scope = {key: given.pop(key) for key in ("suite", "kind", "repository", "tags") if key in given}
    return Item(
        title, given.pop("description", ""), content, scope=Scope(**scope), provenance=Provenance(**origin), **given
    )


class WordEmbedder:
    """Texts as the sum of a fixed random direction for each of their words."""

    size = 64

    def __init__(self, name: str = "words") -> None:
        self.name = name
        self.embedded: list[str] = []

    def embed(self, texts: Sequence[str], *, query: bool = False) -> NDArray[np.float32]:
        if not query:
            self.embedded.extend(texts)
        return np.stack([self._one(text) for text in texts])

    def _one(self, text: str) -> NDArray[np.float32]:
        total = np.zeros(self.size)
        for word in set(words(text)):
            seed = int.from_bytes(hashlib.sha256(f"{self.name} {word}".encode()).digest()[:4])
            total += np.random.default_rng(seed).normal(size=self.size)
        norm = float(np.linalg.norm(total)) or 1.0
        return (total / norm).astype(np.float32)
