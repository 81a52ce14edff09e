# Two commands do everything: `make run` and `make test`. `make help` names the others.

# The first that is new enough; systems often have a newer one beside an old python3.
NEW_ENOUGH := import sys; sys.exit(sys.version_info < (3, 11))
ifndef PYTHON
PYTHON := $(or $(shell for name in python3 python3.14 python3.13 python3.12 python3.11; do \
	$$name -c '$(NEW_ENOUGH)' 2>/dev/null && echo $$name && break; done),python3)
endif
VENV ?= .venv
BIN := $(VENV)/bin
NACRE := $(BIN)/nacre

# A machine may forbid bytecode for scripts; without it every start of nacre compiles all files.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: environment help run stop web test test-hard test-pace test-python check units page-units programs lint format bench clean

help:
	@echo "make run          set up, start the daemon, open a session, print its addresses"
	@echo "make stop         stop the daemon and its sessions"
	@echo "make web          build the web page (run and the tests do this too)"
	@echo
	@echo "make check        while you work: lint, and the tests that need no daemon (a minute)"
	@echo "make test         all that must pass: lint and all tests; a failed test gets a second try"
	@echo "make test FILE=f  one file, folder or test: make test FILE=tests/core/keys"
	@echo "make test-hard    hunt flaky tests: no second try, any order (SEED=n), a busy machine (BUSY=n)"
	@echo "make test-pace    where the time of the tests goes, file by file (FILE=f for a part)"
	@echo "make test-python  the tests that may differ on another Python: PYTHON=… VENV=…"
	@echo "make units        only the tests of make check"
	@echo "make page-units   the tests of the page's parts that need no browser"
	@echo "make programs     install the programs that the tests drive, if the system allows it"
	@echo "make lint         formatting, linters, types (Python and TypeScript) and layers"
	@echo "make format       format, and fix what the linter can"
	@echo "make bench        run the benchmarks in bench/ (not cluster.py, cluster_faults.py, cluster_same.py, crash.py, recovery.py, bombs.py, floods.py, keys.py, fuzz.py, soak.py and trials.py: minutes each)"
	@echo "make environment   only what the tests need of Python, in VENV"
	@echo "make clean        remove environments, caches and everything that was built"

# Without a registry to fetch the page's packages from, nacre still runs: the page then says how to
# build it.
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

# --- tests -------------------------------------------------------------------------------------

# As a module, so that the plugins in tests/ are found.
PYTEST := $(BIN)/python -m pytest
WORKERS ?= 4
AT_ONCE := -n $(WORKERS) --dist loadfile
SEED := $(or $(SEED),$(shell date +%s))
BUSY ?= 4

# No daemon, no browser.
UNITS := tests/core tests/settings tests/system tests/cli/output tests/cli/test_flags.py \
	tests/cli/test_parser.py tests/cli/test_docs.py tests/test_docs.py tests/test_errors.py \
	tests/test_makefile.py tests/test_rooms.py

# One file for each door, and a crash: together with the units, what another Python could break.
DOORS := tests/doors/local/test_socket.py tests/doors/mcp/lines/test_connection.py tests/doors/mcp/test_http.py \
	tests/doors/rest/test_routes.py tests/doors/ws/test_json.py tests/doors/ws/test_raw.py \
	tests/doors/ports/test_routes.py tests/doors/ndjson/test_door.py tests/cli/commands/test_sessions.py \
	tests/cli/attach/test_cycles.py tests/web/test_typing.py tests/crashes/test_keeper.py

# FILE counts only on the command line: a variable of that name in the environment would silently
# leave out tests.
ifeq ($(origin FILE),command line)
test: web programs
	$(PYTEST) -p tests.second_try $(FILE)
else
FILE :=
# Lint runs beside the tests, which leave processors idle. What is wrong is said at once, what is
# right at the end.
test: web programs
	@said=$$(mktemp); { $(MAKE) --no-print-directory lint page-units >$$said 2>&1 || { cat $$said; false; }; } & \
	lint=$$!; $(PYTEST) -p tests.second_try $(AT_ONCE); tests=$$?; \
	wait $$lint; lint=$$?; [ $$lint -ne 0 ] || cat $$said; rm -f $$said; \
	[ $$tests -eq 0 ] || exit $$tests; exit $$lint
endif

# What the tests need of Python, without a test: .ci/run has it made for the next Python meanwhile.
environment: $(VENV)/.dev

test-hard: web programs
	@echo "this order again: make test-hard SEED=$(SEED)"
	$(PYTEST) -p tests.strain --shuffle $(SEED) --busy $(BUSY) $(AT_ONCE) $(FILE)

test-pace: web programs
	$(PYTEST) -q -p tests.pace $(AT_ONCE) $(FILE)

test-python: web programs
	$(PYTEST) -p tests.second_try $(AT_ONCE) $(UNITS) $(DOORS)

# In parallel; make 4.0 and later print one output after the other.
check: $(VENV)/.dev
	@$(MAKE) --no-print-directory -j 2 $(if $(filter output-sync,$(.FEATURES)),-Otarget) lint units

units: programs
	$(PYTEST) -q $(AT_ONCE) $(UNITS)

# The pure parts of the page, in Node: seconds.
page-units: $(VENV)/.dev
	@VENV=$(VENV) scripts/build-web --test

programs: $(VENV)/.dev
	@VENV=$(VENV) scripts/test-programs
	@VENV=$(VENV) scripts/build-web --packages

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
	@for script in engine policy gate roundtrip runs throughput viewers journal startup sandbox idle answers search apps commands browser wall; do \
		echo "== bench/$$script.py"; $(BIN)/python bench/$$script.py || exit 1; done

# uv is used if it is installed: the same environment, in seconds instead of a minute.
$(VENV)/.run: pyproject.toml src/nacre/__init__.py
	@command -v $(PYTHON) >/dev/null || { \
		echo "nacre needs Python 3.11 or newer, and there is no $(PYTHON)." \
			"Install it, or name one: make run PYTHON=/path/to/python3.12" >&2; exit 1; }
	@$(PYTHON) -c '$(NEW_ENOUGH)' || { \
		echo "nacre needs Python 3.11 or newer, and $(PYTHON) is $$($(PYTHON) --version 2>&1)." \
			"Name another one: make run PYTHON=/path/to/python3.12" >&2; exit 1; }
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
	rm -rf .venv* $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	rm -rf artefacts web/node_modules web/.venv src/nacre/page/assets src/nacre/page/index.html
