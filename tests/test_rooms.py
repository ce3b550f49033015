"""A room imports only rooms below it, wherever in a file the import stands."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import hardwon

ROOT = Path(hardwon.__file__).parent
FLOORS = (
    ("errors",),
    ("trial", "statistics"),
    ("rates", "bandit", "task", "budget", "prompts"),
    ("models",),
    ("sandbox",),
    ("evaluators",),
    ("environments",),
    ("actors",),
    ("reflection",),
    ("memory",),
    ("record",),
    ("calls",),
    ("session",),
    ("strategies",),
    ("runs",),
    ("suites",),
    ("config",),
    ("api", "view"),
    ("cli",),
    ("__main__",),
)
FLOOR = {room: number for number, rooms in enumerate(FLOORS) for room in rooms}
FILES = sorted(path for path in ROOT.rglob("*.py") if path != ROOT / "__init__.py")


def room_of(path: Path) -> str:
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


def imported(path: Path) -> set[str]:
    """The rooms that a file imports from."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    return {name.split(".")[1] for name in names if name.startswith("hardwon.") and name.split(".")[1] in FLOOR}


@pytest.mark.parametrize("room", sorted({room_of(path) for path in FILES}))
def test_a_room_imports_only_rooms_below_it(room: str) -> None:
    found = {
        f"{path.relative_to(ROOT)} imports {other}"
        for path in FILES
        if room_of(path) == room
        for other in imported(path)
        if other != room and FLOOR[other] >= FLOOR[room]
    }
    assert found == set()
