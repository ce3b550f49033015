"""Promises of the embedded model, kept by the real 0.5B model: it is loaded once for all tests here."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

import pytest

from hardwon.errors import ModelError, ModelRefused, UsageError
from hardwon.models import Completion, LocalModel, Message, Request
from hardwon.models.fetch import pull

NAME = "qwen2.5-coder-0.5b"
pytestmark = pytest.mark.timeout(300)  # the weights may have to be fetched first

Run = Callable[[Awaitable[list[Completion]]], list[Completion]]


@pytest.fixture(scope="module")
def model() -> Iterator[LocalModel]:
    pytest.importorskip("xllamacpp")
    try:
        pull(NAME)
    except ModelError as error:
        pytest.skip(str(error))
    opened = LocalModel(NAME, parallel=4, context=4096)
    yield opened
    asyncio.run(opened.close())


def request(text: str, index: int = 0, **fields: object) -> Request:
    return Request("t", "act", index, (Message("user", text),), **({"max_tokens": 24} | fields))  # type: ignore[arg-type]


def ask(model: LocalModel, *requests: Request) -> list[Completion]:
    async def run() -> list[Completion]:
        return await asyncio.gather(*(model.generate(r) for r in requests))

    return asyncio.run(run())


def test_four_prompts_at_once_are_answered_each_by_its_own_answer(model: LocalModel) -> None:
    words = ("apple", "river", "seven", "green")
    got = ask(model, *(request(f"Repeat exactly this word and nothing else: {word}") for word in words))
    for word, completion in zip(words, got, strict=True):
        assert word in completion.text.lower()
        assert completion.finish == "stop"
        assert completion.model == f"local:{NAME}"


def test_usage_is_counted_and_costs_nothing(model: LocalModel) -> None:
    prompt = "Count from one to fifty in words, separated by commas."
    (first,) = ask(model, request(prompt, max_tokens=5))
    (again,) = ask(model, request(prompt, max_tokens=5))
    assert (first.usage.tokens_out, first.finish, first.usage.cost_usd) == (5, "length", 0.0)
    assert first.usage.tokens_in > 10
    assert again.usage.tokens_in == first.usage.tokens_in
    assert 0 < again.usage.tokens_cached <= again.usage.tokens_in


def test_a_stop_sequence_ends_the_answer_before_it(model: LocalModel) -> None:
    (got,) = ask(model, request("Write these three words: one two three", stop=("two",)))
    assert "two" not in got.text


def test_a_seed_repeats_a_warm_answer_and_another_seed_changes_it(model: LocalModel) -> None:
    def tell(seed: int) -> str:
        (got,) = ask(model, request("Invent a funny name for a cat.", temperature=1.5, seed=seed, max_tokens=8))
        return got.text

    tell(1)  # from here on the prompt is in the slot's cache, as it is for each of the following
    assert tell(1) == tell(1)
    assert len({tell(seed) for seed in (1, 2, 2**40 + 3)}) > 1


def test_a_prompt_longer_than_a_slot_is_refused_with_the_numbers(model: LocalModel) -> None:
    with pytest.raises(ModelRefused, match=r"\d{4} tokens and a slot holds 4096"):
        ask(model, request("word " * 5000))


def test_a_cancelled_call_stops_generating_and_leaves_its_slot_to_the_next(model: LocalModel) -> None:
    async def run() -> Completion:
        endless = [
            asyncio.create_task(model.generate(request("Write a long story.", i, max_tokens=4000))) for i in range(4)
        ]
        first = asyncio.create_task(model.generate(request("Say yes.", 9, max_tokens=3)))  # waits for a slot
        await asyncio.sleep(0)
        for task in endless:
            task.cancel()
        await asyncio.wait(endless)
        assert all(task.cancelled() for task in endless)
        async with asyncio.timeout(60):  # four stories written to their end would take several times as long
            return await first

    assert asyncio.run(run()).usage.tokens_out <= 3


def test_nobody_else_on_the_machine_can_use_the_loaded_model(model: LocalModel) -> None:
    ask(model, request("Say yes.", max_tokens=1))
    address = vars(model)["_server"].listening_address
    body = urllib.request.Request(f"{address}/v1/chat/completions", data=b'{"messages": []}')
    with pytest.raises(urllib.error.HTTPError) as caught:
        urllib.request.urlopen(body, timeout=10)
    assert caught.value.code == 401
    caught.value.close()


def test_closing_frees_the_memory_and_the_next_call_loads_again(model: LocalModel) -> None:
    def resident_mib() -> int:
        return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") >> 20

    ask(model, request("Say yes.", max_tokens=1))
    loaded = resident_mib()
    asyncio.run(model.close())
    assert loaded - resident_mib() > 300
    (got,) = ask(model, request("Say yes.", max_tokens=1))
    assert got.usage.tokens_out == 1


def test_loading_and_answering_print_nothing(model: LocalModel) -> None:
    code = (
        "import asyncio\nfrom hardwon.models import LocalModel, Message, Request\n"
        f"model = LocalModel({NAME!r}, parallel=1, context=512)\n"
        "async def main():\n"
        "    await model.generate(Request('t', 'act', 0, (Message('user', 'Hi'),), max_tokens=1))\n"
        "    await model.close()\n"
        "asyncio.run(main())\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("", "")


def test_a_file_that_is_no_model_is_named(tmp_path: Path) -> None:
    pytest.importorskip("xllamacpp")
    broken = tmp_path / "broken.gguf"
    broken.write_bytes(b"GGUF" + bytes(600))
    with pytest.raises(ModelError, match=r"broken\.gguf could not be loaded"):
        LocalModel("mine", weights=broken).load()
    with pytest.raises(UsageError, match="no such file"):
        LocalModel("mine", weights=tmp_path / "none.gguf").load()


def test_a_missing_library_is_named() -> None:
    code = (
        "import sys; sys.modules['xllamacpp'] = None\n"
        f"from hardwon.models import LocalModel; LocalModel({NAME!r}).load()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert 'pip install "hardwon[local]"' in done.stderr.splitlines()[-1]
