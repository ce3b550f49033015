"""Programs and diffs with syntax colours, as escaped HTML; the colours themselves are in the style sheet."""

from __future__ import annotations

from functools import lru_cache
from typing import Literal

from markupsafe import Markup, escape

from hardwon.view.text import cut, shown

Language = Literal["python", "diff", "text"]
_LONGEST = 12_000
"""Longer texts, and those with longer lines than a person reads, are shown without colours."""
_LINE = 2_000


@lru_cache(maxsize=512)
def coloured(text: str, language: Language) -> Markup:
    """`text` made safe, escaped and, where that takes no long, coloured."""
    safe = shown(cut(text))
    if language == "text" or len(safe) > _LONGEST or max(map(len, safe.splitlines()), default=0) > _LINE:
        return escape(safe)
    from pygments import highlight
    from pygments.formatters import HtmlFormatter
    from pygments.lexers import DiffLexer, PythonLexer

    lexer = PythonLexer() if language == "python" else DiffLexer()
    return Markup(highlight(safe, lexer, HtmlFormatter(nowrap=True, classprefix="k-")))  # escapes by itself
