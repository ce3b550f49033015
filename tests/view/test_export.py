"""Pages as files."""

import json
import re
import sys
from pathlib import Path
from urllib.parse import unquote

import pytest
from tests.view.made import HOSTILE, learned, make_run, problem, row, written

import hardwon
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


def test_an_export_does_not_say_where_things_lie_on_this_machine(tmp_path: Path) -> None:
    home, odd = str(Path.home()), "/srv/odd place/of & mine"
    text = f'File "{home}/secret/project/x.py", line 3, in {tmp_path}/runs/run: opened /dev/null and a/b/c.py'
    text += f" file://{home}/y/u.py \x1b[1;31m{home}/y/v.py\x1b[0m \x1b[0m{home}/y/w.py cc -I{home}/y/inc"
    with written(tmp_path / "runs" / "run", model=f"script:{odd}/script.json") as journal:
        learned(journal, "a", text=text)
        key = Key("b", "reflexion", 0)
        journal.append(key, "task", 0, problem("b"))
        failed = row("b", solved=None, error=f"{odd}/data.jsonl: gone", stop="error")
        trace = f"at {hardwon.__file__}:3\n  {sys.prefix}/lib/x.py"
        journal.append(key, "error", 0, {"error": failed["error"], "traceback": trace, "row": failed})
    settings = json.loads((tmp_path / "runs" / "run" / "config.json").read_text())
    settings["about"]["data"] = f"{tmp_path}/deep/data.jsonl"
    (tmp_path / "runs" / "run" / "config.json").write_text(json.dumps(settings))
    (tmp_path / "runs" / "bad").mkdir()
    (tmp_path / "runs" / "bad" / "journal.sqlite").write_bytes(b"nonsense" * 100)
    (tmp_path / "runs" / "bad" / "config.json").write_text("{}")
    out = export_pages([tmp_path / "runs"], tmp_path / "out").parent
    pages = "".join(page.read_text(encoding="utf-8") for page in out.glob("*.html"))
    for place in (f"{home}/", str(tmp_path), "/srv/odd", "of &amp; mine", str(Path.cwd()), sys.prefix):
        assert place not in pages, place
    for kept in ("…/u.py", "…/v.py", "…/w.py", "-I…/inc"):
        assert kept in pages, kept
    for kept in ("…/x.py", "…/script.json", "…/data.jsonl", "/dev/null", "a/b/c.py", "can not be read"):
        assert kept in pages, kept
