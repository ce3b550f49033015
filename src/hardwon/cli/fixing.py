"""Does what `hardwon fix` asks."""

from __future__ import annotations

import hashlib
import json
import os
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal, cast

import typer

from hardwon import prompts as prompt_texts
from hardwon.actors.choose import tool_settings
from hardwon.cli.carrying import about_model, carry_out, need_price, run_folder
from hardwon.cli.fix_guard import guarded
from hardwon.cli.fix_source import snapshot_of, source_of
from hardwon.cli.fixed import Outcome, hand_over
from hardwon.cli.interruption import run_to_end
from hardwon.cli.loop import LoopOptions
from hardwon.cli.weights import ready_model
from hardwon.config import load_config
from hardwon.environments.repository import RepositoryTask
from hardwon.errors import UsageError
from hardwon.evaluators.instance import Walls
from hardwon.evaluators.repository import RepositoryCheck
from hardwon.models.tools import ToolUse
from hardwon.prompts import render
from hardwon.record import feedback_from, feedback_payload
from hardwon.runs.folder import CONFIG, read_config
from hardwon.runs.results import read_rows
from hardwon.runs.runner import Arm
from hardwon.runs.settings import run_config
from hardwon.sandbox.choose import bubblewrap_trouble
from hardwon.sandbox.workspaces.git import facts
from hardwon.sandbox.workspaces.workspace import Backend, RepositorySource
from hardwon.task import Problem
from hardwon.trial import Feedback

TASK_ID = "fix"
"""The one task's id, for scripted models and results."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FixOptions:
    """What the command line asked for."""

    loop: LoopOptions
    arm: Arm
    repo: Path
    check: str
    task: str | None
    issue: Path | None
    apply: bool
    base: str | None
    include_dirty: bool | None
    protect: tuple[str, ...]
    setup: str | None
    mounts: tuple[str, ...]
    env: tuple[str, ...]
    network: bool
    image: str | None
    steps: int
    context: int
    command_timeout: float
    check_timeout: float
    sandbox: Literal["auto", "bubblewrap", "process", "podman", "docker"]
    quiet: bool
    tools: ToolUse = "auto"


def fix_repository(options: FixOptions) -> None:
    """Mends and shows the change; leaves with the contract's exit codes."""
    run_to_end(_fix(options))


async def _fix(options: FixOptions) -> int:
    config, loop = load_config(), options.loop
    prompt_texts.use_folder(loop.prompts or config.prompts)
    text = _task_text(options)
    found = facts(options.repo, options.base)
    backend = _backend(options, config.sandbox)
    with ExitStack() as closing:
        snapshot = None if options.base is not None else snapshot_of(found, options.include_dirty)
        if snapshot is not None:
            closing.callback(snapshot.close)
        source = source_of(found, snapshot, setup=options.setup, image=options.image, mounts=options.mounts)
        assert source.base is not None
        env = _allowed(options.env)
        walls = Walls(backend, options.network, env)
        settings, digest = _settings(options, source, text)
        model = ready_model(loop.model or config.model, parallel=1)
        try:
            need_price(options.arm.budget, model)
            settings["settings"]["model"] = model.name
            settings["settings"] |= tool_settings([options.tools], model)
            settings["about"] |= about_model(model.name)
            out = loop.out or run_folder(settings, options.arm.name)
            fresh = loop.fresh or (loop.out is None and _finished(out))
            plain = RepositoryCheck(source, options.check, options.protect, seconds=options.check_timeout, walls=walls)
            before = await _before(plain, out, settings, fresh)
            if (code := _nothing_to_do(options, text, before, source.base)) is not None:
                return code
            if loop.out is None:
                _ignore(out.parent, found.root)
            problem = Problem(TASK_ID, _prompt(text, options.check, before), "repository", examples=(options.check,))
            task = RepositoryTask(
                problem=problem,
                feedback=guarded(plain, before, found),
                grader=None,
                digest=digest,
                graded_on="visible",
                source=source,
                steps=options.steps,
                command_seconds=options.command_timeout,
                context=options.context,
                network=options.network,
                env=env,
                backend=backend,
                tool_use=options.tools,
            )
            await carry_out(settings, out, [task], [options.arm], model, workers=1, fresh=fresh, show=not options.quiet)
        finally:
            await model.close()
        objects = None if snapshot is None else snapshot.objects
        outcome = Outcome(
            found, source.base, objects, options.check, before, out, read_rows(out)[0], f"hardwon/fix-{digest[:8]}"
        )
        return hand_over(outcome, apply=options.apply, as_json=loop.as_json)


def _task_text(options: FixOptions) -> str:
    if not options.check.strip():
        raise UsageError("--check: is empty; give the command that has to succeed")
    if options.task is not None and options.issue is not None:
        raise UsageError("--task and --issue: give one of them")
    if options.issue is None:
        return (options.task or "").strip()
    try:
        raw = sys.stdin.buffer.read() if str(options.issue) == "-" else options.issue.read_bytes()
        text = raw.decode("utf-8")
    except OSError as error:
        raise UsageError(
            f"--issue {options.issue}: {error.strerror}; give a text file, or - for standard input"
        ) from error
    except UnicodeDecodeError as error:
        raise UsageError(f"--issue {options.issue}: is not UTF-8 ({error.reason}); save it as UTF-8") from error
    if not text.strip():
        raise UsageError(f"--issue {options.issue}: is empty; say what is wrong")
    return text.strip()


def _allowed(names: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """The environment variables that commands may see. Raises UsageError for one that is not set."""
    for name in names:
        if name not in os.environ:
            raise UsageError(f"--env {name}: is not set here; set it, or leave the option out")
    return tuple((name, os.environ[name]) for name in names)


def _backend(options: FixOptions, configured: str) -> Backend:
    chosen = options.sandbox if options.sandbox != "auto" else configured
    if options.image is not None and chosen not in ("podman", "docker"):
        raise UsageError("--image: needs --sandbox podman or docker")
    if chosen != "auto":
        return cast(Backend, chosen)
    if (trouble := bubblewrap_trouble()) is None:
        return "bubblewrap"
    print(f"warning: commands run as bare processes, bubblewrap is not used: {trouble}", file=sys.stderr)
    return "process"


async def _before(check: RepositoryCheck, out: Path, settings: dict[str, Any], fresh: bool) -> Feedback:
    """What the check says of the base: in a run that goes on what it said then, since the prompts rest on it."""
    if not fresh and (out / CONFIG).is_file():
        known = read_config(out)
        if known["settings"] == json.loads(json.dumps(settings["settings"])) and "before" in known.get("about", {}):
            settings["about"]["before"] = known["about"]["before"]
            return feedback_from(known["about"]["before"])
    before = await check.before()
    settings["about"]["before"] = feedback_payload(before)
    return before


def _nothing_to_do(options: FixOptions, text: str, before: Feedback, base: str) -> int | None:
    """The exit code where the loop would have nothing to go by."""
    if before.verdict == "no_evidence":
        raise UsageError(f"--check {options.check!r}: shows nothing at {base[:10]}: {before.text.splitlines()[0]}")
    if before.verdict == "fail":
        return None
    if text:
        raise UsageError(
            f"--check {options.check!r}: succeeds already at {base[:10]}, so it can not tell when the task is done; "
            "give one that fails now, such as a new test"
        )
    if options.loop.as_json:
        typer.echo(json.dumps({"solved": True, "base": base, "before": asdict(before), "patch": None}))
    else:
        typer.echo(f"nothing to fix: {options.check} succeeds at {base[:10]}")
    return 0


def _prompt(text: str, check: str, before: Feedback) -> str:
    return render("evaluators/fix", text=text, check=check, said=before.text)


def _settings(options: FixOptions, source: RepositorySource, text: str) -> tuple[dict[str, Any], str]:
    places = [source.base, source.setup, source.image, options.mounts, options.env, options.network, options.protect]
    agent = [options.steps, options.context, options.command_timeout]
    digest = hashlib.sha256(
        json.dumps([text, options.check, *places, *agent]).encode("utf-8", "surrogatepass")
    ).hexdigest()
    settings = run_config(
        suite="fix",
        model="",
        feedback="visible",
        arms=[options.arm],
        limits={"check_seconds": options.check_timeout},
        about={"repo": str(source.path), "base": source.base, "check": options.check},
        choices={"task": digest},
    )
    return settings, digest


def _ignore(runs: Path, root: Path) -> None:
    """Tells git to leave the run folders alone where they lie in the repository itself."""
    ignore = runs / ".gitignore"
    if runs.resolve().is_relative_to(root) and not ignore.exists():
        runs.mkdir(parents=True, exist_ok=True)
        ignore.write_text("*\n")


def _finished(out: Path) -> bool:
    try:
        return any(row.error is None for row in read_rows(out))
    except UsageError:
        return False
