# Needs python3 (3.11+), venv, pip and make; everything else it fetches itself, once.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
PIP    := HATCH_BUILD_NO_HOOKS=1 $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt
# Compiled modules are kept: without them every start compiles all of its own again.
unexport PYTHONDONTWRITEBYTECODE
CODE   := core tui themes sample_sessions sample_extension tests bench

# A copy of core with the engine compiled; used only while nothing in core is newer.
COMPILED := build/compiled
FRESH   = $(if $(shell test -e $(COMPILED)/.made && ! find core -type f -not -name '*.pyc' -newer $(COMPILED)/.made | grep -q . && echo 1),$(CURDIR)/$(COMPILED))
WITH    = PYTHONSAFEPATH=1 PYTHONPATH="$(CURDIR)/$(COMPILED):$(CURDIR)"
HAS_CC := $(shell command -v cc)

.PHONY: run test agents check format bench compiled test-compiled fit models docs pictures strings site dist clean
.DEFAULT_GOAL := run

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit("nooscope needs Python 3.11 or newer, this is " + sys.version.split()[0]) if sys.version_info < (3, 11) else None'
	@$(PYTHON) -m venv $(VENV)

$(VENV)/.run: pyproject.toml constraints.txt | $(VENV)/bin/python
	@echo "Setting up nooscope in $(VENV) (once) ..."
	@$(PIP) --editable .
	@$(BIN)/python -m compileall -q core tui themes sample_sessions
	@touch $@

$(VENV)/.test: $(VENV)/.run
	@echo "Adding what the tests need (once) ..."
	@$(PIP) --editable '.[test]'
	@touch $@

$(VENV)/.dev: $(VENV)/.test
	@echo "Adding what the checks need (once) ..."
	@$(PIP) --editable '.[dev]'
	@touch $@

# Starts at once; without a compiled engine it also starts compiling one in the background, for the next run.
$(VENV)/.site: $(VENV)/.run
	@echo "Adding what the site needs (once) ..."
	@$(PIP) --editable '.[site]'
	@touch $@

run: $(VENV)/.run
	@$(if $(FRESH),,$(BIN)/python -m bench.background start)
	@$(if $(FRESH),PYTHONPATH="$(FRESH)") NOOSCOPE_BUILD="$(CURDIR)/build/engine.json" $(BIN)/nooscope $(ARGS)

# The engine as machine code, about twice as fast; `make run` and `make bench` use it from then on.
compiled: $(VENV)/.dev
	@$(BIN)/python -m bench.background stop
	@$(if $(HAS_CC),,echo "There is no C compiler (cc) here; the engine stays plain Python."; exit 1)
	@$(if $(FRESH),,echo "Compiling the engine, about a minute ..."; mkdir -p build; \
	  $(BIN)/python -m bench.compiled $(COMPILED) >build/compiled.log 2>&1 \
	  || { tail -n 40 build/compiled.log; exit 1; }; touch $(COMPILED)/.made)

ENGINE_TESTS := $(wildcard tests/core/test_*.py) tests/core/engine tests/core/timeline tests/extensions/test_in_step.py
test-compiled: compiled
	@$(WITH) $(BIN)/pytest -q -n 3 --dist worksteal -p core $(ENGINE_TESTS) $(ARGS)

# Compiled tests are kept whatever the environment says: compiling them anew takes 10 s in each worker.
# Three workers for two cores: some tests wait for programs they start.
test: $(VENV)/.test
	@$(BIN)/python -m bench.background stop
	@PYTHONDONTWRITEBYTECODE= $(BIN)/pytest -q -n 3 --dist worksteal $(ARGS)

agents: $(VENV)/.test
	@$(BIN)/python -m tests.agents.programs
	@$(BIN)/pytest -q -n 2 -m agents -rs tests/agents $(ARGS)

format: $(VENV)/.dev
	@$(BIN)/ruff check --quiet --fix $(CODE)
	@$(BIN)/ruff format --quiet $(CODE)

check: $(VENV)/.dev
	@$(BIN)/ruff format --check $(CODE)
	@$(BIN)/ruff check $(CODE)
	@$(BIN)/mypy
	@$(BIN)/lint-imports
	@$(BIN)/vulture
	@$(MAKE) --no-print-directory test ARGS="-n 2 --hypothesis-profile=full $(ARGS)"
	@$(if $(HAS_CC),$(MAKE) --no-print-directory test-compiled ARGS="$(ARGS)",echo "No C compiler: the compiled engine was not tested.")

# PLAIN=1 measures the engine as plain Python.
bench: $(VENV)/.test
	@$(BIN)/python -m bench.background stop
	@$(if $(PLAIN),,$(MAKE) --no-print-directory compiled || true)
	@$(if $(PLAIN),,$(WITH)) $(BIN)/python -m bench $(ARGS)

models: $(VENV)/.run
	@$(BIN)/python -m bench.models

fit: $(VENV)/.test
	@test -n "$(DATA)" || { echo 'make fit DATA="FILE ..." DATE=YEAR-MONTH-DAY'; exit 2; }
	@OPENBLAS_NUM_THREADS=1 $(BIN)/python -m bench.fit $(DATA) --date "$(DATE)" $(ARGS)

docs: $(VENV)/.test
	@$(BIN)/python -m bench.docs

pictures: $(VENV)/.test
	@$(BIN)/python -m bench.pictures

# Every sentence a person can meet, to be read from top to bottom (docs/glossary.md has the words).
strings: $(VENV)/.run
	@$(BIN)/python -m bench.strings $(ARGS)

# The pages of docs/ as a site in build/site; a broken link is an error.
site: $(VENV)/.site
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet
	@echo "build/site/index.html"

# A plain and a compiled wheel in dist/, each tried in a fresh environment.
dist: $(VENV)/.dev
	@$(BIN)/python -m bench.dist dist

clean:
	@rm -rf $(VENV) build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis .import_linter_cache
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +
