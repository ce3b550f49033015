"""Data files: what is read, and what each mistake is called."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from hardwon.errors import UsageError
from hardwon.suites.read import read_rows

Write = Callable[..., Path]


@pytest.mark.parametrize("ending", ["json", "jsonl"])
@pytest.mark.parametrize("packed", [False, True])
def test_json_and_jsonl_read_the_same_plain_and_compressed(tmp_path: Path, ending: str, packed: bool) -> None:
    rows = [{"a": 1}, {"a": "é"}]
    text = json.dumps(rows, indent=1) if ending == "json" else "\n".join(map(json.dumps, rows))
    path = tmp_path / f"x.{ending}{'.gz' if packed else ''}"
    path.write_bytes(gzip.compress(text.encode()) if packed else text.encode())
    assert [dict(row.fields) for row in read_rows(path)] == rows


def test_a_byte_order_mark_and_blank_lines_are_skipped_and_do_not_shift_line_numbers(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_bytes(b'\xef\xbb\xbf\n{"a": 1}\n  \n{"a": 2}')
    assert [row.place for row in read_rows(path)] == [f"{path}:2", f"{path}:4"]


def test_objects_of_a_json_array_know_the_line_they_begin_on(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_text('\n[ {"a":\n1},\n\n{"a": 2} ]')
    assert [row.place for row in read_rows(path)] == [f"{path}:2", f"{path}:5"]


def test_one_json_object_over_several_lines_is_one_row(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_text('{\n  "a": 1\n}\n')
    assert [dict(row.fields) for row in read_rows(path)] == [{"a": 1}]


@pytest.mark.parametrize(
    ("content", "name", "line", "says"),
    [
        (b"", "x.jsonl", 1, "nothing in the file"),
        (b"\n \n", "x.jsonl", 1, "nothing in the file"),
        (b"[]", "x.json", 1, "nothing in the file"),
        (b'{"a": 1}\n{"a": }\n', "x.jsonl", 2, "not JSON at column 7"),
        (b'{"a": 1}\n[1]\n', "x.jsonl", 2, "this is an array"),
        (b'{"a": 1}\n"text"\n', "x.jsonl", 2, "this is a text"),
        (b'{"a": 1}\nnull\n', "x.jsonl", 2, "this is null"),
        (b'[{"a": 1},\n3]', "x.json", 2, "this is a number"),
        (b'[{"a": 1},\n{"a" 3}]', "x.json", 2, "not JSON at column 6"),
        (b'{"a": 1}\n\n{"a": "\xe9"}\n', "x.jsonl", 3, "byte 8 of the line is not UTF-8"),
        (b'{"a": 1}\n{"b": 1, "b": 2}\n', "x.jsonl", 2, "'b' is there twice"),
        (b'{"a": 1}\n' + b'{"a":' * 100_000, "x.jsonl", 2, "not be used"),
        (b'{"a": 1}\n', "x.jsonl.gz", 1, "not gzip"),
        (gzip.compress(b'{"a": 1}\n' * 1000, mtime=0)[:-20], "x.jsonl.gz", 1, "not gzip, or damaged"),
    ],
)
def test_what_is_wrong_with_a_file_is_said_with_file_and_line(
    tmp_path: Path, content: bytes, name: str, line: int, says: str
) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(UsageError) as caught:
        read_rows(path)
    message = str(caught.value)
    place = f"{path}:" if says.endswith("damaged") else f"{path}:{line}: "
    assert message.startswith(place)
    assert says in message
    assert "\n" not in message


def test_a_missing_file_and_a_folder_are_named(tmp_path: Path) -> None:
    for path in (tmp_path / "none.jsonl", tmp_path):
        with pytest.raises(UsageError) as caught:
            read_rows(path)
        assert str(caught.value).startswith(f"{path}: ")
