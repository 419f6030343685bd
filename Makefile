# Two commands for a newcomer: `make demo` and `make test`. Both do all the set-up themselves.
PY ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt
WORKERS ?= 2

.PHONY: demo test test-fast test-data soak check format bench clean

demo: $(VENV)/.base
	$(BIN)/evenhand demo

test: $(VENV)/.all
	$(BIN)/python -m pytest -n $(WORKERS) -m "not data and not soak" $(ARGS)

test-fast: $(VENV)/.all
	$(BIN)/python -m pytest -n $(WORKERS) -m "not data and not soak and not slow and not browser" $(ARGS)

# Real corpora: EVENHAND_DATA names their folder.
test-data: $(VENV)/.all
	$(BIN)/python -m pytest -m data $(ARGS)

# Long tests of faults and load.
soak: $(VENV)/.all
	$(BIN)/python -m pytest -m soak $(ARGS)

check: $(VENV)/.all
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/python -m pytest -q tests/test_architecture.py

format: $(VENV)/.all
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: $(VENV)/.all
	$(PIP) --group bench
	for name in user_file near_duplicates agreement aggregation bootstrap campaigns author_disjoint bilstm audit \
		identity_blind suite_intervals evidence front_end fast encoder serving labelling score_files; do \
		$(BIN)/python benchmarks/$$name.py || exit 1; done

$(VENV)/bin/python:
	$(PY) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check "pip>=25.1"

# The base install: no torch, no web framework.
$(VENV)/.base: $(VENV)/bin/python pyproject.toml constraints.txt
	$(PIP) --editable .
	@touch $@

# Everything. Torch comes first and by plain pip, so that a CPU build is taken where one is offered.
$(VENV)/.all: $(VENV)/.base
	$(BIN)/python -m pip install --quiet --disable-pip-version-check torch==2.13.0
	$(PIP) --editable ".[all]" --group dev
	@sh tools/debian-packages
	@sh tools/node-packages
	@touch $@

clean:
	rm -rf $(VENV) evenhand-demo .mypy_cache .ruff_cache .pytest_cache
