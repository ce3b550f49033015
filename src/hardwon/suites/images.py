"""Container images of instances: which one, what runs it, and what is in it."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Literal

from hardwon.errors import UsageError
from hardwon.suites.read import Row

IN_IMAGE = Path("/testbed")
"""Where the official images keep the repository."""

_CONDA = "/opt/miniconda3"
IMAGE_ENV = (
    ("PATH", f"{_CONDA}/envs/testbed/bin:{_CONDA}/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"),
    ("CONDA_DEFAULT_ENV", "testbed"),
    ("CONDA_PREFIX", f"{_CONDA}/envs/testbed"),
)
"""What activates the environment of the official images, in which the repository is installed."""


def image_of(row: Row) -> str:
    """The container image of an instance: the one it names, or the official one."""
    for name in ("image_name", "docker_image"):
        if row.fields.get(name):
            return row.need(name)
    # Docker allows no double underscore in a name
    official = row.need("instance_id").replace("__", "_1776_").lower()
    return f"docker.io/swebench/sweb.eval.x86_64.{official}:latest"


def runtime() -> Literal["podman", "docker"]:
    """What runs containers here. Raises UsageError where nothing does."""
    if shutil.which("podman"):
        return "podman"
    if shutil.which("docker"):
        return "docker"
    raise UsageError(
        "container images need podman or docker, and neither is installed; install one, or give local checkouts with "
        "--checkouts FILE"
    )
