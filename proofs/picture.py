"""Draws a finished run as one SVG: a square for each task, coloured by what came of it.

python proofs/picture.py RUN_FOLDER --output docs/images/run.svg
"""

from __future__ import annotations

import argparse
from pathlib import Path

from jinja2 import Environment

from hardwon.runs.folder import read_config, write_text
from hardwon.runs.results import read_rows
from hardwon.runs.row import Row
from hardwon.runs.summary import summarise

COLUMNS = 41
SIDE = 20
KINDS = {
    "solved at the first attempt": "#2f6f4f",
    "solved in a task with further trials": "#7cc28f",
    "not solved, and the loop knew": "#d9b26f",
    "not solved, but passed what was visible": "#c2564b",
    "error": "#777777",
}
SVG = """\
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {{ width }} {{ height }}" font-family="sans-serif" font-size="14">
<title>{{ title }}</title>
<rect width="100%" height="100%" fill="#ffffff"/>
<text x="10" y="24" fill="#222222" font-weight="bold">{{ title }}</text>
<text x="10" y="46" fill="#222222">{{ result }}</text>
{% for square in squares -%}
<rect x="{{ square.x }}" y="{{ square.y }}" width="17" height="17" rx="3" fill="{{ square.fill }}">
<title>{{ square.name }}</title></rect>
{% endfor -%}
{% for entry in legend -%}
<rect x="{{ entry.x }}" y="{{ entry.y }}" width="14" height="14" rx="3" fill="{{ entry.fill }}"/>
<text x="{{ entry.x + 20 }}" y="{{ entry.y + 12 }}" fill="#222222">{{ entry.text }}</text>
{% endfor -%}
</svg>
"""


def kind(row: Row) -> str:
    if row.error is not None:
        return "error"
    if row.solved:
        return "solved at the first attempt" if row.trials == 1 else "solved in a task with further trials"
    passed = row.verdict == "pass"
    return "not solved, but passed what was visible" if passed else "not solved, and the loop knew"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--output", type=Path, required=True)
    options = parser.parse_args()
    rows = read_rows(options.folder)
    (summary,) = summarise(rows)
    settings = read_config(options.folder)["settings"]
    low, high = summary.interval
    title = f"{settings['suite']} · {settings['model']} · {summary.arm}"
    result = (
        f"{summary.solved} of {summary.graded} tasks solved: {summary.rate:.1%}, 95 % interval {low:.1%} to {high:.1%}"
    )
    squares = [
        {"x": 10 + SIDE * (i % COLUMNS), "y": 60 + SIDE * (i // COLUMNS), "fill": KINDS[kind(row)], "name": row.task_id}
        for i, row in enumerate(rows)
    ]
    bottom = 76 + SIDE * -(-len(rows) // COLUMNS)
    counts = {name: sum(kind(row) == name for row in rows) for name in KINDS}
    shown = [name for name in KINDS if counts[name]]
    legend = [
        {"x": 10 + 400 * (i % 2), "y": bottom + 24 * (i // 2), "fill": KINDS[name], "text": f"{name}: {counts[name]}"}
        for i, name in enumerate(shown)
    ]
    height = bottom + 24 * -(-len(shown) // 2) + 8
    template = Environment(autoescape=True).from_string(SVG)
    text = template.render(
        title=title, result=result, width=20 + SIDE * COLUMNS, height=height, squares=squares, legend=legend
    )
    write_text(options.output, text + "\n")


if __name__ == "__main__":
    main()
