"""Serves the view on this machine until it is interrupted."""

from __future__ import annotations

import contextlib
import errno
import gc
import secrets
import socket
from collections.abc import Callable, Sequence
from pathlib import Path
from threading import Thread

import uvicorn

from hardwon.errors import UsageError
from hardwon.view.app import make_app
from hardwon.view.folders import Shelf, is_run
from hardwon.view.parsed import adapter
from hardwon.view.reader import readable
from hardwon.view.render import warm

HOST = "127.0.0.1"
_AHEAD = 20


def serve(places: Sequence[Path], port: int, ready: Callable[[str], None], bank: str | None = None) -> None:
    """Shows the runs in and below `places` until Ctrl-C; `ready` gets the address, with its token.

    Port 0 is any that is free; `bank` is the place of the reasoning bank (None: the usual one). Raises UsageError for a
    place that is not there, run folders none of which can be read, or a port that is taken.
    """
    for place in places:
        if not place.is_dir():
            raise UsageError(f"{place}: no such folder; give a run folder, or one that holds run folders")
    with _listening(port) as door:
        port = door.getsockname()[1]
        token = secrets.token_urlsafe(16)
        shelf = Shelf(places)
        if all(is_run(place) for place in places):
            shelf.check()
        config = uvicorn.Config(
            make_app(shelf, token, port, bank),
            log_level="warning",
            access_log=False,
            server_header=False,
            lifespan="off",
            timeout_graceful_shutdown=1,
        )
        gc.freeze()
        gc.set_threshold(
            100_000, 20, 20
        )  # rows by the ten thousand come and stay: looking for rubbish among them is dear
        Thread(target=_look_ahead, args=(shelf,), daemon=True).start()
        ready(f"http://{HOST}:{port}/?token={token}")
        try:
            uvicorn.Server(config).run(sockets=[door])
        finally:
            shelf.close()


def _look_ahead(shelf: Shelf) -> None:
    """Reads what the first page will need while the user still turns to the browser."""
    with contextlib.suppress(UsageError):
        warm()
        adapter()
        for reader in shelf.readers()[:_AHEAD]:
            with contextlib.suppress(UsageError), readable(reader.path):
                look = reader.look()
                look.rows.prepare()


def _listening(port: int) -> socket.socket:
    door = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    door.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        door.bind((HOST, port))
        door.listen(64)
    except OSError as error:
        door.close()
        if error.errno in (errno.EADDRINUSE, errno.EACCES):
            why = "is taken" if error.errno == errno.EADDRINUSE else "may not be used"
            raise UsageError(f"--port {port}: {why}; give another, or none for any that is free") from None
        raise
    return door
