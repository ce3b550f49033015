"""A comparison as text where its tables do not fit beside each other. Needs the extra `lab`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hardwon.runs.comparison.result import Comparison
from hardwon.runs.comparison.tables import tables, title
from hardwon.runs.report_fold import fold, table


def as_narrow_table(config: Mapping[str, Any], comparison: Comparison, width: int) -> str:
    """All that the comparison's table says, in lines of at most `width` columns."""
    blocks = [fold(" ".join(title(config, comparison).split()), width)]
    blocks += [[*fold(f"{each.caption}:", width), *table(each.header, each.rows, width)] for each in tables(comparison)]
    sentences = [found.sentence for found in comparison.differences]
    for several in (sentences, comparison.remarks):
        if several:
            blocks.append([line for sentence in several for line in fold(sentence, width)])
    return "\n\n".join("\n".join(block) for block in blocks)
