"""Trajectories in mini-SWE-agent's `traj.json`, format `mini-swe-agent-1.1`, written and read.

One file holds one attempt: its whole conversation, what it handed in, what it cost. Where the conversation was
shortened to fit the model's window the file has all of it. Format: mini-swe-agent.com, "Output files".
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from hardwon.errors import UsageError
from hardwon.models.tools import ToolCall, read_arguments
from hardwon.record import Payload
from hardwon.runs.journal import Journal, Key
from hardwon.runs.row import Row
from hardwon.runs.stages import delivered
from hardwon.trial import Step, Trajectory

T = TypeVar("T")
FORMAT = "mini-swe-agent-1.1"
_READ = ("mini-swe-agent-1", FORMAT)
_LONGEST_NAME = 200
"""Bytes of a folder's name; most file systems take 255, and a file's is longer."""
_BLOCK = re.compile(r"^```(?:bash|sh|shell)?[ \t]*\n(.*?)^```", re.DOTALL | re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Attempt:
    """An attempt that a `traj.json` tells of: the instance, its trajectory, how it ended, dollars and model calls."""

    instance_id: str
    trajectory: Trajectory
    exit_status: str
    cost_usd: float | None
    calls: int


def attempts(journal: Journal, rows: list[Row], model: str) -> Iterator[tuple[Path, str]]:
    """Every attempt of the rows' tasks: where it belongs in a folder of trajectories, and the text of the file.

    What was handed in is `ID/ID.traj.json`, attempt n beside it `ID/ID.trial-n.traj.json`, with `__` for a slash in the
    id. An id that is no name of a folder, or that of another id too, is spelled otherwise and ends in its digest.
    """
    handed = {key: payload["trial"] for key, payload in delivered(journal)}
    names = _names({row.task_id for row in rows})
    kinds = {key.task_id: str(task.get("kind")) for key, _, task in journal.payloads("task")}
    for row in rows:
        key = Key(row.task_id, row.arm, row.seed)
        name = names[row.task_id]
        calls = {index: payload for _, index, payload in journal.payloads("act", key)}
        for _, index, episode in journal.payloads("episode", key):
            asked = [calls[number] for role, number in episode["asked"] if role == "act" and number in calls]
            number = index + 1
            submitted = number == handed.get(key, _best(row))
            file = f"{name}.traj.json" if submitted else f"{name}.trial-{number}.traj.json"
            content = _content(row, kinds[row.task_id], number, submitted, episode, asked, model)
            yield Path(name) / file, json.dumps(content, indent=2, ensure_ascii=True) + "\n"


def read_attempt(path: Path) -> Attempt:
    """The attempt in a `traj.json` (format 1 or 1.1). Raises UsageError that names the file and the mend."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise UsageError(f"{path}: no such file; give a traj.json") from None
    except (OSError, ValueError) as error:
        raise UsageError(f"{path}: does not read ({error}); give a traj.json") from error
    kind = data.get("trajectory_format") if isinstance(data, dict) else None
    if kind not in _READ:
        raise UsageError(f"{path}: trajectory_format is {kind!r}; this reads {' and '.join(_READ)}")
    info, messages = data.get("info"), data.get("messages")
    if not isinstance(info, dict) or not isinstance(messages, list) or not all(isinstance(m, dict) for m in messages):
        raise UsageError(f"{path}: wants 'info', an object, and 'messages', a list of objects; export it again")
    submission = info.get("submission") or None
    diff = submission if isinstance(submission, str) and submission.startswith("diff --git ") else None
    steps, last = _steps(messages)
    stats = info.get("model_stats") or {}
    calls = stats.get("api_calls") or 0 if isinstance(stats, dict) else None
    if not isinstance(calls, int):
        raise UsageError(f"{path}: model_stats wants 'api_calls', a whole number; export it again")
    name = data.get("instance_id") or path.name.removesuffix(".json").removesuffix(".traj")
    return Attempt(
        str(name),
        Trajectory(diff, last, steps),
        str(info.get("exit_status") or ""),
        stats.get("instance_cost"),
        calls,
    )


def _best(row: Row) -> int | None:
    """The trial that was handed in, where no stage says so: the best on visible evidence, the earliest among equals."""
    return row.trial_scores.index(max(row.trial_scores)) + 1 if row.trial_scores else None


def _names(ids: Iterable[str]) -> dict[str, str]:
    """The folder of each task, a different one for each."""
    plain = {task_id: task_id.replace("/", "__") for task_id in ids}
    several = Counter(plain.values())
    for task_id, name in plain.items():
        fits = name.isprintable() and not name.startswith(".") and len(name.encode()) <= _LONGEST_NAME
        if not fits or several[name] > 1:
            spelled = re.sub(r"[^\w.+-]+", "-", name).strip("-.")[: _LONGEST_NAME // 8]
            plain[task_id] = f"{spelled}-{hashlib.sha256(task_id.encode()).hexdigest()[:12]}".lstrip("-")
    return plain


def _content(
    row: Row, kind: str, number: int, submitted: bool, episode: Payload, asked: list[Payload], model: str
) -> dict[str, Any]:
    costs = [call["completion"]["usage"]["cost_usd"] for call in asked]
    patch = episode["output"] or ""
    commands = kind == "repository"
    if patch or episode["won"]:
        status = "Submitted"
    else:
        status = "EmptySubmission" if commands and row.stop != "budget" else "LimitsExceeded"
    agent = "hardwon.actors.shell.ShellActor" if commands else "hardwon.actors.react.ReActActor"
    ended = {"role": "exit", "content": patch, "extra": {"exit_status": status, "submission": patch}}
    return {
        "info": {
            "model_stats": {
                "instance_cost": None if None in costs else sum(costs),
                "api_calls": len(asked),
            },
            "config": {"agent": {}, "agent_type": agent, "model": {"model_name": model}},
            "exit_status": status,
            "submission": patch,
            "hardwon": {
                "task_id": row.task_id,
                "arm": row.arm,
                "seed": row.seed,
                "trial": number,
                "stop": row.stop,
                "submitted": submitted,
                "solved": row.solved if submitted else None,
                "verdict": _at(row.trial_verdicts, number),
                "score": _at(row.trial_scores, number),
                "feedback": "oracle feedback" if row.feedback == "oracle" else row.feedback,
                **({"won": episode["won"], "reward": episode["reward"]} if kind == "game" else {}),
            },
        },
        "instance_id": row.task_id,
        "messages": [*_conversation(episode, asked, commands), ended],
        "trajectory_format": FORMAT,
    }


def _at(values: Sequence[T], number: int) -> T | None:
    """Of the trial with this number; None where the row was written before it was kept."""
    return values[number - 1] if number <= len(values) else None


def _conversation(episode: Payload, asked: list[Payload], commands: bool) -> list[dict[str, Any]]:
    """The opening, then each reply with what was answered: the last messages of the call after it."""
    if not asked:
        return []
    said: list[dict[str, Any]] = [{"role": role, "content": content} for role, content in asked[0]["messages"]]
    for place, call in enumerate(asked):
        made = [ToolCall(*values) for values in call["completion"].get("tool_calls", ())]
        acted = None if commands else [step["action"] for step in episode["steps"][place : place + 1]]
        said.append(_reply(call["completion"], made, acted))
        ids = [{"tool_call_id": tool_call.id} for tool_call in made] or [{}]
        answers: list[list[str]] = []
        if place + 1 < len(asked):
            answers = asked[place + 1]["messages"][-len(ids) :]
        elif len(episode["steps"]) == len(asked) and episode["steps"][-1]["observation"]:
            answers = [["tool" if made else "user", episode["steps"][-1]["observation"]]]
        said += [{"role": role, "content": text, **of} for (role, text), of in zip(answers, ids, strict=False)]
    return said


def _reply(completion: Payload, made: list[ToolCall], acted: list[str] | None) -> dict[str, Any]:
    """An assistant's message; native calls in OpenAI's form, the first of them being what was carried out.

    `acted` is what the reply did in a world; None where it holds commands.
    """
    text, usage = completion["text"], completion["usage"]
    commands = _commands(text) if acted is None else [action for action in acted if action]
    if made and acted is None:
        command = (read_arguments(made[0]) or {}).get("command") if made[0].name == "shell" else None
        commands = [command] if isinstance(command, str) else []
    actions = [{"command": command} for command in commands]
    extra = {"actions": actions, "cost": usage["cost_usd"], "finish_reason": completion["finish"]}
    reply = {"role": "assistant", "content": text, "extra": extra}
    if made:
        reply["tool_calls"] = [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
            for call in made
        ]
    return reply


def _steps(messages: list[dict[str, Any]]) -> tuple[tuple[Step, ...], str]:
    """The steps of a conversation (of a reply with several commands, one step) and its last reply."""
    steps: list[Step] = []
    last = ""
    for place, message in enumerate(messages):
        if message.get("role") != "assistant":
            continue
        last = _text(message)
        extra = message.get("extra") or {}
        actions = [a["command"] for a in extra.get("actions") or () if isinstance(a, dict) and "command" in a]
        command = "\n".join(map(str, actions or _commands(last)))
        answers = []
        for answer in messages[place + 1 :]:
            if answer.get("role") not in ("user", "tool"):
                break
            answers.append(_text(answer))
        thought = _BLOCK.sub("", last).strip()
        steps.append(Step(thought, command, "\n".join(answers)))
    return tuple(steps), last


def _commands(text: str) -> list[str]:
    return [block.strip() for block in _BLOCK.findall(text)]


def _text(message: dict[str, Any]) -> str:
    """The text of a message, whose content may be null or a list of parts."""
    content = message.get("content")
    if isinstance(content, list):
        return "".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
    return content if isinstance(content, str) else ""
