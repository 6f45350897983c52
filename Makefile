# Everything a developer types. Needs Python 3.10 or newer, git and make; installs only into $(VENV).
PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin
PIP = $(BIN)/python -m pip --disable-pip-version-check
# arguments for pytest instead of one process a core: make test ARGS="-k partition"
ARGS ?=

.DEFAULT_GOAL := help
.PHONY: help demo test browser golden check dev bench dist clean

help: ## say what each target does
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-8s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: $(VENV)/nsysan.stamp ## analyse a small made-up training run and say where the page lies
	@rm -rf demo && mkdir demo
	$(BIN)/nsysan synth healthy -o demo
	$(BIN)/nsysan analyze demo/*.sqlite -o demo/report.html --json demo/run.json
	@echo "Open this page in a browser: $(CURDIR)/demo/report.html"

test: $(VENV)/test.stamp ## run every test; those that need chromium or nsys skip where there is none
	$(BIN)/python -m pytest $(or $(ARGS),-n auto)

browser: $(VENV)/test.stamp ## run only the tests in a real browser; fails where there is none
	NSYSAN_REQUIRE=browser $(BIN)/python -m pytest -m browser $(ARGS)

golden: $(VENV)/test.stamp ## rewrite the golden files; say in the change which moved and why
	NSYSAN_UPDATE_GOLDEN=1 $(BIN)/python -m pytest tests/golden tests/project/test_docs.py
	git status --short

check: $(VENV)/dev.stamp ## format, lint, types, import contract and spelling, as CI demands them
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo
	$(BIN)/codespell
	@sources=$$(git ls-files 'csrc/*.cpp' 'csrc/*.hpp' 'csrc/*.h' 'csrc/*.cu' 'csrc/*.cuh'); \
	test -z "$$sources" || $(BIN)/clang-format --dry-run --Werror $$sources

dev: $(VENV)/dev.stamp ## make the environment to work in
	@echo "Ready. Next: make test, make check; or activate it: . $(BIN)/activate"

bench: $(VENV)/dev.stamp ## time nsysan beside nsys, pandas and a plain read of the file, and the page
	$(BIN)/python benchmarks/analyze.py $(ARGS)
	$(BIN)/python benchmarks/read_columns.py
	$(BIN)/python benchmarks/pan_timeline.py

dist: $(VENV)/dev.stamp ## build the wheel and the source distribution into dist/
	rm -rf dist
	$(BIN)/python -m build --quiet --outdir dist .

clean: ## remove what make made
	rm -rf $(VENV) demo dist build nsysan.egg-info nsysan/ingest/*.so nsysan/calibrate/*.so nsysan/calibrate/*.cubin

# Stamps: a step runs again only when what it depends on has changed. pip learnt --group in 25.1.
$(VENV)/pip.stamp:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10))' || \
	  { echo "nsysan needs Python 3.10 or newer: make PYTHON=/path/to/python3" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(PIP) install --quiet --upgrade 'pip>=25.1'
	@touch $@

$(VENV)/nsysan.stamp: $(VENV)/pip.stamp pyproject.toml setup.py nsysan/__init__.py $(wildcard csrc/*/*)
	@# setuptools has a warning for every editable install, with nothing to be done about it
	PYTHONWARNINGS=ignore $(PIP) install --quiet --editable .
	@touch $@

$(VENV)/test.stamp: $(VENV)/nsysan.stamp
	$(PIP) install --quiet --group test
	@touch $@

$(VENV)/dev.stamp: $(VENV)/test.stamp
	$(PIP) install --quiet --group dev
	@touch $@
