"""Tells a command that can not be run at all from one that fails: nothing of that is the candidate's (law 8)."""

from __future__ import annotations

import re
import shlex
from collections.abc import Awaitable, Callable

from hardwon.errors import InfrastructureError
from hardwon.sandbox.protocol import CommandResult

# What shells say (dash; bash, zsh; busybox) when a command does not exist or may not be run.
_MISSING = re.compile(r"(?:^|\s)([^\s:]+): (?:command )?(?:not found|Permission denied|No such file or directory)")
_COMMAND_WORD = re.compile(r"(?:^|[;&|(){}!\n]|\b(?:exec|env|time|nice)\s)\s*(?:\w+=\S*\s+)*([^\s;&|(){}]+)")
_NO_MODULE = re.compile(r"^\S*: No module named '?([\w.]+)'?", re.MULTILINE)
_MODULE_RUN = re.compile(r"(\S*python[\w.]*)\s+(?:-\w+\s+)*-m\s+([\w.]+)")


async def need_tools(
    command: str,
    result: CommandResult,
    run: Callable[[str], Awaitable[CommandResult]],
    candidate: tuple[str, ...] = (),
) -> None:
    """Raises InfrastructureError if what `command` needs is not there without the candidate either.

    What the output claims is only a hint, since the candidate may have printed it: each tool is tried on its own with
    `run`. `candidate` are words of the command that are the candidate's own.
    """
    tools = set(_COMMAND_WORD.findall(command)) - set(candidate)
    if result.status in (126, 127):
        for tool in dict.fromkeys(_MISSING.findall(result.output)):
            if tool in tools and (await run(f"command -v {shlex.quote(tool)}")).status != 0:
                raise InfrastructureError(
                    f"command {command!r}: {tool} is missing, or may not be run, where the check runs; install it or "
                    "change the command"
                )
    claimed = set(_NO_MODULE.findall(result.output))
    for python, module in _MODULE_RUN.findall(command):
        if module.partition(".")[0] in claimed or module in claimed:
            probe = f"import importlib.util as u, sys; sys.exit(u.find_spec({module.partition('.')[0]!r}) is None)"
            if (await run(f"{python} -c {shlex.quote(probe)}")).status == 1:
                raise InfrastructureError(
                    f"command {command!r}: {python} has no module {module}; install it or change the command"
                )
