"""Run as a candidate program: tries what the walls should stop, and prints as JSON what happened."""

import ctypes
import json
import os
import resource
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

SECRETS: list[str] = []  # host paths that should not exist here; set by the host before it sends this text


def fails(action: Callable[[], Any]) -> bool:
    try:
        action()
    except (OSError, ValueError):
        return True
    return False


def connects() -> None:
    with socket.create_connection(("1.1.1.1", 53), timeout=0.2):
        pass


def opens(path: str) -> bool:
    return not fails(lambda: os.close(os.open(path, os.O_RDONLY | os.O_NONBLOCK)))


def writes(folder: str) -> bool:
    path = f"{folder}/hardwon-probe-{os.getpid()}"
    if fails(lambda: os.close(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600))):
        return False
    Path(path).unlink()
    return True


def capabilities() -> bool:
    data = (ctypes.c_uint32 * 6)()
    header = (ctypes.c_uint32 * 2)(0x20080522, 0)
    return ctypes.CDLL(None).capget(header, data) == 0 and any(data)


facts = {
    "environment": sorted(os.environ),
    "pid": os.getpid(),
    "network": not fails(connects),
    "socket": not fails(lambda: socket.socket().close()),
    "readable": [path for path in SECRETS if opens(path)],
    "writable": [path for path in ("/", "/usr/lib", "/home", "/var/tmp", "/dev/shm") if writes(path)],
    "signal_host": not fails(lambda: os.kill(os.getppid(), 0)) if os.getppid() else False,
    "capabilities": capabilities(),
    "seccomp": ctypes.CDLL(None).unshare(0x10000000) != 0,
    "no_new_privs": ctypes.CDLL(None).prctl(39, 0, 0, 0, 0) == 1,
    "processes": resource.getrlimit(resource.RLIMIT_NPROC)[0],
}
print(json.dumps(facts))
