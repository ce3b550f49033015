"""Workspaces: a private tree of a repository's commit, in which commands run and whose change can be read."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol, TypeVar

from hardwon.errors import InfrastructureError, UsageError
from hardwon.sandbox.protocol import CommandResult
from hardwon.sandbox.workspaces.archive import unpack
from hardwon.sandbox.workspaces.change import PatchRefused as PatchRefused
from hardwon.sandbox.workspaces.change import UnfitChange as UnfitChange
from hardwon.sandbox.workspaces.change import difference, put_on, snapshot, tracked
from hardwon.sandbox.workspaces.checkout import check_out
from hardwon.sandbox.workspaces.container import ORIGIN, take_out
from hardwon.sandbox.workspaces.git import Facts, Git, GitFailed, facts
from hardwon.sandbox.workspaces.homes import Home
from hardwon.sandbox.workspaces.rooms import Rooms, open_rooms

Backend = Literal["bubblewrap", "process", "podman", "docker"]
SETUP_SECONDS = 1800.0
ROOM_MIB = 2048
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class RepositorySource:
    """Where a workspace's tree comes from.

    `path` is the user's git repository, or an archive or bundle of one; `base` the commit that the tree is of (None:
    HEAD), `setup` a command that runs in each new tree before anything else. `image` is the container image for the
    container backends; with one, `path` may also be where the repository lies in the image. `objects` is a further
    folder of git objects in which the base may lie. `mounts` are folders shown read-only: relative ones lie in the
    repository, ignored by git (`.venv`, `node_modules`), absolute ones where they are. `tools` are folders that stand
    first on the PATH.
    """

    path: Path
    base: str | None = None
    setup: str | None = None
    image: str | None = None
    objects: Path | None = None
    mounts: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()


class Workspace(Protocol):
    """A tree of one's own. Not for two tasks at once; `close` removes it whatever happened."""

    @property
    def path(self) -> Path:
        """The tree on the host."""
        ...

    @property
    def base(self) -> str:
        """The commit that the tree is of."""
        ...

    async def run(self, command: str, *, seconds: float) -> CommandResult:
        """Runs a command in a fresh shell in the tree.

        It ends with all that it started, at the latest after `seconds`; what it said until then is kept. Cancelling
        ends it too. Raises InfrastructureError when it can not be started.
        """
        ...

    async def files(self) -> tuple[str, ...]:
        """The paths that git knows in the base, in order."""
        ...

    async def diff(self) -> str:
        """The change from the base to the tree as git diff: new and binary files in, ignored ones out; may be empty.

        What the agent did to `.git` plays no part. Raises UnfitChange when the change is too large, or git
        can not read it.
        """
        ...

    async def apply(self, patch: str) -> None:
        """Puts a patch onto the tree, whole or not at all. Raises PatchRefused."""
        ...

    async def close(self) -> None: ...


async def open_workspace(
    source: RepositorySource,
    *,
    network: bool = False,
    env: Sequence[tuple[str, str]] = (),
    backend: Backend = "bubblewrap",
    room_mib: int = ROOM_MIB,
    setup_seconds: float = SETUP_SECONDS,
) -> Workspace:
    """A new workspace. The user's repository is only ever read.

    `env` are variables, name and value, that commands are given beside the few usual ones. A command that writes more
    than `room_mib` on top of the tree is ended. Raises UsageError for a path that is no repository, has no commits, or
    lacks the base; InfrastructureError when the workspace can not be made or its set-up command fails.
    """
    workspace = await _made(
        asyncio.create_task(asyncio.to_thread(_make, source, network, dict(env), backend, room_mib))
    )
    if source.setup is not None:
        try:
            await workspace.set_up(source.setup, setup_seconds)
        except BaseException:
            await workspace.close()
            raise
    return workspace


async def _made(making: asyncio.Task[LocalWorkspace]) -> LocalWorkspace:
    """Waits for what a thread makes; when cancelled, waits too, and removes it."""
    try:
        return await asyncio.shield(making)
    except asyncio.CancelledError:
        await (await making).close()
        raise


def _make(
    source: RepositorySource, network: bool, env: Mapping[str, str], backend: Backend, room_mib: int
) -> LocalWorkspace:
    inside = source.image is not None and backend in ("podman", "docker") and not source.path.exists()
    home = Home()
    try:
        before = take_out(backend, source.image, source.path, home.path) if inside and source.image else None
        place = home.path / ORIGIN if inside else source.path
        if source.path.is_file():
            place = unpack(source.path, home.path / ORIGIN)
        found = facts(place, source.base, source.objects)
        root = found.root if place == source.path else source.path
        for mount in source.mounts:
            if not (root / mount).is_dir():
                raise UsageError(f"{root / mount}: no such folder to show; make it or leave it out")
        git, commit = check_out(found, source.objects, home.path, before)
        if inside:
            commit = snapshot(git)  # what was built in the image is no part of the change
        rooms = open_rooms(
            backend,
            home.path,
            root,
            network=network,
            environment=env,
            mounts=source.mounts,
            tools=source.tools,
            image=source.image,
            room_mib=room_mib,
        )
    except (OSError, GitFailed) as error:
        free = shutil.disk_usage(home.path).free >> 20
        home.remove()
        raise InfrastructureError(
            f"no workspace could be made of {source.path}: {error} ({free} MiB are free in {home.path.parent})"
        ) from error
    except BaseException:
        home.remove()
        raise
    return LocalWorkspace(home, git, found, commit, rooms)


class LocalWorkspace:
    """A `Workspace` whose tree lies on this machine; its commands run in `rooms`."""

    def __init__(self, home: Home, git: Git, found: Facts, commit: str, rooms: Rooms) -> None:
        self.path = git.tree
        self.base = found.commit
        self._home = home
        self._git = git
        self._from = commit
        self._rooms = rooms

    async def run(self, command: str, *, seconds: float) -> CommandResult:
        """See `Workspace.run`."""
        return await self._rooms.run(command, seconds)

    async def files(self) -> tuple[str, ...]:
        """See `Workspace.files`."""
        return await self._do(lambda: tracked(self._git))

    async def diff(self) -> str:
        """See `Workspace.diff`."""
        return await self._do(lambda: difference(self._git, self._from))

    async def apply(self, patch: str) -> None:
        """See `Workspace.apply`."""
        await self._do(lambda: put_on(self._git, patch))

    async def set_up(self, command: str, seconds: float) -> None:
        """Runs the set-up command; what it leaves in the tree is no part of the change."""
        result = await self.run(command, seconds=seconds)
        if result.status != 0:
            how = "did not end in time" if result.status is None else f"left with status {result.status}"
            raise InfrastructureError(f"the set-up command {command!r} {how}: {result.output.strip()[-500:]}")
        self._from = await self._do(lambda: snapshot(self._git))

    async def close(self) -> None:
        """See `Workspace.close`."""
        await asyncio.shield(asyncio.to_thread(self._end))

    def _end(self) -> None:
        self._rooms.close()
        self._home.remove()

    async def _do(self, work: Callable[[], _T]) -> _T:
        try:
            return await asyncio.to_thread(work)
        except OSError as error:
            raise InfrastructureError(f"workspace of {self.base[:12]}: {error}") from error
