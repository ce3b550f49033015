"""Does what `hardwon solve` asks."""

from __future__ import annotations

import hashlib
import json
import os
import sys
from dataclasses import asdict, dataclass
from pathlib import Path

import typer

from hardwon import prompts as prompt_texts
from hardwon.cli.banking import BankOptions
from hardwon.cli.carrying import about_model, carry_out, need_price, run_folder
from hardwon.cli.interruption import run_to_end
from hardwon.cli.loop import LoopOptions
from hardwon.cli.plain import one_line
from hardwon.cli.walls import open_walls
from hardwon.cli.weights import ready_model
from hardwon.config import load_config
from hardwon.errors import UsageError
from hardwon.evaluators.command import CommandCheck
from hardwon.runs.folder import json_line, write_text
from hardwon.runs.results import read_rows
from hardwon.runs.row import Row
from hardwon.runs.runner import Arm
from hardwon.runs.settings import run_config
from hardwon.sandbox.protocol import Limits
from hardwon.task import Problem, Task

TASK_ID = "solve"
"""The one task's id, for scripted models and results."""


@dataclass(frozen=True, slots=True)
class SolveOptions:
    """What the command line asked for."""

    loop: LoopOptions
    arm: Arm
    prompt: str
    check: str
    workdir: Path | None
    output: Path
    check_timeout: float
    network: bool
    quiet: bool
    bank: BankOptions


def solve_one(options: SolveOptions) -> None:
    """Solves and writes the program; leaves with the contract's exit codes."""
    run_to_end(_solve(options))


async def _solve(options: SolveOptions) -> int:
    config, loop = load_config(), options.loop
    prompt_texts.use_folder(loop.prompts or config.prompts)
    text = _prompt_text(options.prompt)
    _check_places(options)
    arm = options.arm
    limits = Limits(total_seconds=options.check_timeout, memory_mib=2048, processes=128, file_mib=64)
    sandbox = open_walls(workers=1, backend=loop.sandbox or config.sandbox)
    try:
        evaluator = CommandCheck(
            options.check,
            sandbox,
            workdir=options.workdir,
            filename=options.output.name,
            limits=limits,
            network=options.network,
        )
        problem = Problem(TASK_ID, text, kind="text")
        facts = [text, options.check, options.output.name, str(options.workdir), options.network]
        digest = hashlib.sha256(json.dumps(facts).encode("utf-8", "surrogatepass")).hexdigest()
        task = Task(problem, evaluator, None, digest, graded_on="visible")
        model = ready_model(loop.model or config.model, parallel=1)
        need_price(arm.budget, model)
        bank = options.bank.open("solve")
        settings = run_config(
            suite="solve",
            model=model.name,
            feedback="visible",
            arms=[arm],
            limits=asdict(limits),
            about={"prompt": options.prompt, "check": options.check, "workdir": str(options.workdir)}
            | about_model(model.name),
            tasks=[task],
            choices=None if bank is None else {"bank": bank.as_settings()},
        )
        settings["settings"]["task"] = digest
        out = loop.out or run_folder(settings, arm.name)
        fresh = loop.fresh or (loop.out is None and _finished(out))
        try:
            shown = not options.quiet
            await carry_out(settings, out, [task], [arm], model, workers=1, fresh=fresh, show=shown, bank=bank)
        finally:
            await model.close()
            if bank is not None:
                bank.close()
    finally:
        await sandbox.close()
    return _hand_over(options, read_rows(out)[0])


def _prompt_text(prompt: str) -> str:
    try:
        text = sys.stdin.buffer.read().decode("utf-8") if prompt == "-" else Path(prompt).read_text(encoding="utf-8")
    except OSError as error:
        raise UsageError(f"--prompt {prompt}: {error.strerror}; give a text file, or - for standard input") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"--prompt {prompt}: is not UTF-8 ({error.reason}); save it as UTF-8") from error
    if not text.strip():
        raise UsageError(f"--prompt {prompt}: is empty; say what the program should do")
    return text


def _check_places(options: SolveOptions) -> None:
    if not options.check.strip():
        raise UsageError("--check: is empty; give the command that decides success")
    if options.workdir is not None and not options.workdir.is_dir():
        raise UsageError(f"--workdir {options.workdir}: no such folder")
    if options.output.is_dir():
        raise UsageError(f"--output {options.output}: is a folder; give a file name")
    if len(os.fsencode(options.output.name)) > 255:
        raise UsageError("--output: the name is too long; give a shorter one")
    if not options.output.parent.is_dir():
        raise UsageError(f"--output {options.output}: its folder does not exist; make it first")


def _finished(out: Path) -> bool:
    try:
        return any(row.error is None for row in read_rows(out))
    except UsageError:
        return False


def _hand_over(options: SolveOptions, row: Row) -> int:
    if row.submission is not None:
        write_text(options.output, row.submission.rstrip("\n") + "\n")
    if options.loop.as_json:
        typer.echo(json_line(row.as_json()), nl=False)
    elif row.error is not None:
        typer.echo(f"error: {one_line(row.error, 400)}")
    else:
        state = "solved" if row.solved else "not solved"
        where = f"; program in {options.output}" if row.submission is not None else "; no program was handed in"
        tokens = row.tokens_in + row.tokens_out
        typer.echo(f"{state} ({row.stop}) after {row.trials} trials and {tokens:,} tokens{where}")
        if row.recalled or row.induced:
            typer.echo(f"bank: {len(row.recalled)} items shown, {len(row.induced)} learned")
    return 3 if row.error is not None else 0 if row.solved else 1
