"""Rooms in a container, by the command line of podman or docker: the tree lies on the host and is shown inside."""

from __future__ import annotations

import os
import shutil
import subprocess
import threading
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from hardwon.errors import SandboxError, UsageError
from hardwon.sandbox.protocol import CommandResult
from hardwon.sandbox.shell import Watch
from hardwon.sandbox.workspaces.git import facts, tame
from hardwon.sandbox.workspaces.homes import CONTAINER, remove_container
from hardwon.sandbox.workspaces.rooms import HEAD_BYTES, LIMITS, Room, in_thread

ORIGIN = "origin"
_START_SECONDS = 600.0
_WAIT = "trap 'exit 0' TERM; while :; do sleep 3600 & wait; done"
# Every process but this shell and the container's first one ends with the command, as its exit status is passed on.
_RUN = (
    'if command -v bash >/dev/null 2>&1; then bash -c "$1"; else sh -c "$1"; fi; status=$?; '
    "kill -9 -1 2>/dev/null; exit $status"
)


class Container:
    """A container of `image` for one workspace, with the tree of `home` at `folder`."""

    def __init__(
        self,
        runtime: str,
        image: str,
        home: Path,
        folder: str,
        room: Room,
        *,
        network: bool,
        environment: Mapping[str, str],
        mounts: list[tuple[str, str]],
    ) -> None:
        self._runtime = runtime
        self._name = home.name
        self._folder = folder
        self._room = room
        self._stop = threading.Event()
        self._idle = threading.Lock()
        need(runtime)
        (home / CONTAINER).write_text(runtime)
        shown = [(str(home / "tree"), folder, ""), (str(home / "tmp"), "/tmp", "")]
        shown += [(there, inside, ":ro") for there, inside in mounts]
        options = ["--name", self._name, "--workdir", folder, "--entrypoint", "/bin/sh", *_walls(runtime, network)]
        for there, inside, how in shown:
            options += ["--volume", f"{there}:{inside}{how}"]
        options += ["--env", "HOME=/tmp", "--env", "PYTHONDONTWRITEBYTECODE=1"]
        # by name alone, as others can read a command line; but what the runtime itself may go by is left to it
        quiet = {name: value for name, value in environment.items() if os.environ.get(name, value) == value}
        for name, value in environment.items():
            options += ["--env", name if name in quiet else f"{name}={value}"]
        try:
            call(runtime, "run", "--detach", "--rm", *options, image, "-c", _WAIT, environment=quiet)
        except BaseException:
            self.close()
            raise

    async def run(self, command: str, seconds: float) -> CommandResult:
        return await in_thread(lambda: self._run(command, seconds), self._stop)

    def _run(self, command: str, seconds: float) -> CommandResult:
        with self._idle:
            self._stop.clear()
            watch = Watch(replace(LIMITS, total_seconds=seconds), HEAD_BYTES, self._stop, self._room.overstepped)
            argv = [self._runtime, "exec", "--workdir", self._folder, self._name, "/bin/sh", "-c", _RUN, "sh", command]
            try:
                process = subprocess.Popen(
                    argv,
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.STDOUT,
                    start_new_session=True,
                )
            except OSError as error:
                raise SandboxError(f"{self._runtime} could not be started: {error}") from error
            ended_early = watch.follow(process, None)
            if ended_early:
                call(self._runtime, "exec", self._name, "/bin/sh", "-c", "kill -9 -1 2>/dev/null; exit 0")
            elif process.returncode in (125, 126, 127, 255) and not self._runs():
                raise SandboxError(f"the container {self._name} is gone: {watch.output().strip()[-300:]}")
            return CommandResult(
                None if ended_early else process.returncode, watch.output(), watch.seconds, watch.timed_out
            )

    def _runs(self) -> bool:
        argv = [self._runtime, "inspect", "--format", "{{.State.Running}}", self._name]
        return subprocess.run(argv, capture_output=True, text=True, check=False).stdout.strip() == "true"

    def close(self) -> None:
        self._stop.set()
        remove_container(self._runtime, self._name)


def take_out(runtime: str, image: str, folder: Path, home: Path) -> str:
    """Copies a repository out of an image: the tree to `home/tree`, its git directory to `home/origin`; its HEAD.

    Raises SandboxError, UsageError where no repository lies there.
    """
    need(runtime)
    (home / CONTAINER).write_text(runtime)
    call(runtime, "create", "--name", home.name, "--entrypoint", "/bin/sh", image)
    try:
        call(runtime, "cp", f"{home.name}:{folder}", str(home / "tree"))
    finally:
        remove_container(runtime, home.name)
    place = home / "tree" / ".git"
    if (home / "tree").is_symlink() or place.is_symlink() or not place.is_dir():
        raise UsageError(f"{folder} in the image {image}: is not a git repository; give where it lies in the image")
    (home / ORIGIN).mkdir()
    place.rename(home / ORIGIN / ".git")
    tame(home / ORIGIN / ".git", bare=False)
    return facts(home / ORIGIN, None).commit


def need(runtime: str) -> None:
    """Raises SandboxError where the runtime is not installed."""
    if shutil.which(runtime) is None:
        raise SandboxError(f"{runtime} is not installed; install it, or choose another backend such as bubblewrap")


def call(runtime: str, *arguments: str, environment: Mapping[str, str] | None = None) -> str:
    """What the runtime prints; `environment` adds to its own. Raises SandboxError with its complaint."""
    try:
        done = subprocess.run(
            [runtime, *arguments],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            env={**os.environ, **(environment or {})},
            timeout=_START_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise SandboxError(f"{runtime} {arguments[0]}: {error}") from error
    if done.returncode != 0:
        said = " ".join(done.stderr.split())
        raise SandboxError(f"{runtime} {arguments[0]}: {said[-500:] or f'left with status {done.returncode}'}")
    return done.stdout


def _walls(runtime: str, network: bool) -> list[str]:
    """No network, no privileges, bounded memory and processes; written files belong to the user of this process."""
    user = "0:0" if runtime == "podman" else f"{os.getuid()}:{os.getgid()}"
    limits = [
        "--memory",
        f"{LIMITS.memory_mib}m",
        "--pids-limit",
        str(LIMITS.processes),
        "--ulimit",
        "nofile=1024:1024",
    ]
    limits += ["--ulimit", f"fsize={LIMITS.file_mib << 20}:{LIMITS.file_mib << 20}"]
    if runtime == "podman":  # which else asks for more than it may have, and does not start
        limits += ["--ulimit", "nproc=1024:1024"]
    walls = ["--cap-drop", "ALL", "--security-opt", "no-new-privileges", "--security-opt", "label=disable"]
    return [*limits, *walls, "--user", user, *([] if network else ["--network", "none"])]
