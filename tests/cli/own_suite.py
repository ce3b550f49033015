"""The small suite that the command-line tests run, its scripted model, and how to read results."""

import json
from pathlib import Path
from typing import Any

TASKS: list[dict[str, Any]] = [
    {
        "task_id": "own/double",
        "prompt": "Write double(x), which returns twice x.",
        "entry_point": "double",
        "tests": ["assert double(2) == 4"],
        "hidden_tests": ["assert double(0) == 0", "assert double(-3) == -6"],
    },
    {
        "task_id": "own/largest",
        "prompt": "Write largest(xs), which returns the largest number of a list, or None for an empty one.",
        "entry_point": "largest",
        "tests": ["assert largest([1, 3, 2]) == 3", "assert largest([]) is None"],
        "hidden_tests": ["assert largest([-5, -2]) == -2"],
    },
]
LESSON = "An empty list raised inside max, hence guard against emptiness before calling it."
SCRIPT = {
    "own/double": {"act": ["```python\ndef double(x):\n    return 2 * x\n```"]},
    "own/largest": {
        "act": [
            "```python\ndef largest(xs):\n    return max(xs)\n```",
            "```python\ndef largest(xs):\n    return max(xs) if xs else None\n```",
        ],
        "reflect": [LESSON],
    },
}


def rows(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "results.jsonl").read_text().splitlines()]
