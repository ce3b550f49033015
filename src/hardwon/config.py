"""The user's defaults: `config.toml` in the platform's configuration folder (or the file in `HARDWON_CONFIG`)."""

from __future__ import annotations

import os
import tomllib
from pathlib import Path
from typing import Literal

from platformdirs import user_config_path
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from hardwon.errors import UsageError

DEFAULT_MODEL = "local:qwen2.5-coder-1.5b"


class Config(BaseModel):
    """Defaults that the command line overrides.

    `model` is a model's full name, `workers` how many tasks are worked on at once, `prompts` a folder of the user's own
    prompts, `sandbox` the backend.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    model: str = DEFAULT_MODEL
    workers: int = Field(default=4, ge=1)
    prompts: Path | None = None
    sandbox: Literal["auto", "bubblewrap", "process"] = "auto"


def config_path() -> Path:
    """Where the configuration is looked for."""
    chosen = os.environ.get("HARDWON_CONFIG")
    return Path(chosen) if chosen else user_config_path("hardwon") / "config.toml"


def load_config() -> Config:
    """The user's configuration, or the defaults where there is none. Raises UsageError that names the line or field."""
    path = config_path()
    try:
        values = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return Config()
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise UsageError(f"{path}: {error}; mend the file or remove it") from error
    try:
        return Config(**values)
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(map(str, first["loc"]))
        known = ", ".join(Config.model_fields)
        raise UsageError(f"{path}: {field}: {first['msg']}; the settings are {known}") from error
