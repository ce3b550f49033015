"""The wire carries plain data exactly, and nothing that comes over it does more than be wrong data."""

from __future__ import annotations

import json
import math
import socket
import threading
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hardwon.sandbox.inside import channel, line, wire

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.integers(min_value=10**30, max_value=10**60)
    | st.floats(allow_nan=False)
    | st.text()
    | st.binary(max_size=50)
    | st.complex_numbers(allow_nan=False)
    | st.dates()
    | st.datetimes()
    | st.timedeltas()
    | st.fractions()
    | st.decimals(allow_nan=False)
)
KEYS = (
    st.none() | st.booleans() | st.integers() | st.text() | st.binary(max_size=9) | st.tuples(st.integers(), st.text())
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=5)
        | st.tuples(inner, inner)
        | st.dictionaries(KEYS, inner, max_size=4)
        | st.sets(KEYS, max_size=4)
        | st.frozensets(KEYS, max_size=4)
    ),
    max_leaves=20,
)


def refuse(value: Any) -> Any:
    raise wire.CannotCross(type(value).__name__)


def standin(tag: str, content: Any) -> Any:
    return (tag, content)


def same(a: Any, b: Any) -> bool:
    """Equal, and of equal types all the way down."""
    if type(a) is not type(b):
        return False
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, dict):
        return list(map(repr, a)) == list(map(repr, b)) and all(map(same, a.values(), b.values()))
    return bool(a == b)


@given(VALUES)
@settings(max_examples=150, deadline=None)
def test_every_plain_value_comes_back_the_same_with_the_same_types(value: Any) -> None:
    over = json.loads(json.dumps(wire.pack(value, refuse)))
    assert same(wire.unpack(over, standin), value)


@given(st.text(alphabet=st.characters(categories=["Cs", "Lu", "So"])))
def test_lone_surrogates_cross(text: str) -> None:
    assert wire.unpack(json.loads(json.dumps(wire.pack(text, refuse))), standin) == text


def test_numbers_beyond_the_digit_limit_of_decimal_text_cross() -> None:
    huge = 7**100_000
    assert wire.unpack(json.loads(json.dumps(wire.pack(huge, refuse))), standin) == huge
    nan = wire.unpack(json.loads(json.dumps(wire.pack([math.nan, math.inf, -0.0], refuse))), standin)
    assert math.isnan(nan[0])
    assert (nan[1], math.copysign(1, nan[2])) == (math.inf, -1.0)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from([*"tdSFisbBcrqDfTkogx", "iso", "td", "it"]), inner, max_size=2)
    ),
    max_leaves=12,
)


@given(JSON)
@settings(max_examples=300, deadline=None)
def test_any_json_is_either_plain_data_or_a_violation(message: Any) -> None:
    try:
        wire.unpack(message, standin)
    except wire.Violation:
        return


def test_a_value_too_deep_or_a_message_too_deep_is_refused() -> None:
    deep: list[Any] = []
    for _ in range(wire.MAX_DEPTH + 1):
        deep = [deep]
    with pytest.raises(wire.CannotCross):
        wire.pack(deep, refuse)
    with pytest.raises(wire.Violation):
        wire.unpack(deep, standin)


def test_messages_arrive_whole_and_in_order_whatever_their_size() -> None:
    near, far = socket.socketpair()
    sender, receiver = channel.Channel(near), channel.Channel(far)
    messages = ["x" * size for size in (0, 1, 1 << 16, 1 << 20)] + [{"a": [1, None]}]
    thread = threading.Thread(target=lambda: [sender.send(message) for message in messages])
    thread.start()
    got = [receiver.receive() for _ in messages]
    thread.join()
    assert got == messages
    sender.close()
    with pytest.raises(line.Closed):
        receiver.receive()
    receiver.close()


@pytest.mark.parametrize(
    ("raw", "error"),
    [
        (b"\xff\xff\xff\xff", wire.Violation),
        (b"\x00\x00\x00\x03{x}", wire.Violation),
        (b"\x00\x00\x00\x05\xff\xfe\xfd\xfc\xfb", wire.Violation),
        (b"\x00\x01\x86\xa0" + b"[" * 100_000, wire.Violation),
        (b"\x00\x00\x13\x88" + b"1" * 5000, wire.Violation),
        (b"\x00\x00", TimeoutError),
        (b"", TimeoutError),
    ],
)
def test_rubbish_on_the_wire_is_a_violation_and_silence_a_time_out(raw: bytes, error: type[Exception]) -> None:
    import time

    near, far = socket.socketpair()
    with near, far:
        near.sendall(raw)
        with pytest.raises(error):
            channel.Channel(far).receive(time.monotonic() + 0.2)
