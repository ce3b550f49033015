"""Messages over a stream: a length (four bytes, big endian) and a JSON text, bounded in size."""

from __future__ import annotations

import math
import select
import socket
import time
from typing import Any

from .line import HEAD, MAX_MESSAGE, Closed, framed, scan
from .wire import Violation

_USUAL = 8192


class Channel:
    """Messages over a connected stream socket, with deadlines."""

    def __init__(self, sock: socket.socket) -> None:
        self.sock = sock
        self._ahead = bytearray()
        self._polls: dict[int, select.poll] = {}

    def send(self, message: Any, deadline: float = math.inf) -> None:
        """Sends one message. Raises CannotCross (too large), Closed, TimeoutError (deadline: `time.monotonic`)."""
        rest: bytes | memoryview = framed(message)
        while rest:
            try:
                sent = self.sock.send(rest, socket.MSG_DONTWAIT)
            except BlockingIOError:
                self._wait(select.POLLOUT, deadline)
            except (BrokenPipeError, ConnectionResetError):
                raise Closed from None
            else:
                rest = memoryview(rest)[sent:] if sent < len(rest) else b""

    def receive(self, deadline: float = math.inf) -> Any:
        """The next message, bounded in size. Raises Closed, Violation, TimeoutError."""
        ahead = self._ahead
        while len(ahead) < HEAD:
            self._read(_USUAL, deadline)
        total = HEAD + int.from_bytes(ahead[:HEAD], "big")
        if total > MAX_MESSAGE + HEAD:
            raise Violation("a message over the size limit")
        while len(ahead) < total:
            self._read(max(total - len(ahead), _USUAL), deadline)
        body = bytes(ahead[HEAD:total])
        del ahead[:total]
        try:
            text = body.decode()
            message, end = scan(text, 0)
        except (ValueError, RecursionError, StopIteration):
            raise Violation("a message that is not JSON, or nested too deep") from None
        if end != len(text):
            raise Violation("a message with something behind it")
        return message

    def send_with_descriptor(self, message: Any, fd: int) -> None:
        """Sends a first message together with a descriptor. Raises CannotCross, Closed."""
        data = framed(message)
        try:
            sent = socket.send_fds(self.sock, [data], [fd])
            if sent < len(data):  # nothing more to say is not said: whoever had it all may be done and gone by now
                self.sock.sendall(memoryview(data)[sent:])
        except (BrokenPipeError, ConnectionResetError):
            raise Closed from None

    def receive_with_descriptor(self) -> tuple[Any, int]:
        """The counterpart; nothing else may be under way. Raises Closed, Violation."""
        data, fds, _, _ = socket.recv_fds(self.sock, _USUAL, 1)
        if not fds:
            raise Closed
        self._ahead += data
        return self.receive(), fds[0]

    def _read(self, most: int, deadline: float) -> None:
        if deadline != math.inf:
            self._wait(select.POLLIN, deadline)
        try:
            piece = self.sock.recv(most)
        except ConnectionResetError:
            raise Closed from None
        if not piece:
            raise Closed
        self._ahead += piece

    def _wait(self, event: int, deadline: float) -> None:
        poll = self._polls.get(event)
        if poll is None:
            poll = self._polls[event] = select.poll()
            poll.register(self.sock, event)
        if deadline == math.inf:
            poll.poll()
            return
        left = deadline - time.monotonic()
        if left <= 0 or not poll.poll(left * 1000 + 1):
            raise TimeoutError

    def close(self) -> None:
        self.sock.close()
