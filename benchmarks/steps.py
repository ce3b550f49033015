"""The shell agent's own time for each step, over the command itself.

    python benchmarks/steps.py [--steps 40] [--backends bubblewrap,podman] [--json]

A scripted model takes the steps through the whole loop: session, ledger, journal, prompt, workspace, observation. What
is timed is all that lies between two model calls. In each model call, whose time is left out, the same command is run
bare: for bubblewrap by a plain `bash -c`, for a container by `podman exec`. The own time is the median of the
differences. Leaves with 1 where it is over its target: 30 ms over the command, 100 ms over `podman exec`.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Literal

from hardwon import Problem, ScriptedModel
from hardwon.environments.repository import RepositoryTask
from hardwon.models.protocol import Completion, Request
from hardwon.runs.folder import open_folder
from hardwon.runs.runner import Arm, Runner
from hardwon.sandbox.workspaces.workspace import RepositorySource
from hardwon.strategies.single import Single

Backend = Literal["bubblewrap", "podman"]
TARGETS: dict[Backend, float] = {"bubblewrap": 30.0, "podman": 100.0}
IMAGE = "localhost/hardwon-steps"
PROGRAMS = ("sh", "bash", "cat", "sleep", "kill")
CONTAINERS = """[engine]
runtime = "runc"
cgroup_manager = "cgroupfs"
events_logger = "file"
[containers]
default_ulimits = ["nofile=1024:1024", "nproc=1024:1024"]
"""


class Timed:
    """The scripted model; between its calls it is the loop's turn, and in each of them the bare command's."""

    name = "script:steps"
    parallel = 1
    price_known = True

    def __init__(self, commands: Sequence[str], bare: Callable[[str], list[str]]) -> None:
        replies = [f"Next.\n\n```bash\n{command}\n```" for command in commands]
        self._scripted = ScriptedModel.from_replies({"*": {"act": [*replies, "```bash\nsubmit\n```"]}})
        self._commands = commands
        self._bare = bare
        self._left: float | None = None
        self.own: list[float] = []
        self.alone: list[float] = []

    async def generate(self, request: Request) -> Completion:
        if self._left is not None:
            self.own.append(1000 * (time.perf_counter() - self._left))
        completion = await self._scripted.generate(request)
        if request.index < len(self._commands):
            argv = self._bare(self._commands[request.index])
            start = time.perf_counter()
            subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, check=True)
            self.alone.append(1000 * (time.perf_counter() - start))
            self._left = time.perf_counter()
        return completion

    async def close(self) -> None: ...


def repository(folder: Path) -> Path:
    folder.mkdir()
    (folder / "total.py").write_text("def total(numbers):\n    return max(numbers)\n")
    for step in (("init", "-q"), ("add", "-A"), ("-c", "user.name=t", "-c", "user.email=t@t", "commit", "-qm", "It")):
        subprocess.run(["git", "-C", str(folder), *step], check=True)
    return folder


def make_image(folder: Path) -> None:
    """An image of a few of this machine's own programs, since no registry need be in reach."""
    (folder / "containers.conf").write_text(CONTAINERS)
    os.environ["CONTAINERS_CONF"] = str(folder / "containers.conf")
    root = folder / "root"
    for name in ("bin", "tmp", "etc", "proc", "sys", "dev"):
        (root / name).mkdir(parents=True)
    for name in PROGRAMS:
        found = shutil.which(name)
        if found is None:
            continue
        shutil.copy(found, root / "bin" / name)
        libraries = subprocess.run(["ldd", found], capture_output=True, text=True, check=True).stdout
        for library in re.findall(r"(/\S+)", libraries):
            (root / library[1:]).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(library, root / library[1:])
    with subprocess.Popen(["tar", "-C", str(root), "-c", "."], stdout=subprocess.PIPE) as packed:
        subprocess.run(["podman", "import", "-q", "-", IMAGE], stdin=packed.stdout, check=True, capture_output=True)


async def measure(backend: Backend, steps: int, folder: Path) -> dict[str, float]:
    """Milliseconds a step, medians: in the loop, of the bare command, and what the loop took over that."""
    homes = folder / "homes"
    homes.mkdir()
    tempfile.tempdir = str(homes)

    def bare(command: str) -> list[str]:
        if backend == "bubblewrap":
            return ["bash", "-c", command]
        [container] = homes.glob("hardwon-workspace-*")
        return ["podman", "exec", container.name, "/bin/sh", "-c", command]

    source = RepositorySource(repository(folder / "repository"), image=IMAGE if backend == "podman" else None)
    task = RepositoryTask(
        problem=Problem("steps", "Look around.", "repository"),
        feedback=None,
        grader=None,
        digest="0",
        graded_on="nothing",
        source=source,
        steps=steps + 1,
        backend=backend,
    )
    model = Timed([f"cat total.py; echo {n}" for n in range(steps)], bare)
    with open_folder(folder / "run", {"settings": {}}) as journal:
        await Runner(journal, model, workers=1).run([task], [Arm("single", Single())])
    own = [whole - alone for whole, alone in zip(model.own, model.alone, strict=False)]
    if len(own) < steps:
        raise RuntimeError(f"only {len(own)} of {steps} steps were taken")
    return {
        "steps": len(own),
        "loop_ms": statistics.median(model.own[:steps]),
        "alone_ms": statistics.median(model.alone),
        "own_ms": statistics.median(own),
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=40)
    parser.add_argument("--backends", default="bubblewrap,podman")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    found: dict[str, dict[str, float]] = {}
    for backend in TARGETS:
        if backend not in options.backends.split(","):
            continue
        with tempfile.TemporaryDirectory(dir="/tmp") as folder:
            if backend == "podman":
                make_image(Path(folder))
            found[backend] = asyncio.run(measure(backend, options.steps, Path(folder)))
            tempfile.tempdir = None
    if options.json:
        print(json.dumps(found))
    else:
        for backend, target in TARGETS.items():
            if backend in found:
                told = found[backend]
                print(
                    f"{backend.ljust(10)}  {told['steps']} steps: {told['loop_ms']:.1f} ms each, the command alone "
                    f"{told['alone_ms']:.1f} ms, own time {told['own_ms']:.1f} ms (target: under {target:g} ms)"
                )
    return 0 if all(told["own_ms"] < TARGETS[backend] for backend, told in found.items()) else 1  # type: ignore[index]


if __name__ == "__main__":
    sys.exit(main())
