"""Every example in the README and the docs is run.

In a Markdown file the blocks are worked in order, in one empty folder. ```console: each `$` line must succeed (or leave
with the code in a `# exit N` comment), and the lines below it are what it prints (`...` stands for anything). ```python
is run as a program. A block whose first line is a comment `file: NAME` is written to that file instead. Blocks of other
languages are for reading. The configured model is a scripted one; hosted names reach a server of the tests.
"""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.models.chat_server import Handler, serving

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
FILE = re.compile(r"(?:#|//|<!--) file: (\S+)[^\n]*\n")
ADD = "```python\ndef add(a, b):\n    return a + b\n```"


def page_blocks(page: Path) -> list[tuple[str, str]]:
    return [(m[1], m[2]) for m in BLOCK.finditer(page.read_text(encoding="utf-8"))]


@pytest.fixture
def environment(tmp_path: Path) -> Iterator[dict[str, str]]:
    def answer(handler: Handler) -> None:
        choice = {"index": 0, "message": {"role": "assistant", "content": ADD}, "finish_reason": "stop"}
        usage = {"prompt_tokens": 50, "completion_tokens": 20, "total_tokens": 70}
        reply = {
            "id": "1",
            "object": "chat.completion",
            "created": 1,
            "model": handler.body["model"],
            "choices": [choice],
            "usage": usage,
        }
        handler.send(200, json.dumps(reply).encode())

    home = tmp_path / "home"
    home.mkdir()
    (home / "script.json").write_text(
        json.dumps({"*": {"act": [ADD], "reflect": ["Think of empty input first, then order."]}})
    )
    (home / "config.toml").write_text(f'model = "script:{home}/script.json"\n')
    with serving(answer) as server:
        port = server.server_address[1]
        yield {
            **os.environ,
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
            "HARDWON_CONFIG": str(home / "config.toml"),
            "OPENAI_API_KEY": "test",
            "OPENAI_BASE_URL": server.url,
            "OLLAMA_BASE_URL": server.url,
            "EXAMPLE_PORT": str(port),
            "NO_COLOR": "1",
        }


def shell(command: str, folder: Path, environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["bash", "-c", command], cwd=folder, env=environment, capture_output=True, text=True, timeout=110, check=False
    )


def run_console(text: str, folder: Path, environment: dict[str, str]) -> None:
    for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        command, _, expected = part.partition("\n")
        while command.endswith("\\"):
            more, _, expected = expected.partition("\n")
            command = command[:-1] + more.strip()
        wanted = re.search(r"# exit (\d+)\s*$", command)
        command = command.replace(":8000/v1", f":{environment['EXAMPLE_PORT']}/v1")
        done = shell(command, folder, environment)
        code = int(wanted[1]) if wanted else 0
        assert done.returncode == code, f"$ {command}\n{done.stdout}{done.stderr}"
        if expected.strip():
            printed = done.stdout + done.stderr
            assert re.search(as_pattern(expected), printed), f"$ {command}\nprints\n{printed}\nnot\n{expected}"


def as_pattern(expected: str) -> str:
    """A line of `...` stands for any lines, or none; `...` within a line for anything in it."""
    lines = []
    for line in expected.strip().splitlines():
        any_lines = line.strip() == "..."
        lines.append("(?:.*\n)*" if any_lines else ".*".join(map(re.escape, line.strip().split("..."))) + r"\s*")
    return "".join(lines)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_example_does_what_the_page_says(page: Path, tmp_path: Path, environment: dict[str, str]) -> None:
    folder = tmp_path / "work"
    folder.mkdir()
    for language, text in page_blocks(page):
        named = FILE.match(text)
        if named:
            (folder / named[1]).parent.mkdir(parents=True, exist_ok=True)
            (folder / named[1]).write_text(text if language == "python" else text[named.end() :])
        elif language == "console":
            run_console(text, folder, environment)
        elif language == "python":
            done = subprocess.run(
                [sys.executable, "-c", text],
                cwd=folder,
                env=environment,
                capture_output=True,
                text=True,
                timeout=110,
                check=False,
            )
            assert done.returncode == 0, f"{text}\n{done.stderr}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_between_pages_leads_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text(encoding="utf-8")):
        assert (page.parent / target).exists(), target
