"""What the agent of `hardwon fix` may not edit: the files that decide whether it has succeeded."""

from __future__ import annotations

import glob
import os
import re
import shlex
from dataclasses import replace
from itertools import groupby
from pathlib import Path

from hardwon.evaluators.outcomes import runs_tests
from hardwon.evaluators.patches import looks_like_test
from hardwon.evaluators.repository import RepositoryCheck, names_what_passes
from hardwon.sandbox.workspaces.git import Facts, theirs
from hardwon.sandbox.workspaces.workspace import RepositorySource
from hardwon.trial import Feedback

_INTERPRETER = re.compile(r"(?:python|pypy|bash|dash|sh|zsh|node|deno|bun|ruby|perl|php|lua|Rscript)[\d.]*")
_WRAPPERS = frozenset((
    "command", "coverage", "env", "exec", "hatch", "nice", "nohup", "npx", "pdm", "pipenv", "poetry", "run", "stdbuf",
    "sudo", "time", "timeout", "uv", "xvfb-run",
))  # fmt: skip
_MAKEFILES = ("Makefile", "makefile", "GNUmakefile")


def guarded(check: RepositoryCheck, before: Feedback, found: Facts) -> RepositoryCheck:
    """The check with the tests that fail now required, and what decides about them put back as it is.

    They are required where those that pass are named too, and not only those that fail (`go test`, a script of one's
    own): there nothing would be known of a test that was mended.

    That is the file of each; where the file of one is not known, those of all tests; and what the command itself names.
    """
    named = [each for each in before.checks if each.name != check.command]
    failing = tuple(each.name for each in named if each.status == "fail")
    told = names_what_passes(check.command) or any(each.status == "pass" for each in named)
    paths = sorted(_tracked(found, check.repository))
    tests = [path for path in paths if looks_like_test(path)]
    own = [[path for path in tests if _of(name, path)] for name in failing]
    known = all(own) if own else not runs_tests(check.command)
    files = {path for each in own for path in each} if known else set(tests)
    files |= {path for path in paths if any(_at(told, path) for told in _named(check.command))}
    return replace(check, restore=(*check.restore, *map(glob.escape, sorted(files))), required=failing if told else ())


def _tracked(found: Facts, source: RepositorySource) -> frozenset[str]:
    more = {} if source.objects is None else {"GIT_ALTERNATE_OBJECT_DIRECTORIES": str(source.objects)}
    listed = theirs(found.root, "ls-tree", "-r", "--name-only", "-z", "--full-tree", str(source.base), environment=more)
    return frozenset(os.fsdecode(name) for name in listed.stdout.split(b"\0") if name)


def _of(test: str, path: str) -> bool:
    """Whether a test, by the name its runner gave it, lies in the file."""
    module = path.removesuffix(".py").replace("/", ".")
    return (
        _at(re.split(r"::| › ", test)[0], path)
        or test.startswith(f"{module}.")
        or f".{module}.".endswith(f".{test.rpartition('.')[0].rpartition('.')[0]}.")
    )


def _at(told: str, path: str) -> bool:
    """Whether a path, told from the repository or from any folder in it, may be this one."""
    told = re.sub(r"^(?:\.{1,2}/)+", "", told)
    return bool(told) and f"/{path}".endswith(f"/{told}")


def _named(command: str) -> set[str]:
    """What a check command names that may be a file which decides: scripts it runs, tests, and the makefile of `make`.

    A file that it only reads (`ruff check total.py`, `grep sum total.py`) is what is to be mended.
    """
    named: set[str] = set()
    for part in _parts(command):
        files = {each.partition("::")[0] for word in part for each in (word, word.partition("=")[2])}
        named |= {each for each in files if looks_like_test(each)} | _run_by(part)
        inner = [word for word in part if re.search(r"\s", word) and len(word) < len(command)]
        named = named.union(*map(_named, inner))  # `bash -c "python check.py"`
    return named


def _run_by(words: list[str]) -> set[str]:
    """The files that a simple command runs."""
    rest, wrapped = words, False
    while rest and (Path(rest[0]).name in _WRAPPERS or re.match(r"-|\w+=|[\d.]+[smhd]?$", rest[0])):
        wrapped = wrapped or Path(rest[0]).name in _WRAPPERS
        rest = rest[1:]
    if not rest:
        return set()
    if Path(rest[0]).name in ("make", "gmake"):
        return set(_MAKEFILES)
    looked_at = rest if wrapped else rest[:1]  # an option of a wrapper may have a value
    starts = [place for place, word in enumerate(looked_at) if _INTERPRETER.fullmatch(Path(word).name)]
    if not starts:
        return {rest[0]}
    after = rest[starts[0] + 1 :]
    script = next((place for place, word in enumerate(after) if not word.startswith("-")), len(after))
    return set() if {"-m", "-c", "-e"} & set(after[:script]) else set(after[script : script + 1])


def _parts(command: str) -> list[list[str]]:
    """The words of each simple command in a command line."""
    parts: list[list[str]] = []
    for line in command.splitlines():
        lexer = shlex.shlex(line, posix=True, punctuation_chars=True)
        lexer.whitespace_split, lexer.commenters = True, ""
        try:
            words = list(lexer)
        except ValueError:  # a quotation that goes on in the next line
            words = re.split(r"[\s'\"();<>|&]+", line)
        for ends, part in groupby(words, key=lambda word: not word.strip("();<>|&")):
            parts += [] if ends else [list(part)]
    return parts
