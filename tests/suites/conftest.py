"""A sandbox that loaders may hand to evaluators; it starts nothing until a program is checked."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from hardwon.sandbox.choose import open_sandbox
from hardwon.sandbox.protocol import Sandbox


@pytest.fixture
def sandbox() -> Iterator[Sandbox]:
    opened = open_sandbox(workers=1)
    yield opened
    asyncio.run(opened.close())


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    """Writes JSON objects (or raw lines) into a file, one a line."""

    def write_lines(*rows: dict[str, Any] | str, name: str = "tasks.jsonl") -> Path:
        path = tmp_path / name
        lines = (row if isinstance(row, str) else json.dumps(row) for row in rows)
        path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        return path

    return write_lines
