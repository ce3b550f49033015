"""A comparison as one self-contained page: no script, nothing from the network, everything escaped (law 10)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from hardwon.runs.comparison.chart import COLOURS, HEIGHT, WIDTH, chart
from hardwon.runs.comparison.result import Comparison
from hardwon.runs.comparison.tables import tables, title
from hardwon.runs.report_exits import Exits

_TEMPLATE = Path(__file__).with_name("page.html.jinja")


def as_html(config: Mapping[str, Any], comparison: Comparison, exits: Sequence[Exits] = ()) -> str:
    """The page: verdicts, the curves as inline SVG, the tables, remarks and settings; light or dark as the reader's."""
    from jinja2 import Environment, StrictUndefined

    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    template = environment.from_string(_TEMPLATE.read_text(encoding="utf-8"))
    return template.render(
        title=title(config, comparison),
        comparison=comparison,
        chart=chart(comparison),
        tables=tables(comparison),
        exits=exits,
        colours=COLOURS,
        width=WIDTH,
        height=HEIGHT,
        settings=json.dumps(config.get("settings", {}), indent=2, ensure_ascii=False),
    )
