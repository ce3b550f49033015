"""Templates to HTML: everything that is put into a page is made visible and escaped on its way (law 10)."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from hardwon.runs.comparison.chart import COLOURS, HEIGHT, WIDTH
from hardwon.view import figures
from hardwon.view.colours import coloured
from hardwon.view.links import Links
from hardwon.view.rows import LABELS, OUTCOMES, SIGNS, outcome
from hardwon.view.rows import tokens as row_tokens
from hardwon.view.text import cut, shown

HERE = Path(__file__).parent
STATIC = HERE / "static"


def page(name: str, links: Links, /, **values: Any) -> str:
    """The page of a template. Every text in it has gone through `shown`."""
    return _environment().get_template(f"{name}.html.jinja").render(links=links, **values)


def warm() -> None:
    """Compiles all templates."""
    for name in _environment().list_templates():
        _environment().get_template(name)


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(HERE / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_final,
    )
    environment.globals.update(
        LABELS=LABELS,
        OUTCOMES=OUTCOMES,
        SIGNS=SIGNS,
        COLOURS=COLOURS,
        WIDTH=WIDTH,
        HEIGHT=HEIGHT,
        outcome=outcome,
        row_tokens=row_tokens,
        coloured=coloured,
    )
    environment.filters.update(
        count=figures.count,
        short=figures.short,
        dollars=figures.dollars,
        seconds=figures.seconds,
        ago=figures.ago,
        percent=figures.percent,
        cut=cut,
    )
    return environment


def _final(value: object) -> object:
    if isinstance(value, Markup) or not isinstance(value, str):
        return value
    return shown(value)
