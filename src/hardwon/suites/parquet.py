"""Reads Parquet files, the form in which most data sets are published, into rows that know their place."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

from hardwon.errors import UsageError
from hardwon.suites.read import Row


def read_parquet(path: Path) -> list[Row]:
    """Every row of a file, its place given as FILE:ROW (from 1).

    Raises UsageError for a file that is missing, damaged or empty, and where the package `pyarrow` is not installed.
    """
    if not path.is_file():
        raise UsageError(f"{path}: no such file; give a Parquet, JSON or JSONL file")
    if find_spec("pyarrow") is None:
        raise UsageError(f'{path}: Parquet needs the package pyarrow: pip install "hardwon[swebench]", or give JSONL')
    arrow, parquet = import_module("pyarrow"), import_module("pyarrow.parquet")
    try:
        rows = parquet.read_table(path).to_pylist()
    except (arrow.ArrowException, OSError, ValueError) as error:
        said = " ".join(str(error).split())[:200]
        raise UsageError(f"{path}: no readable Parquet ({said}); fetch it again, or give JSONL") from error
    if not rows:
        raise UsageError(f"{path}: there is nothing in the file; put at least one task into it")
    return [Row(f"{path}:{number}", row) for number, row in enumerate(rows, 1)]
