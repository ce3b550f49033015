"""The command itself: quick to start, honest about what is installed."""

import json
import subprocess
import sys
from collections.abc import Callable

import hardwon as package

Hardwon = Callable[..., subprocess.CompletedProcess[str]]


def test_help_imports_no_provider_no_numpy_and_no_model_library() -> None:
    code = (
        "import sys; sys.argv = ['hardwon', '--help']\nfrom hardwon.cli.app import main\n"
        "try: main()\nexcept SystemExit: pass\n"
        "print(*sorted({m.split('.')[0] for m in sys.modules}), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "run" in done.stdout
    loaded = set(done.stderr.split())
    heavy = {
        "numpy",
        "openai",
        "anthropic",
        "google",
        "pydantic_ai",
        "pydantic",
        "xllamacpp",
        "httpx",
        "jinja2",
        "scipy",
    }
    assert not loaded & heavy


def test_importing_the_package_imports_nothing_else() -> None:
    code = "import sys; before = set(sys.modules); import hardwon; print(*(set(sys.modules) - before))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert {name.split(".")[0] for name in done.stdout.split()} <= {"hardwon", "importlib", "typing"} | set(
        sys.stdlib_module_names
    )


def test_every_public_name_is_there() -> None:
    for name in package.__all__:
        assert getattr(package, name) is not None


def test_doctor_says_which_isolation_is_in_force(hardwon: Hardwon) -> None:
    found = json.loads(hardwon("doctor", "--json").stdout)
    assert found["usable"] is True
    assert found["isolation"]["walls"]
    thin = json.loads(hardwon("doctor", "--json", "--sandbox", "process").stdout)
    assert any("bubblewrap" in line for line in thin["isolation"]["missing"])


def test_models_lists_what_can_be_used_and_how_to_mend_the_rest(hardwon: Hardwon) -> None:
    states = {state["name"]: state for state in json.loads(hardwon("models", "list", "--json").stdout)}
    assert "local:qwen2.5-coder-1.5b" in states
    assert states["openai:…"]["ready"] is False
    assert "OPENAI_API_KEY" in states["openai:…"]["mend"]
    assert hardwon("models", "pull", "local:nonsense").returncode == 2
