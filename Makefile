# Everything below needs only make and Python 3.11 or newer: the first run makes a
# virtual environment in .venv and installs what the target needs; later runs are instant.

PYTHON ?= python3
RUN := .venv/bin/python
PIP_INSTALL := $(RUN) -m pip install --quiet --disable-pip-version-check --no-compile
# pip would compile what it installs on one core, which takes a third of its time, and
# tests of packages that nobody runs here. Some packages hold files for other versions of
# Python, which cannot be compiled.
COMPILE := $(RUN) -m compileall -qq -j 0 -x '/(tests|pip)/' .venv/lib || true

.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help demo test lint browser fuzz reliability bench papers docs dist clean

help:
	@echo "make demo    AUCClassifier beside other models on real data: a table and a page"
	@echo "make test    lint, all tests and the examples in the docstrings"
	@echo "make lint    ruff, mypy and import-linter"
	@echo "make fuzz    damaged files and odd data for an hour (MINUTES=5: five minutes)"
	@echo "make reliability   kills, lost workers, full disks; writes a page of results"
	@echo "make bench   speed beside other libraries, 12 minutes (AUCMAX_DATA=folder: real sets)"
	@echo "make papers  sets up aucmax bench, the experiments of five papers, and lists them"
	@echo "make docs    the user guide and API reference, as HTML; runs their examples"
	@echo "make dist    wheels and sdists of both distributions, tried in an empty environment"
	@echo "make clean   delete .venv, caches and build products"
	@echo
	@echo "make PYTHON=/path/to/python3.12 ... chooses the Python for a new .venv."

demo: .venv/installed-demo
	@$(RUN) -m aucmax.cli demo

# Both at once: some tests wait, for a process to end or a cluster to start. They start
# many, and where Python is told to keep no bytecode, each would compile the package anew.
test: .venv/installed-dev browser
	@$(RUN) -m compileall -qq -j 0 src tests papers
	@$(MAKE) --no-print-directory lint & lint=$$!; \
	$(RUN) -m pytest -q -n auto --maxprocesses 8 --dist worksteal; tests=$$?; \
	wait $$lint || { echo "Lint failed: see above, or run make lint." >&2; exit 1; }; \
	exit $$tests

# Tests open the report of the benchmarks in a real browser. Debian's is installed where
# that needs no password; elsewhere these few tests are skipped if there is none.
browser:
	@command -v chromium chromium-browser google-chrome >/dev/null || { \
	  [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && \
	  echo "Installing Chromium for the tests of the report page ..." && \
	  apt-get update -qq && apt-get install -y -qq chromium >/dev/null; } || \
	  echo "There is no Chromium: tests that open the report page are skipped."

lint: .venv/installed-dev
	$(RUN) -m ruff check --quiet .
	$(RUN) -m ruff format --check .
	$(RUN) -m mypy
	$(RUN) .venv/bin/lint-imports --no-logo

# One case again: PYTHONPATH=tests .venv/bin/python -m fuzz.run --target X --seed N.
MINUTES ?= 60
fuzz: .venv/installed-dev
	@PYTHONPATH=tests $(RUN) -m fuzz.run --minutes $(MINUTES)

# What make fuzz found last is part of the page.
reliability: .venv/installed-dev
	@failed=0; for part in full_disk lost_workers kills; do \
	  $(RUN) benchmarks/reliability/$$part.py || failed=1; done; \
	$(RUN) benchmarks/reliability/page.py; exit $$failed

# BENCH passes options on: make bench BENCH="fits streams".
bench: .venv-bench/installed
	@if [ -z "$$AUCMAX_DATA" ]; then \
	  echo "AUCMAX_DATA is not set: drawn rows stand in for the real data sets."; \
	  echo "Set it to a folder of svmlight files (NAME.svm.bz2) to run on those."; \
	fi
	@.venv-bench/bin/python benchmarks/speed/run.py $(BENCH)

papers: .venv/installed-dev
	@$(RUN) -m aucmax.cli bench list
	@echo "To run them: . .venv/bin/activate, then aucmax bench run KEY (see papers/README.md)."

# Warnings are errors, and all pages are read again, so that what they show has just run.
SPHINX := $(RUN) -m sphinx --fail-on-warning --quiet -d docs/_build/doctrees docs
docs: .venv/installed-docs
	@rm -rf docs/_build docs/generated
	@$(SPHINX) -b html docs/_build/html
	@$(SPHINX) -b doctest docs/_build/doctest
	@echo "Open docs/_build/html/index.html"

# The wheel alone has to do what the first Python block of the README shows.
dist: .venv/installed-dev
	@rm -rf dist build/wheel-venv
	@for folder in . papers; do \
	  (cd $$folder && "$(CURDIR)/$(RUN)" -m hatchling build -d "$(CURDIR)/dist") || exit 1; \
	done
	@"$(PYTHON)" -m venv build/wheel-venv
	@build/wheel-venv/bin/python -m pip install --quiet --disable-pip-version-check dist/aucmax-*.whl
	@cd build && wheel-venv/bin/python ../tests/first_block.py ../README.md
	@ls dist

clean:
	rm -rf .venv .venv-bench build dist .pytest_cache .mypy_cache .ruff_cache .import_linter_cache
	rm -rf .hypothesis aucmax-demo docs/_build docs/generated
	find src tests examples benchmarks papers -name __pycache__ -prune -exec rm -rf {} +

# A changed dependency or version number is installed the next time.
INSTALLED := pyproject.toml src/aucmax/__init__.py papers/pyproject.toml

.venv/installed: $(INSTALLED) | .venv/bin/python
	@echo "Installing aucmax into .venv ..."
	@$(PIP_INSTALL) --editable .
	@$(COMPILE)
	@touch $@

.venv/installed-demo: $(INSTALLED) | .venv/bin/python
	@echo "Installing aucmax and what the demo needs into .venv ..."
	@$(PIP_INSTALL) --editable '.[boost,data,io,plot]'
	@$(COMPILE)
	@touch .venv/installed $@

.venv/installed-dev: $(INSTALLED) | .venv/bin/python
	@echo "Installing aucmax and its development tools into .venv ..."
	@$(PIP_INSTALL) --editable '.[dev]' --editable ./papers
	@$(COMPILE)
	@touch .venv/installed $@

.venv/installed-docs: $(INSTALLED) | .venv/bin/python
	@echo "Installing aucmax and what builds its pages into .venv ..."
	@$(PIP_INSTALL) --editable '.[docs]' --editable ./papers
	@$(COMPILE)
	@touch .venv/installed $@

.venv-bench/installed: $(INSTALLED) benchmarks/speed/peers.txt | .venv/bin/python
	@echo "Installing aucmax and the peers it is measured beside into .venv-bench ..."
	@[ -e .venv-bench/bin/python ] || $(RUN) -m venv --clear .venv-bench
	@.venv-bench/bin/python -m pip install --quiet --disable-pip-version-check \
	  --editable '.[data]' --requirement benchmarks/speed/peers.txt
	@touch $@

.venv/bin/python:
	@command -v "$(PYTHON)" >/dev/null || { \
	  echo "There is no $(PYTHON) here. Install Python 3.11 or newer, or name it:" >&2; \
	  echo "  make PYTHON=/path/to/python3.12" >&2; exit 1; }
	@"$(PYTHON)" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "aucmax needs Python 3.11 or newer, but $(PYTHON) is" \
	    "$$("$(PYTHON)" --version 2>&1). Name a newer one:" >&2; \
	  echo "  make PYTHON=/path/to/python3.12" >&2; exit 1; }
	@trap 'rm -rf .venv; exit 1' INT TERM; \
	  "$(PYTHON)" -m venv --clear .venv || { rm -rf .venv; exit 1; }
