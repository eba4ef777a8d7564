# Everything runs in .venv, which the first command makes.  Only Python 3.11 or newer and make have to be there.

PYTHON ?= $(shell for python in python3.13 python3.12 python3.11 python3 python3.14; do \
	if "$$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; then \
	command -v "$$python"; break; fi; done)

VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
READY_TO_TEST := $(VENV)/.ready-to-test

.PHONY: check-bounds check-traces test lint bench matrix separate induction pluscal conform setup clean

# Reruns every search with both engines and writes results/bounds.json and results/bounds.png.
check-bounds: $(READY)
	$(BIN)/resume-contract check --bound small --bound base --bound scaled --engine both --write results

# Linters, types, and the tests with the lines and branches that they cover.
test: lint
	$(BIN)/python -m pytest -n auto --dist loadfile --cov --cov-report=term:skip-covered

lint: $(READY_TO_TEST)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# Times the mirror beside TLC on the largest model, and the checking of traces.
bench: $(READY)
	$(BIN)/resume-contract bench --write results
	$(BIN)/resume-contract bench --traces --write results

# Examines every fault on every recovery path with both engines, and writes results/matrix.*.
matrix: $(READY)
	$(BIN)/resume-contract matrix --write results

# Finds a model that breaks each clause alone, and one for each set of clauses, and writes results/independence.*.
separate: $(READY)
	$(BIN)/resume-contract separate --write results

# Translates the PlusCal algorithms afresh, runs their models with both engines, and writes results/claim-gate.*.
pluscal: $(READY)
	$(BIN)/resume-contract pluscal --write results

# Checks the inductive invariant at the sizes of specs/induction.yaml, and writes results/induction.json and .md.
induction: $(READY)
	$(BIN)/resume-contract induction --write results

# Records every system on every scenario, with real processes that are killed, and writes results/conformance.*.
conform: $(READY)
	$(BIN)/resume-contract conform --races --write results

# Checks the kept traces again and compares the verdicts; no framework is needed.
check-traces: $(READY)
	$(BIN)/resume-contract conform --stored

setup: $(READY_TO_TEST)

$(BIN)/python:
	@if [ -z "$(PYTHON)" ]; then \
	echo "error: no Python 3.11 or newer on PATH: install one, or give it as make PYTHON=/path/to/python3" >&2; exit 2; fi
	@"$(PYTHON)" -m venv $(VENV) || { rm -rf $(VENV); \
	echo "error: $(PYTHON) cannot make a virtual environment: install its venv module (Debian: python3-venv)" >&2; exit 2; }

$(READY): pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	@touch $@

$(READY_TO_TEST): pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev,langgraph]'
	@touch $@ $(READY)

clean:
	rm -rf $(VENV) build .mypy_cache .ruff_cache .pytest_cache .hypothesis .coverage htmlcov
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
