"""The candidate's end of the wall: messages over a bare descriptor, by code that touches little memory after a fork."""

from __future__ import annotations

import json.encoder
import json.scanner
import os
from collections.abc import Callable, Iterable
from typing import Any

from .wire import CannotCross

MAX_MESSAGE = 8 * 1024 * 1024
HEAD = 4
"""Bytes of a message's length, big endian, before its JSON text."""

_USUAL = 8192
# the inner parts of `json.loads` and `json.dumps`
scan: Callable[[str, int], tuple[Any, int]] = json.scanner.make_scanner(json.JSONDecoder())  # type: ignore[arg-type]
_pieces: Callable[[Any, int], Iterable[str]] = json.encoder.c_make_encoder(  # type: ignore[attr-defined]
    None, None, json.encoder.encode_basestring_ascii, None, ":", ",", False, False, True
)


class Closed(Exception):
    """The other side is gone."""


class Line:
    """Messages over a descriptor, blocking; the other side is trusted."""

    def __init__(self, fd: int) -> None:
        self.fd = fd
        self._ahead = b""

    def send(self, message: Any) -> None:
        """Sends one message. Raises CannotCross (too large), OSError."""
        data = framed(message)
        while data:
            data = data[os.write(self.fd, data) :]

    def receive(self) -> Any:
        """The next message. Raises Closed, OSError."""
        data, end = self._ahead, HEAD
        while len(data) < end or len(data) < (end := HEAD + int.from_bytes(data[:HEAD], "big")):
            piece = os.read(self.fd, max(end - len(data), _USUAL))
            if not piece:
                raise Closed
            data += piece
        self._ahead = data[end:]
        return scan(data[HEAD:end].decode(), 0)[0]


def framed(message: Any) -> bytes:
    """A message's bytes. Raises CannotCross when they are too many."""
    body = "".join(_pieces(message, 0)).encode()
    if len(body) > MAX_MESSAGE:
        raise CannotCross(f"a value larger than {MAX_MESSAGE >> 20} MiB")
    return len(body).to_bytes(HEAD, "big") + body
