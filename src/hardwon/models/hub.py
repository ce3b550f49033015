"""Weights from the Hugging Face hub: one file over HTTPS, taken up again where it broke off."""

from __future__ import annotations

import http.client
import os
import re
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

from hardwon.models.weights import Weights

Progress = Callable[[int, int], None]
"""Bytes done, bytes in all."""

_SILENCE_SECONDS = 10.0
"""The longest wait for a connection, or for the next bytes."""

_CHUNK = 1 << 20


class SourceFailed(Exception):
    """One source could not deliver; the message says why."""


def fetch_from_hub(weights: Weights, part: Path, progress: Progress) -> None:
    """Completes `part` from the hub (`HF_ENDPOINT`, or the official one).

    What `part` holds already is kept and not asked for again. A broken connection is taken up again as long as
    each try brings something. Raises SourceFailed.
    """
    if os.environ.get("HF_HUB_OFFLINE", "").lower() in ("1", "true", "yes", "on"):
        raise SourceFailed("HF_HUB_OFFLINE is set")
    address = hub_address(weights)
    while True:
        before = _size(part)
        try:
            _continue(address, weights, part, progress)
            return
        except urllib.error.HTTPError as error:
            error.close()
            raise SourceFailed(f"{address} answers {error.code} {error.reason}") from None
        except (OSError, http.client.HTTPException) as error:
            if _size(part) <= before:
                reason = getattr(error, "reason", None) or error
                raise SourceFailed(f"{address} could not be read ({reason})") from None


def hub_address(weights: Weights) -> str:
    """The address of the official file."""
    endpoint = (os.environ.get("HF_ENDPOINT") or "https://huggingface.co").rstrip("/")
    return f"{endpoint}/{weights.repository}/resolve/main/{weights.file}"


def _continue(address: str, weights: Weights, part: Path, progress: Progress) -> None:
    done = _size(part)
    if done > weights.size:
        part.unlink()
        done = 0
    if done == weights.size:
        return
    request = urllib.request.Request(address, headers={"Range": f"bytes={done}-"} if done else {})
    with urllib.request.urlopen(request, timeout=_SILENCE_SECONDS) as reply:
        start = _first_byte(reply)
        if start not in (0, done):
            raise SourceFailed(f"{address} sends another part of the file than was asked for")
        size = reply.headers.get("Content-Length")
        if size is not None and start + int(size) != weights.size:
            raise SourceFailed(f"{address} has {start + int(size)} bytes, not {weights.size}: another file")
        with part.open("r+b" if start else "wb") as out:
            out.seek(start)
            _copy(reply, out, start, weights, progress)
    if _size(part) != weights.size:
        raise ConnectionError("the connection broke off")


def _first_byte(reply: http.client.HTTPResponse) -> int:
    """Where the reply begins in the file: 0 when the server sends it whole."""
    if reply.status != 206:
        return 0
    found = re.match(r"bytes (\d+)-", reply.headers.get("Content-Range", ""))
    return int(found[1]) if found else -1


def _copy(source: http.client.HTTPResponse, out: BinaryIO, done: int, weights: Weights, progress: Progress) -> None:
    # One chunk at a time, so that a break keeps what had come.
    while chunk := source.read1(_CHUNK):
        done += len(chunk)
        if done > weights.size:
            raise SourceFailed(f"sends more than {weights.size} bytes: another file")
        out.write(chunk)
        progress(done, weights.size)


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0
