"""What `hardwon doctor` and `hardwon models list` look at."""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from typing import Any

from hardwon.cli.options import SANDBOXES, one_of
from hardwon.config import config_path, load_config
from hardwon.runs.settings import versions
from hardwon.sandbox.choose import open_sandbox
from hardwon.sandbox.protocol import FunctionTests, Isolation

_KEYS = {"openai:…": "OPENAI_API_KEY", "anthropic:…": "ANTHROPIC_API_KEY", "google:…": "GOOGLE_API_KEY"}
_PROBE = FunctionTests("add", "assert add(1, 2) == 3")


@dataclass(frozen=True, slots=True)
class ModelState:
    """A model, or a kind of model: whether it can be used now, and if not, the mend."""

    name: str
    ready: bool
    mend: str = ""

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Examination:
    """What was found: versions, the isolation in force, whether a program was really checked in it, models."""

    versions: dict[str, str]
    config: str
    isolation: Isolation
    usable: bool
    trouble: str | None
    models: tuple[ModelState, ...]

    def as_json(self) -> dict[str, Any]:
        return asdict(self)

    def as_text(self) -> str:
        walls = [f"  in force  {wall}" for wall in self.isolation.walls]
        missing = [f"  missing   {what}" for what in self.isolation.missing]
        probe = "a right program passes, a wrong one fails" if self.usable else f"does not work: {self.trouble}"
        models = [f"  {state.name}  {'ready' if state.ready else state.mend}" for state in self.models]
        return "\n".join(
            [
                "versions  " + ", ".join(f"{name} {number}" for name, number in self.versions.items()),
                f"config    {self.config}",
                f"sandbox   {self.isolation.backend}",
                *walls,
                *missing,
                f"  probe     {probe}",
                "models",
                *models,
            ]
        )


async def examine(backend: str | None) -> Examination:
    """Looks at this machine; really runs a program in the sandbox."""
    config = load_config()
    chosen = one_of("--sandbox", backend, SANDBOXES) or config.sandbox
    sandbox = open_sandbox(workers=1, backend=chosen)
    trouble = None
    try:
        right = await sandbox.run_function("def add(a, b):\n    return a + b", _PROBE)
        wrong = await sandbox.run_function("def add(a, b):\n    return a - b", _PROBE)
        if [c.status for c in (*right, *wrong)] != ["pass", "fail"]:
            trouble = "the probe programs were judged wrongly"
    except Exception as error:
        trouble = str(error)
    finally:
        isolation = sandbox.isolation
        await sandbox.close()
    path = config_path()
    where = str(path) if path.exists() else f"{path} (not there; defaults in force)"
    return Examination(versions(), where, isolation, trouble is None, trouble, model_states())


def model_states() -> tuple[ModelState, ...]:
    """The embedded models, and each kind of hosted one."""
    from hardwon.models.weights import CATALOGUE, weights_present

    states = []
    for entry in CATALOGUE:
        name = f"local:{entry.name}"
        if find_spec("xllamacpp") is None:
            states.append(ModelState(name, False, 'needs: pip install "hardwon[local]"'))
        elif not weights_present(entry.name):
            states.append(
                ModelState(name, False, f"not fetched yet ({entry.size / 1e6:,.0f} MB): hardwon models pull {name}")
            )
        else:
            states.append(ModelState(name, True))
    hosted = find_spec("pydantic_ai") is not None
    for name, key in _KEYS.items():
        if not hosted:
            states.append(ModelState(name, False, 'needs: pip install "hardwon[hosted]"'))
        else:
            states.append(ModelState(name, bool(os.environ.get(key)), f"needs a key: set {key}"))
    for name in ("ollama:…", "http://HOST:PORT/v1#…"):
        states.append(ModelState(name, hosted, 'needs: pip install "hardwon[hosted]"'))
    return (*states, ModelState("replay:PATH", True), ModelState("script:PATH", True))
