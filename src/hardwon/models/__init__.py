"""Models: the `Model` protocol, hosted providers, the embedded local model, and scripted and replayed models.

Any higher room may use the protocol types; only the session calls `generate`. Importing this package loads no
provider, no native library and no network code: each is imported when a model of its kind is opened.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from hardwon.models.protocol import Completion, Message, Model, Request, Role, Usage
from hardwon.models.tools import Tool, ToolCall

if TYPE_CHECKING:
    from hardwon.models.local import LocalModel
    from hardwon.models.open import open_model
    from hardwon.models.replay import ReplayModel, open_replay
    from hardwon.models.scripted import ScriptedModel, open_script

_LAZY = {
    "HostedModel": "hosted",
    "LocalModel": "local",
    "ReplayModel": "replay",
    "ScriptedModel": "scripted",
    "open_model": "open",
    "open_replay": "replay",
    "open_script": "scripted",
}

__all__ = [
    "Completion",
    "LocalModel",
    "Message",
    "Model",
    "ReplayModel",
    "Request",
    "Role",
    "ScriptedModel",
    "Tool",
    "ToolCall",
    "Usage",
    "open_model",
    "open_replay",
    "open_script",
]


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        return getattr(import_module(f"hardwon.models.{_LAZY[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
