# Two commands do everything: `make run` and `make test`.

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
NACRE := $(BIN)/nacre

# A machine may forbid bytecode for scripts; without it every start of nacre compiles it anew.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: run stop web test lint check format bench clean help

help:
	@echo "make run    set up, start the daemon, open a session, print its addresses"
	@echo "make web    build the web page (make run and make test do so by themselves)"
	@echo "make stop   end the daemon and its sessions"
	@echo "make test   set up what the tests need, then linters, types, layers and all tests"
	@echo "make lint   the same without the tests"
	@echo "make bench  run the benchmarks in bench/ (crash.py apart: ten minutes)"

# Without Node, and without a registry to fetch it from, nacre runs all the same: the page then says
# how it is built.
run: $(VENV)/.run
	@VENV=$(VENV) scripts/build-web || true
	@$(NACRE) list --json | grep -q '"name": *"main",[^}]*"running": *true' || \
		$(NACRE) restore main >/dev/null 2>&1 || $(NACRE) restart main >/dev/null 2>&1 || \
		$(NACRE) new main >/dev/null
	@$(NACRE) status
	@command -v nacre >/dev/null || echo 'on PATH   export PATH="$(abspath $(BIN)):$$PATH"'
	@echo "attach    $(NACRE) attach main"
	@echo "web page  $$($(NACRE) web main)"
	@echo 'MCP       {"mcpServers": {"nacre": {"command": "$(abspath $(NACRE))", "args": ["mcp"]}}}'

stop: $(VENV)/.run
	@$(NACRE) stop

# The script does nothing when the result is newer than what it is built from.
web: $(VENV)/.run
	@VENV=$(VENV) scripts/build-web

test: lint web
	@scripts/test-programs
	$(BIN)/pytest -n 2 --dist loadfile

lint: $(VENV)/.dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	VENV=$(VENV) scripts/build-web --check

format: $(VENV)/.dev
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: $(VENV)/.dev
	@for script in engine roundtrip runs throughput viewers journal startup idle browser; do \
		echo "== bench/$$script.py"; $(BIN)/python bench/$$script.py || exit 1; done

# uv is used when it is there: the same environment, in seconds instead of a minute.
$(VENV)/.run: pyproject.toml src/nacre/__init__.py
	@echo "setting up $(VENV): a minute the first time"
	@if command -v uv >/dev/null; then \
		uv venv --quiet --allow-existing --python $(PYTHON) $(VENV) && \
		uv pip install --quiet --python $(BIN)/python -e .; \
	else \
		$(PYTHON) -m venv $(VENV) && $(BIN)/pip install --quiet --disable-pip-version-check -e .; \
	fi
	@touch $@

$(VENV)/.dev: $(VENV)/.run
	@if command -v uv >/dev/null; then \
		uv pip install --quiet --python $(BIN)/python -e '.[dev]'; \
	else \
		$(BIN)/pip install --quiet --disable-pip-version-check -e '.[dev]'; \
	fi
	@touch $@

clean:
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	rm -rf artefacts web/node_modules web/.venv src/nacre/page/assets src/nacre/page/index.html
