"""Pages as files."""

import re
from pathlib import Path
from urllib.parse import unquote

import pytest
from tests.view.made import HOSTILE, learned, make_run, row, written

from hardwon.errors import UsageError
from hardwon.runs.journal import Key
from hardwon.view.export import export_pages


def test_every_link_of_an_export_leads_to_a_file_of_it(tmp_path: Path) -> None:
    with written(tmp_path / "runs" / "many", arms=("single", "reflexion"), tasks=130) as journal:
        for n in range(130):
            journal.append(Key(f"t/{n}", "single", 0), "row", 0, row(f"t/{n}", "single"))
        learned(journal, "t/0")
        learned(journal, "t/é \x7f</a>", text=HOSTILE)
    make_run(tmp_path / "runs" / "other")
    out = export_pages([tmp_path / "runs"], tmp_path / "out").parent
    pages = list(out.glob("*.html"))
    assert len(pages) > 260
    for page in pages:
        text = page.read_text(encoding="utf-8")
        assert "<script" not in text
        assert "default-src 'none'" in text
        for link in re.findall(r'(?:href|src)="([^"#]+)"', text):
            assert (out / unquote(link)).is_file(), f"{page.name}: {link}"


def test_an_export_never_writes_over_what_lies_there(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine.txt").write_text("mine")
    with pytest.raises(UsageError, match="lies there already"):
        export_pages([make_run(tmp_path / "run")], tmp_path / "out")
    with pytest.raises(UsageError, match="no run folder"):
        export_pages([tmp_path / "out"], tmp_path / "new")
    assert [p.name for p in tmp_path.iterdir() if p.name.startswith(".")] == []
    assert not (tmp_path / "new").exists()
