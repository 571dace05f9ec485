# make repro   everything on the embedded world, then a table      make test      the tests (minutes)
# make setup   .venv with the pinned packages                      make test-all  and the slow ones
# make lint    ruff                                                make bench     speed and memory
# make preset NAME=xsum    make paper    make sweep    make study    make examiner    (experiments/)

PYTHON ?= python3
export PATH := $(CURDIR)/.venv/bin:$(PATH)
# Two processes, a file of tests in one of them: what a file makes is made once.
PYTEST := python -m pytest -q -n 2 --dist loadfile

.PHONY: setup repro test test-all lint bench preset paper sweep study examiner
.DEFAULT_GOAL := repro

setup: .venv/.dev

.venv/.runtime: requirements.txt
	@$(PYTHON) -c 'import sys; v = sys.version_info; sys.exit(0 if v >= (3, 11) else f"error: Python 3.11 or newer is needed, {sys.executable} is {v[0]}.{v[1]}; try: make PYTHON=python3.12")'
	test -x .venv/bin/python || $(PYTHON) -m venv .venv
	python -m pip install --quiet --disable-pip-version-check -r requirements.txt
	touch $@

.venv/.dev: .venv/.runtime requirements-dev.txt
	python -m pip install --quiet --disable-pip-version-check -r requirements-dev.txt
	touch $@

repro: .venv/.runtime
	@python -m brido.config
	dvc repro
	@python -m stages.report --show

test: .venv/.dev
	$(PYTEST) -m "not slow and not gpu" tests

test-all: .venv/.dev
	$(PYTEST) -m "not gpu" tests

lint: .venv/.dev
	ruff format --check .
	ruff check .

bench: .venv/.dev
	python -m benchmarks

preset: .venv/.runtime
	@python -m experiments.preset $(NAME)

paper: .venv/.runtime
	@python -m experiments.paper

# GRIDS=experiments/alpha.yaml runs one grid alone.
sweep: .venv/.runtime
	python -m experiments.run $(GRIDS)

study: .venv/.runtime
	python -m experiments.study

examiner: .venv/.runtime
	python -m experiments.examiner
