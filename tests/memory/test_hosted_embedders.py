"""Embedders behind OpenAI's `/v1/embeddings`: tried again where that can help, checked, and silent about the key."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from tests.cli.own_suite import SCRIPT, TASKS, rows
from tests.memory.banks import item
from tests.models.chat_server import Handler, Turn, serving

from hardwon.errors import ModelError, ModelRefused, UsageError
from hardwon.memory.bank.embedders import open_embedder
from hardwon.memory.bank.embedding import MiniLM, checked, present
from hardwon.memory.bank.hosted import HostedEmbedder
from hardwon.memory.bank.retrieval import Index, Limits, Query
from hardwon.memory.bank.sqlite import SqliteBank

KEY = "sk-very-secret-0123456789"
WORDS = ("graph", "date", "sort")


def embeddings(handler: Handler) -> None:
    """Which of three words a text has; the last text comes first."""
    made = [[1.0 + 9 * (word in text) for word in WORDS] for text in handler.body["input"]]
    data = [{"index": n, "embedding": vector} for n, vector in enumerate(made)]
    handler.send(200, json.dumps({"data": data[::-1], "model": "m"}).encode())


def failing(status: int, **headers: str) -> Turn:
    return lambda handler: handler.send(status, f'{{"error": {{"message": "no: {KEY}"}}}}'.encode(), **headers)


def giving(vector: str) -> Turn:
    return lambda handler: handler.send(
        200, f'{{"data": [{",".join([f"""{{"embedding": {vector}}}"""] * len(handler.body["input"]))}]}}'.encode()
    )


def embedder(url: str, attempts: int = 3) -> HostedEmbedder:
    return HostedEmbedder(f"{url}#m", attempts=attempts, wait_initial=0.01, wait_max=0.02)


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HARDWON_API_KEY", KEY)


def test_texts_become_vectors_in_their_own_order_and_a_bank_is_searched_by_them(tmp_path: Path) -> None:
    bank = SqliteBank(tmp_path / "bank.sqlite")
    bank.write([item("Cycles in a graph"), item("A leap year's date"), item("Stable sort")], "added")
    with serving(embeddings) as server:
        hosted = embedder(server.url)
        index = Index(bank, bank.head(), hosted)
        (found, *_) = index.search(Query("something of a date"), Limits())
        assert found.item.title == "A leap year's date"
        assert dict(bank.vectors(f"{server.url}#m")).keys() == {r.item.digest for r in bank.scan() if r.item}
        assert hosted.size == 3
    assert {headers["authorization"] for headers in server.headers} == {f"Bearer {KEY}"}
    assert all(body["model"] == "m" for body in server.bodies)


def test_what_may_pass_is_tried_again_and_then_given_up(tmp_path: Path) -> None:
    with serving(failing(429, retry_after="0.01"), failing(503), giving("[]"), embeddings) as server:
        assert embedder(server.url, attempts=4).embed(["date"]).tolist() == [[1.0, 10.0, 1.0]]
    with serving(failing(500)) as server:
        with pytest.raises(ModelError, match=r"failed \(500\): no: \*\*\*; gave up after 3 attempts") as raised:
            embedder(server.url).embed(["x"])
        assert len(server.bodies) == 3
    assert KEY not in str(raised.value)


@pytest.mark.parametrize(
    ("status", "said"), [(401, "set HARDWON_API_KEY"), (404, "no embeddings by 'm'"), (400, "refused")]
)
def test_what_can_never_succeed_is_sent_once_and_the_key_is_never_told(status: int, said: str) -> None:
    with serving(failing(status)) as server:
        with pytest.raises(ModelRefused, match=said) as raised:
            embedder(server.url).embed(["x"])
        assert len(server.bodies) == 1
    assert KEY not in str(raised.value) + repr(vars(raised.value))


def test_no_number_another_size_and_no_server_are_errors() -> None:
    with serving(giving("[1.0, NaN]")) as server, pytest.raises(ModelError, match="no number"):
        checked(embedder(server.url), ["x"])
    with serving(embeddings, giving("[1.0, 2.0]")) as server:
        hosted = embedder(server.url)
        assert hosted.size == 3
        with pytest.raises(ModelError, match=r"gave \(1, 2\)"):
            checked(hosted, ["x"])
    with serving(giving('["a"]')) as server, pytest.raises(ModelError, match="makes no sense"):
        embedder(server.url).embed(["x"])
    with pytest.raises(ModelError, match="could not be reached"):
        embedder("http://127.0.0.1:9/v1", attempts=1).embed(["x"])


@pytest.mark.parametrize("vector", ["[1" + "0" * 400 + "]", "[" * 9000 + "]" * 9000, '[1], "index": Infinity'])
def test_a_reply_that_nothing_can_be_made_of_is_an_error_of_the_embedder(vector: str) -> None:
    with serving(giving(vector)) as server, pytest.raises(ModelError, match="makes no sense"):
        checked(embedder(server.url), ["x"])


def test_very_large_numbers_make_a_unit_vector_or_are_refused() -> None:
    with serving(giving("[3e30, 4e30]")) as server:
        assert checked(embedder(server.url), ["x"]).tolist() == [pytest.approx([0.6, 0.8])]
    with serving(giving("[1e300, 1.0]")) as server, pytest.raises(ModelError, match="no number"):
        checked(embedder(server.url), ["x"])


def test_long_and_empty_texts_and_many_are_sent_as_servers_take_them() -> None:
    with serving(embeddings) as server:
        made = embedder(server.url).embed(["", "x" * 100_000, *["graph"] * 100])
    assert made.shape == (102, 3)
    sent = [text for body in server.bodies for text in body["input"]]
    assert sent[0] == "-"
    assert max(map(len, sent)) == 8000
    assert max(len(body["input"]) for body in server.bodies) == 64
    assert np.array_equal(made[2], [10.0, 1.0, 1.0])


def test_embedders_are_known_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    assert open_embedder("none") is None
    assert (open_embedder("auto") is None) != (present() and isinstance(open_embedder(None), MiniLM))
    ollama = open_embedder("ollama:nomic-embed-text")
    assert ollama is not None
    assert ollama.name == "ollama:nomic-embed-text"
    with pytest.raises(UsageError, match="set OPENAI_API_KEY"):
        open_embedder("openai:text-embedding-3-small")
    for wrong in ("openai:", "gpt", "anthropic:x", "http://host"):
        with pytest.raises(UsageError):
            open_embedder(wrong)


def test_a_text_that_the_embedder_refuses_ends_its_own_task_alone(tmp_path: Path) -> None:
    def picky(handler: Handler) -> None:
        return (failing(400) if "largest" in str(handler.body["input"]) else embeddings)(handler)

    (tmp_path / "tasks.jsonl").write_text("".join(json.dumps(task) + "\n" for task in TASKS))
    (tmp_path / "script.json").write_text(json.dumps(SCRIPT))
    bank = SqliteBank(tmp_path / "bank.sqlite")
    bank.write([item("Stable sort")], "added")
    bank.close()
    with serving(picky) as server:
        options = [
            "--bank",
            "bank.sqlite",
            "--recall",
            "1",
            "--embedder",
            f"{server.url}#m",
            "--out",
            "run",
            "--workers",
            "1",
        ]
        command = [sys.executable, "-m", "hardwon", "run", "tasks.jsonl", "--model", "script:script.json", *options]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=100)
    assert done.returncode == 3, done.stderr
    double, largest = rows(tmp_path / "run")
    assert double["solved"] is True
    assert largest["solved"] is None
    assert f"{server.url}#m" in largest["error"]
    assert KEY not in largest["error"] + done.stderr + done.stdout


def test_a_program_without_logging_prints_nothing_of_a_retry() -> None:
    program = "import hardwon.models.failures, logging; logging.getLogger('stamina').warning('again')"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=100)
    assert (done.stdout, done.stderr) == ("", "")
