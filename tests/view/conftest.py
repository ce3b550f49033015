"""A view that is served as a user starts it, and a real browser, where there is one, to look at it."""

from __future__ import annotations

import http.client
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

CHROMIUM = next(
    (found for name in ("chromium", "chromium-browser", "google-chrome") if (found := shutil.which(name))), ""
)
FLAGS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]


@dataclass(frozen=True)
class View:
    """A view that is running: its address with the token, and a plain way to ask it."""

    address: str
    process: subprocess.Popen[str]

    @property
    def port(self) -> int:
        return int(re.search(r":(\d+)/", self.address)[1])  # type: ignore[index]

    @property
    def base(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def token(self) -> str:
        return self.address.rpartition("=")[2]

    def ask(self, path: str, method: str = "GET", **headers: str) -> tuple[int, str, http.client.HTTPMessage]:
        """Status, text and headers of an answer; header names are given with _ for -."""
        door = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        try:
            door.request(method, path, headers={name.replace("_", "-"): value for name, value in headers.items()})
            answer = door.getresponse()
            return answer.status, answer.read().decode(), answer.headers
        finally:
            door.close()

    def get(self, path: str) -> str:
        """The page at a path, with the token's cookie."""
        status, text, _ = self.ask(path, Cookie=f"hardwon-{self.port}={self.token}")
        assert status == 200, text
        return text

    def run(self, name: str = "run") -> str:
        """The path of a run's page, by the run's name."""
        return re.search(rf'href="(/run/\w+)"><bdi>{name}</bdi>', self.get("/"))[1]  # type: ignore[index]


@pytest.fixture
def view(tmp_path: Path) -> Iterator[Callable[..., View]]:
    """Starts `hardwon view` on folders, with the bank that lies in the test's own."""
    started: list[subprocess.Popen[str]] = []

    def start(*folders: Path) -> View:
        command = [sys.executable, "-m", "hardwon", "view", *map(str, folders)]
        environment = {**os.environ, "HARDWON_BANK": str(tmp_path / "bank.sqlite")}
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
        started.append(process)
        assert process.stdout is not None
        return View(process.stdout.readline().split()[-1], process)

    yield start
    for process in started:
        process.terminate()
        process.wait(timeout=10)
        assert process.stdout is not None
        process.stdout.close()


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Headless Chromium; skips where there is none."""
    if not CHROMIUM:
        pytest.skip("no Chromium on this machine: apt-get install chromium")
    sync_api = pytest.importorskip("playwright.sync_api")
    with sync_api.sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield chromium
        chromium.close()


@dataclass
class Watched:
    """A page in the browser, with what went wrong on it and whom it asked."""

    page: Any
    trouble: list[str]
    asked: set[str]


@pytest.fixture
def tab(browser: Any) -> Iterator[Watched]:
    context = browser.new_context(viewport={"width": 1200, "height": 800})
    watched = Watched(context.new_page(), [], set())
    watched.page.on("console", lambda m: watched.trouble.append(m.text) if m.type in ("error", "warning") else None)
    watched.page.on("pageerror", lambda error: watched.trouble.append(str(error)))
    watched.page.on("request", lambda request: watched.asked.add(request.url.split("/")[2]))
    yield watched
    context.close()
