# Two commands do everything: `make demo` and `make test`. The others are parts of them, or for those who work on Hardwon.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.hardwon-ready

GAMES := $(VENV)/.hardwon-games

.PHONY: demo test setup games system lint format bench clean

# Tasks of the bundled suite that show what the loop does: most are easy, one fails first and teaches a lesson.
DEMO := starter/late-trains,starter/first-warmest,starter/cold-days,starter/longest-word

demo: setup
	@$(BIN)/hardwon models pull local:qwen2.5-coder-1.5b
	@$(BIN)/hardwon run starter --ids $(DEMO) --model local:qwen2.5-coder-1.5b --out runs/demo --fresh --show

test: setup games lint
	@sh system-packages.sh tests
	@$(BIN)/hardwon models pull local:qwen2.5-coder-0.5b
	@$(BIN)/python -m pytest -n 2 --dist loadfile

setup: system $(STAMP)

system:
	@sh system-packages.sh

$(STAMP): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade "pip>=25.1"
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[all]" --group dev
	@touch $(STAMP)

games: $(GAMES)

# Text games are built from source and need a C compiler; without one they are left out, and their tests say so.
$(GAMES): $(STAMP)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[games]" || \
		echo "warning: the extra games could not be installed; as root: apt-get install build-essential, then make games" >&2
	@touch $(GAMES)

lint: setup
	@$(BIN)/ruff check --quiet .
	@$(BIN)/ruff format --quiet --check .
	@$(BIN)/mypy --no-error-summary

format: setup
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: setup
	@$(BIN)/python benchmarks/table.py

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache
