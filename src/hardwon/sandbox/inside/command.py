"""Started in the sandbox to run one shell command: sets up its folder, limits and filter, then becomes the shell.

Each command waits for the imports here: they are the fewest that do (json, typing and shutil alone took 10 ms).
"""

from __future__ import annotations

import marshal
import os
import resource
import sys

from . import confine

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def main(descriptor: str) -> None:
    """Never returns: becomes `/bin/sh -c command`, or ends with a message on standard error and status 125.

    What to do is read from the descriptor, since any user of the machine can see a command line.
    """
    with os.fdopen(int(descriptor), "rb") as told:
        config: dict[str, Any] = marshal.load(told)
    try:
        for fd in config["cgroups"]:
            os.write(fd, b"0")
            os.close(fd)
        if config["source"] is not None:
            import shutil

            shutil.copytree(config["source"], config["folder"], symlinks=True, dirs_exist_ok=True)
        os.chdir(config["folder"])
        if config["landlock"]:
            confine.landlock(*config["landlock"])
        limits = confine.resource_limits(config["limits"], config["processes"], memory=not config["cgroups"])
        for which, both in limits:
            resource.setrlimit(which, both)
        confine.no_new_privileges()
        confine.drop_capabilities()
        if config["seccomp"]:
            confine.install_seccomp(confine.seccomp_program(sockets=config["sockets"]))
        os.execve("/bin/sh", ["sh", "-c", config["command"]], config["environment"])
    except BaseException as error:
        print(f"{config['mark']}{type(error).__name__}: {error}", file=sys.stderr, flush=True)
        os._exit(125)
