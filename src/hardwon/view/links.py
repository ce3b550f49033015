"""Where each page is: addresses of the live view, or files of an export."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol
from urllib.parse import urlencode

from hardwon.runs.journal import Key


class Links(Protocol):
    """The addresses that pages point to. `asset` is a file of the package; `live` says whether pages can change."""

    @property
    def live(self) -> bool: ...
    def runs(self) -> str: ...
    def bank(self) -> str: ...
    def run(self, run: str, query: Mapping[str, str] | None = None) -> str: ...
    def task(self, run: str, key: Key) -> str: ...
    def calls(self, run: str, key: Key) -> str: ...
    def what_if(self, run: str, key: Key) -> str: ...
    def compare(self, run: str) -> str: ...
    def asset(self, name: str) -> str: ...


@dataclass(frozen=True, slots=True)
class Addresses:
    """Of the live view."""

    live: bool = True

    def runs(self) -> str:
        return "/"

    def bank(self) -> str:
        return "/bank"

    def run(self, run: str, query: Mapping[str, str] | None = None) -> str:
        return f"/run/{run}?{urlencode(query)}" if query else f"/run/{run}"

    def task(self, run: str, key: Key) -> str:
        return f"/run/{run}/task?{_query(key)}"

    def calls(self, run: str, key: Key) -> str:
        return f"/run/{run}/calls?{_query(key)}"

    def what_if(self, run: str, key: Key) -> str:
        return f"/run/{run}/what-if?{_query(key)}"

    def compare(self, run: str) -> str:
        return f"/run/{run}/compare"

    def asset(self, name: str) -> str:
        return f"/static/{name}"


@dataclass(frozen=True, slots=True)
class Files:
    """Of an export: all pages lie in one folder. Filters that need a server lead to the first page."""

    live: bool = False

    def runs(self) -> str:
        return "index.html"

    def bank(self) -> str:
        return "index.html"

    def run(self, run: str, query: Mapping[str, str] | None = None) -> str:
        page = (query or {}).get("page", "1")
        return f"{run}.html" if page == "1" or set(query or {}) - {"page"} else f"{run}-{page}.html"

    def task(self, run: str, key: Key) -> str:
        return f"{run}-task-{_file(key)}.html"

    def calls(self, run: str, key: Key) -> str:
        return f"{run}-calls-{_file(key)}.html"

    def what_if(self, run: str, key: Key) -> str:
        return self.task(run, key)

    def compare(self, run: str) -> str:
        return f"{run}-compare.html"

    def asset(self, name: str) -> str:
        return name


def _query(key: Key) -> str:
    return urlencode({"id": key.task_id, "arm": key.arm, "seed": key.seed})


def _file(key: Key) -> str:
    """A file name that any system takes, the same for the same key and for no other."""
    text = f"{key.task_id}\0{key.arm}\0{key.seed}"
    readable = re.sub(r"[^A-Za-z0-9]+", "-", key.task_id).strip("-")[:40]
    return f"{readable}-{hashlib.sha256(text.encode()).hexdigest()[:10]}"
