"""A run's report as one self-contained page: no script, nothing from the network, everything escaped (law 10)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from hardwon.runs.report import facts, remarks, title
from hardwon.runs.report_exits import Exits
from hardwon.runs.row import Row
from hardwon.runs.summary import summarise

_TEMPLATE = Path(__file__).with_name("page.html.jinja")


def as_html(config: Mapping[str, Any], rows: Sequence[Row], exits: Sequence[Exits] = ()) -> str:
    """The page of a run of one arm: what it came to, each task's outcome, and the settings; light or dark."""
    from jinja2 import Environment, StrictUndefined

    summaries = summarise(rows)
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    return environment.from_string(_TEMPLATE.read_text(encoding="utf-8")).render(
        title=title(config),
        facts=[(label, " · ".join(values)) for label, values in facts(summaries, exits)],
        remarks=remarks(summaries),
        rows=rows,
        settings=json.dumps(config.get("settings", {}), indent=2, ensure_ascii=False),
    )
