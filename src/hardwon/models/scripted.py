"""A model that answers from a script: for tests and demonstrations; it costs nothing and holds no state.

Format: `{TASK_ID or "*": {ROLE: [reply, …]}}`, as JSON (also `.gz`). The reply to a request is the one at its
index within its task and role; the last one repeats. A missing role answers with an empty text. A task with
an entry of its own uses that entry alone: it does not fall back to `"*"` for the roles it leaves out.
A reply is a text, or `{"text": …, "tool_calls": [{"name": …, "arguments": {…}}, …]}`; arguments that are a text stand
for themselves, well-formed or not.

Token counts are estimates that depend on the texts alone: a quarter of the UTF-8 bytes, rounded up.
Temperature, seed, `max_tokens` and stop sequences do not change a scripted reply.
"""

from __future__ import annotations

import difflib
import gzip
import json
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, get_args

from hardwon.errors import UsageError
from hardwon.models.protocol import Completion, Request, Role, Usage
from hardwon.models.scripted_reply import Reply, kind_of, read_reply
from hardwon.models.tools import ToolCall, spelled

Script = Mapping[str, Mapping[str, Sequence[str | Reply]]]
"""Task id (or `"*"`) to role to replies, in order."""

ROLES: tuple[str, ...] = get_args(Role)


def estimate_tokens(text: str) -> int:
    """A quarter of the UTF-8 bytes, rounded up: 0 for the empty text only."""
    return (len(text.encode("utf-8", "surrogatepass")) + 3) // 4


class ScriptedModel:
    """Answers by task id, role and index alone: the same request has the same reply whatever came before."""

    price_known = True

    def __init__(self, script: Script, *, name: str = "script:", parallel: int = 4) -> None:
        self.name = name
        self.parallel = parallel
        self._script = script

    @classmethod
    def from_replies(cls, replies: object, *, name: str = "script:", parallel: int = 4) -> ScriptedModel:
        """Answers from a mapping of the script format. Raises UsageError as `open_script` does."""
        return cls(check_script(replies, name), name=name, parallel=parallel)

    async def generate(self, request: Request) -> Completion:
        """The scripted reply; never raises."""
        roles = self._script.get(request.task_id)
        if roles is None:
            roles = self._script.get("*", {})
        replies = roles.get(request.role, ())
        reply = replies[min(request.index, len(replies) - 1)] if replies else ""
        text, asked = (reply, ()) if isinstance(reply, str) else (reply.text, reply.calls)
        mark = f"call-{request.role}-{request.index}"
        calls = tuple(ToolCall(f"{mark}-{place}", *call) for place, call in enumerate(asked))
        usage = Usage(sum(map(estimate_tokens, request.texts)), estimate_tokens(spelled(text, calls)), cost_usd=0.0)
        return Completion(text, usage, self.name, tool_calls=calls)

    async def close(self) -> None:
        """Nothing to free."""

    def __repr__(self) -> str:
        return f"ScriptedModel({self.name!r})"


def open_script(path: Path | str, *, parallel: int = 4) -> ScriptedModel:
    """Reads a script file. Raises UsageError that names the file, the place and the mend."""
    file = Path(path)
    try:
        raw = gzip.decompress(file.read_bytes()) if file.suffix == ".gz" else file.read_bytes()
        text = raw.decode("utf-8-sig")
    except FileNotFoundError:
        raise UsageError(f"{file}: no such file; give the path of a script as script:PATH") from None
    except UnicodeDecodeError as error:
        raise UsageError(f"{file}: byte {error.start} is not UTF-8; save the script as UTF-8") from None
    except (OSError, EOFError, zlib.error) as error:
        raise UsageError(f"{file}: cannot be read ({error}); give a readable JSON file or its .gz") from None
    try:
        data = json.loads(text, object_pairs_hook=lambda pairs: _object(pairs, file))
    except json.JSONDecodeError as error:
        raise UsageError(f"{file}:{error.lineno}: not JSON ({error.msg}); mend column {error.colno}") from None
    except RecursionError:
        raise UsageError(f"{file}: nested too deeply; want {{task id: {{role: [reply, …]}}}}") from None
    return ScriptedModel(check_script(data, str(file)), name=f"script:{path}", parallel=parallel)


def check_script(data: object, where: str) -> Script:
    """`data` as a script. Raises UsageError that names the key path in `where` and the mend."""
    tasks = _mapping(data, where, 'want {task id or "*": {role: [reply, …]}}')
    script: dict[str, dict[str, tuple[str | Reply, ...]]] = {}
    for task, roles in tasks.items():
        place = f"{where}: {json.dumps(task)}"
        script[task] = {}
        for role, replies in _mapping(roles, place, "want {role: [reply, …]}").items():
            if role not in ROLES:
                near = difflib.get_close_matches(role, ROLES, 1)
                hint = f"did you mean {near[0]}? " if near else ""
                raise UsageError(f"{place}: unknown role {role!r}; {hint}the roles are {', '.join(ROLES)}")
            if not isinstance(replies, list | tuple):
                raise UsageError(f"{place}.{role}: want a list of replies, not {kind_of(replies)}; write [reply, …]")
            script[task][role] = tuple(
                read_reply(reply, f"{place}.{role}[{number}]") for number, reply in enumerate(replies)
            )
    return script


def _mapping(value: object, place: str, mend: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise UsageError(f"{place}: want an object, not {kind_of(value)}; {mend}")
    for key in value:
        if not isinstance(key, str):
            raise UsageError(f"{place}: the key {key!r} is not a text; {mend}")
    return value


def _object(pairs: list[tuple[str, Any]], file: Path) -> dict[str, Any]:
    """A JSON object, refusing the silent loss of an entry that a repeated key would be."""
    result = dict(pairs)
    if len(result) != len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise UsageError(f"{file}: the key {json.dumps(twice)} stands twice in one object; merge the two")
    return result
