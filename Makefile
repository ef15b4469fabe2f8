# Two commands for a fresh machine that has Python 3.10 or newer:
#
#   make demo    run the example of the README: compile a kernel, check it against NumPy, draw the result
#   make test    run the checks, each with its own summary
#
# Tests marked slow are left out of `make test`: long ones, and those that repeat a case on another device. `make test-slow`
# runs these, `make test-all` all, with sixty times as many random programs, from seeds that the clock gives.
# All make .venv first and install there what they need; that is done again only when pyproject.toml changes.
# Another interpreter: make test PYTHON=python3.12. Another place: VENV=/tmp/venv.

PYTHON ?= python3
VENV ?= .venv
# A worker for each processor; what stands in one file runs in one of them, until they share what is left.
PYTEST_ARGS ?= -n logical --dist worksteal
# Which tests; a -m in PYTEST_ARGS is stronger.
SELECTED ?= -m "not slow"
# Seconds that a test may take. No setting of pyproject.toml: without pytest-timeout pytest would refuse it.
export PYTEST_TIMEOUT ?= 900
LIT_ARGS ?=
# Extras of pyproject.toml that the tests have beside `dev`, with commas: make test EXTRAS=test-torch
EXTRAS ?=
comma := ,
DEV := dev$(addprefix $(comma),$(EXTRAS))
BENCH_ARGS ?=
PY := $(VENV)/bin/python
# What an install takes, told before it begins; pip shows how far it is.
TAKES-examples,test := : 190 MB to download, 0.7 GB on disk, once
TAKES-dev := : 3.3 GB on disk, once; tools, other compilers and drivers to compare with

.DEFAULT_GOAL := help
.PHONY: help demo test test-slow test-all other-checks check-pytest check-lit check-lint check-format check-types check-docs \
        check-external-links lint format types docs notebooks bench clean distclean

help:
	@echo "make demo     compile a kernel, run it, check it against NumPy, draw the result"
	@echo "make test     pytest without slow tests, lit, ruff, pyright, documentation"
	@echo "make test-slow  the slow tests: long ones, and each case on every other device"
	@echo "make test-all   both, with sixty times as many random programs, from other seeds"
	@echo "make lint     ruff and pyright alone"
	@echo "make format   let ruff rewrite the sources"
	@echo "make docs     build the documentation: docs/_build/html/index.html"
	@echo "make notebooks  write notebooks/*.ipynb"
	@echo "make bench    the benchmarks, about 30 minutes; BENCH_ARGS=--list says which, =--quick tries them"
	@echo "make clean    remove what builds and tests left; make distclean removes $(VENV) too"

demo: $(VENV)/.installed-examples,test
	@$(PY) examples/landscape.py

# The checks after pytest use one processor for most of their time; a make that keeps their output apart runs two.
TWO_AT_A_TIME := $(if $(filter output-sync,$(.FEATURES)),--jobs=2 --output-sync=target)

# All checks run, also after one has failed; make then ends with an error and names the failed ones.
test: $(VENV)/.installed-$(DEV) $(VENV)/.installed-docs
	@failed=0; $(MAKE) --no-print-directory check-pytest || failed=1; \
	    $(MAKE) --keep-going --no-print-directory $(TWO_AT_A_TIME) other-checks || failed=1; exit $$failed
	@echo "all checks passed"

test-slow: SELECTED := -m slow
test-slow: check-pytest

# A failure names the seed that runs it again.
test-all: export SELECTED :=
test-all: export PYKERN_FUZZ := 3000
test-all: export PYKERN_FUZZ_SEED := $(shell date +%s)
test-all: export PYTEST_TIMEOUT := 5400
test-all: test

# The longest first.
other-checks: check-docs check-lit check-types check-lint check-format

check-pytest: $(VENV)/.installed-$(DEV)
	@echo "== pytest"
	@$(PY) -m pytest $(SELECTED) $(PYTEST_ARGS)

check-lit: $(VENV)/.installed-$(DEV)
	@echo "== lit"
	@$(VENV)/bin/lit -sv $(LIT_ARGS) lit_tests

check-lint: $(VENV)/.installed-$(DEV)
	@echo "== ruff check"
	@$(PY) -m ruff check .

check-format: $(VENV)/.installed-$(DEV)
	@echo "== ruff format --check"
	@$(PY) -m ruff format --check .

check-types: $(VENV)/.installed-$(DEV)
	@echo "== pyright"
	@$(PY) -m pyright --pythonpath $(PY)

lint: check-lint check-format check-types

types: check-types

format: $(VENV)/.installed-$(DEV)
	$(PY) -m ruff check --fix .
	$(PY) -m ruff format .

docs: $(VENV)/.installed-docs
	$(PY) -m sphinx -W --keep-going -b html -d docs/_build/doctrees docs docs/_build/html

# Warnings are errors, every example of the gallery runs, and every link inside the site leads somewhere.
check-docs: $(VENV)/.installed-docs
	@echo "== documentation"
	@rm -rf docs/_build/html docs/_build/doctrees docs/gallery
	@$(PY) -m sphinx -q -W --keep-going -b html -d docs/_build/doctrees docs docs/_build/html
	@$(PY) docs/check_site.py docs/_build/html

# Needs a network, so no check of every run.
check-external-links: $(VENV)/.installed-docs
	$(PY) -m sphinx -q -D plot_gallery=0 -b linkcheck docs docs/_build/linkcheck

# The peers that are installed are measured too: pip install numba torch jax warp-lang taichi ...
bench: $(VENV)/.installed-bench
	@$(PY) benchmarks/all.py $(BENCH_ARGS)

notebooks: $(VENV)/.installed-docs
	$(PY) -m jupytext --to ipynb notebooks/*.py

# The environment, once for each set of extras. The stamp is written last: a broken install is tried again.
$(PY):
	@$(PYTHON) -c 'import sys; sys.exit("pykern needs Python 3.10 or newer, and %s is %s: say make PYTHON=python3.12" \
	    % (sys.executable, sys.version.split()[0]) if sys.version_info < (3, 10) else 0)'
	@$(PYTHON) -c 'import ensurepip, venv' \
	    || { echo "this Python cannot make virtual environments (on Debian and Ubuntu: apt install python3-venv)"; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed-%: pyproject.toml | $(PY)
	@echo "installing pykern-mlir[$*] and what it needs into $(VENV)$(TAKES-$*)"
	@$(PY) -m pip install --disable-pip-version-check --editable '.[$*]'
	@touch $@

clean:
	rm -rf build dist *.egg-info .pytest_cache .ruff_cache .hypothesis lit_tests/Output landscape.png
	rm -rf docs/_build docs/_generated docs/gallery docs/sg_execution_times.rst notebooks/*.ipynb
	find . -name __pycache__ -type d -not -path './$(VENV)/*' -prune -exec rm -rf {} +

distclean: clean
	rm -rf $(VENV)
