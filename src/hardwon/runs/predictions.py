"""Predictions in the form that `sb-cli` and the SWE-bench harness take, written and read.

`instance_id, model_patch, model_name_or_path` for each instance: as one JSON object by instance id (`preds.json`) or a
list, or as JSON lines. Formats: swebench.com/sb-cli, github.com/SWE-bench/SWE-bench.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from hardwon.errors import UsageError
from hardwon.runs.folder import json_line
from hardwon.runs.journal import Journal, Key
from hardwon.runs.row import Row
from hardwon.runs.stages import delivered

_FIELDS = ("instance_id", "model_patch", "model_name_or_path")


@dataclass(frozen=True, slots=True)
class Prediction:
    """What was handed in for one instance: a git diff, or an empty text for nothing; never anything else."""

    instance_id: str
    model_patch: str
    model_name_or_path: str

    def __post_init__(self) -> None:
        if self.model_patch and not self.model_patch.startswith("diff --git "):
            raise UsageError(
                f"{self.instance_id}: what was handed in is no git diff; predictions are of runs on repositories"
            )


def as_object(predictions: Iterable[Prediction]) -> str:
    """The text of a `preds.json`: one object by instance id."""
    found = {prediction.instance_id: asdict(prediction) for prediction in predictions}
    return json.dumps(found, indent=2, ensure_ascii=True) + "\n"


def as_lines(predictions: Iterable[Prediction]) -> str:
    """The predictions as JSON lines."""
    return "".join(json_line(asdict(prediction)) for prediction in predictions)


def predictions_of(journal: Journal, rows: Sequence[Row], model: str) -> list[Prediction]:
    """What the rows' tasks handed in, also where an error struck after it was delivered; what never was is left out.

    Raises UsageError for a submission that is no diff.
    """
    handed = {key: payload["submission"] for key, payload in delivered(journal)}
    found = []
    for row in rows:
        key = Key(row.task_id, row.arm, row.seed)
        if row.error is None or key in handed:
            patch = row.submission if row.error is None else handed[key]
            found.append(Prediction(row.task_id, patch or "", model_name(model, row.arm)))
    return found


def model_name(model: str, arm: str) -> str:
    """What a run is called in predictions; the harness makes folders of it, so it holds no slash."""
    return re.sub(r"[^\w.+-]+", "-", f"hardwon-{arm}-{model.rpartition('/')[2]}").strip("-")


def read_predictions(path: Path) -> tuple[Prediction, ...]:
    """The predictions in a file of any of the three forms. Raises UsageError that names the place and the mend."""
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise UsageError(f"{path}: no such file; give a preds.json or its JSONL") from None
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path}: does not read ({error}); give a preds.json or its JSONL") from error
    return _unique(path, [_prediction(place, entry) for place, entry in _entries(path, text)])


def _entries(path: Path, text: str) -> list[tuple[str, Any]]:
    """Each entry with its place. A single line is a prediction if it has the fields of one, else a whole file."""
    try:
        whole = json.loads(text)
    except ValueError:
        return [
            (f"{path}:{number}", _decode(f"{path}:{number}", line))
            for number, line in enumerate(text.splitlines(), 1)
            if line.strip()
        ]
    if isinstance(whole, list):
        return [(f"{path}: entry {number}", entry) for number, entry in enumerate(whole, 1)]
    if isinstance(whole, dict) and "instance_id" in whole:
        return [(f"{path}:1", whole)]
    if isinstance(whole, dict):
        return [
            (f"{path}: {name}", {"instance_id": name, **entry} if isinstance(entry, dict) else entry)
            for name, entry in whole.items()
        ]
    raise UsageError(f"{path}: holds no predictions; want an object by instance id, a list, or JSON lines")


def _decode(place: str, line: str) -> Any:
    try:
        return json.loads(line)
    except ValueError as error:
        raise UsageError(f"{place}: not JSON ({error}); mend the line") from error


def _prediction(place: str, entry: Any) -> Prediction:
    if not isinstance(entry, dict):
        raise UsageError(f"{place}: is no object; want the fields {', '.join(_FIELDS)}")
    values = {}
    for name in _FIELDS:
        value = entry.get(name)
        if value is None and name == "model_patch" and name in entry:
            value = ""  # other harnesses write null for nothing
        if not isinstance(value, str):
            raise UsageError(f"{place}: the field {name!r} is missing or no text; want {', '.join(_FIELDS)}")
        values[name] = value
    try:
        return Prediction(**values)
    except UsageError as error:
        raise UsageError(f"{place}: {error}") from None


def _unique(path: Path, predictions: Sequence[Prediction]) -> tuple[Prediction, ...]:
    names = [prediction.instance_id for prediction in predictions]
    for name in names:
        if names.count(name) > 1:
            raise UsageError(f"{path}: {name} is there twice; give one prediction for each instance")
    return tuple(predictions)
