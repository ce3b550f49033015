"""A real HTTP server that speaks OpenAI's chat completions and misbehaves on request."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Turn = Callable[["Handler"], None]


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: ChatServer

    def do_POST(self) -> None:
        self.body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        with self.server.lock:
            self.server.bodies.append(self.body)
            self.server.headers.append({name.lower(): value for name, value in self.headers.items()})
            number = len(self.server.bodies)
            self.server.running += 1
            self.server.most_running = max(self.server.most_running, self.server.running)
        try:
            self.server.turns[min(number, len(self.server.turns)) - 1](self)
        finally:
            with self.server.lock:
                self.server.running -= 1

    def send(self, status: int, body: bytes, kind: str = "application/json", **headers: str) -> None:
        with self.server.lock:  # the request is over before its caller can send the next one
            self.server.running -= 1
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)
        with self.server.lock:
            self.server.running += 1

    def log_message(self, format: str, *args: Any) -> None:
        """Quiet."""


class ChatServer(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def __init__(self, turns: list[Turn]) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.turns = turns
        self.lock = threading.Lock()
        self.bodies: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.running = 0
        self.most_running = 0
        self.released = threading.Event()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"


@contextmanager
def serving(*turns: Turn) -> Iterator[ChatServer]:
    """A server whose n-th request gets the n-th turn; the last turn repeats."""
    server = ChatServer(list(turns))
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server
    finally:
        server.released.set()
        server.shutdown()
        server.server_close()
        thread.join()


def completion(text: str | None = "fine", *, finish: str = "stop", **message: Any) -> dict[str, Any]:
    return {
        "id": "c1",
        "object": "chat.completion",
        "created": 1,
        "model": "served-model",
        "choices": [{"index": 0, "finish_reason": finish, "message": {"role": "assistant", "content": text} | message}],
        "usage": {
            "prompt_tokens": 11,
            "completion_tokens": 7,
            "total_tokens": 18,
            "prompt_tokens_details": {"cached_tokens": 5},
        },
    }


def answer(text: str | None = "fine", **more: Any) -> Turn:
    return raw(json.dumps(completion(text, **more)).encode())


def calling(*calls: tuple[str, str, str], text: str | None = None) -> Turn:
    """Answers with calls of tools: id, name and arguments of each."""
    made = [{"id": i, "type": "function", "function": {"name": n, "arguments": a}} for i, n, a in calls]
    return answer(text, finish="tool_calls", tool_calls=made)


def raw(body: bytes, kind: str = "application/json") -> Turn:
    return lambda handler: handler.send(200, body, kind)


def status(code: int, message: str = "no", **headers: str) -> Turn:
    body = json.dumps({"error": {"message": message, "type": "error", "code": None}}).encode()
    return lambda handler: handler.send(code, body, **headers)


def drop(handler: Handler) -> None:
    handler.close_connection = True
    handler.connection.close()


def hang(handler: Handler) -> None:
    handler.server.released.wait()
    handler.close_connection = True
