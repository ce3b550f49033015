"""Opens a model by its name."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable

from hardwon.errors import UsageError
from hardwon.models.protocol import Model

FORMS = (
    "openai:MODEL, anthropic:MODEL, google:MODEL, ollama:MODEL, http://HOST:PORT/v1#MODEL, local:MODEL,"
    " replay:PATH, script:PATH"
)
"""The valid forms of a model name, for messages and help texts."""


def open_model(name: str, *, parallel: int = 4) -> Model:
    """The model of that name, with at most `parallel` requests in flight; nothing is loaded or sent yet.

    An installed package adds a kind of its own by an entry point of group `hardwon.models`: a function of what stands
    behind the colon and of `parallel`. Raises UsageError for an unknown name, a missing key, file or extra.
    """
    if parallel < 1:
        raise UsageError(f"{name}: want at least 1 request in flight, not {parallel}")
    if re.match(r"https?://", name):
        return _hosted(name, parallel)
    kind, colon, rest = name.partition(":")
    opener = _OPENERS.get(kind) or _plugged_in(kind)
    if opener is None or not rest:
        raise UsageError(f"--model {name}: {_mend(name, kind, bool(colon), rest)}the valid forms are {FORMS}")
    return opener(rest, parallel)


def _plugged_in(kind: str) -> Callable[[str, int], Model] | None:
    """What an installed package opens models of this kind with (entry points of group `hardwon.models`)."""
    from importlib.metadata import entry_points

    for point in entry_points(group="hardwon.models", name=kind):
        try:
            opener: Callable[[str, int], Model] = point.load()
        except Exception as error:
            raise UsageError(
                f"model plug-in {point.name} ({point.value}) does not load: {error}; mend or uninstall it"
            ) from error
        return opener
    return None


def _mend(name: str, kind: str, colon: bool, rest: str) -> str:
    if kind in _OPENERS:
        return "names no file; " if kind in ("replay", "script") else "names no model; "
    near = difflib.get_close_matches(kind.lower(), _OPENERS, 1)
    if colon and near:
        return f"unknown kind of model {kind!r}; did you mean {near[0]}:{rest}? "
    from hardwon.models.weights import CATALOGUE

    local = difflib.get_close_matches(rest if colon else name, [entry.name for entry in CATALOGUE], 1)
    return f"unknown model; did you mean local:{local[0]}? " if local else "unknown model; "


def _hosted(name: str, parallel: int) -> Model:
    from hardwon.models.hosted import HostedModel

    return HostedModel(name, parallel=parallel)


def _local(rest: str, parallel: int) -> Model:
    from hardwon.models.local import LocalModel

    return LocalModel(rest, parallel=parallel)


def _replay(rest: str, parallel: int) -> Model:
    from hardwon.models.replay import open_replay

    return open_replay(rest, parallel=parallel)


def _script(rest: str, parallel: int) -> Model:
    from hardwon.models.scripted import open_script

    return open_script(rest, parallel=parallel)


_OPENERS: dict[str, Callable[[str, int], Model]] = {
    "openai": lambda rest, parallel: _hosted(f"openai:{rest}", parallel),
    "anthropic": lambda rest, parallel: _hosted(f"anthropic:{rest}", parallel),
    "google": lambda rest, parallel: _hosted(f"google:{rest}", parallel),
    "ollama": lambda rest, parallel: _hosted(f"ollama:{rest}", parallel),
    "local": _local,
    "replay": _replay,
    "script": _script,
}
