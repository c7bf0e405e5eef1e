# Two commands do everything: `make demo` and `make test`. Both make .venv first, once: `make demo` and `make setup` with
# what a user needs, the others with what tests, checks and documentation need beside it.
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help setup developer demo test quicktest announce bench lint docs format wheel sanitize clean distclean

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
BUILDING := $(VENV)/.spillway-build
INSTALLED := $(VENV)/.spillway-setup
DEVELOPING := $(VENV)/.spillway-developer
EDITABLE := $(VENV)/.spillway-editable
CORE := $(VENV)/.spillway-core
CPP_FILES := $(shell find core tests/core -name '*.cpp' -o -name '*.hpp')
CORE_SOURCES := $(shell find core -name '*.cpp' -o -name '*.hpp' -o -name '*.cmake')
# The machine's compiler; where there is none, the package `ziglang` brings one (make setup installs it then).
COMPILER := $(if $(filter-out default,$(origin CXX)),$(CXX),$(firstword $(foreach name,c++ g++ clang++,$(shell command -v $(name) 2>/dev/null))))
ZIG := $(VENV)/.spillway-zig
ZIGLANG := 0.17.1
WITH_COMPILER := $(if $(COMPILER),CXX="$(COMPILER)",ZIG_PYTHON="$(CURDIR)/$(BIN)/python" PATH="$(CURDIR)/tools/zig:$$PATH" CXX="$(CURDIR)/tools/zig/c++")
# Programs that start others run in a group of their own: ended by a signal, make leaves no process.
ENDING = exec $(PYTHON) tools/ending.py
PIP_INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile
# Processes that run the tests: one more than cores, as some tests wait for containers; each needs some 700 MB.
JOBS ?= $(shell expr $$(nproc 2>/dev/null || echo 2) + 1)
# NumPy's threads only get in the way of worker processes.
export OMP_NUM_THREADS ?= 1
export OPENBLAS_NUM_THREADS ?= 1

help:  ## show what there is
	@echo "make demo    five schedulers on a synthetic log: a table and plots (makes .venv first)"
	@echo "make test    lint, types, import rules, documentation and the whole test suite (5 to 10 minutes on 2 cores)"
	@echo "make quicktest  some tests of every package, under a minute on 2 cores"
	@echo "make bench   jobs and decisions per second, memory and growth from 1,000 to 100,000 jobs (a million: --million)"
	@echo "make setup   .venv from requirements.lock.txt, the compiled core;  make developer  and what tests and checks need"
	@echo "make wheel   a wheel in dist/ that installs elsewhere"
	@echo "make sanitize  the core's own tests with assertions and sanitizers"
	@echo "make lint    the static checks alone;  make format  lets ruff and clang-format tidy the code"
	@echo "make docs    the documentation, to site/index.html"
	@echo "make clean   remove caches and results;  make distclean  .venv too"

# The core is compiled while the packages are installed. The last two steps are for shells in which Python may not keep what it
# compiles (PYTHONDONTWRITEBYTECODE): our files, and what a run imports of the packages.
setup:
	@test -e $(CORE) || echo "setup: 29 packages (110 MB to fetch, 330 MB on disk) and the core, compiled: about a minute on two quiet cores"
	@$(MAKE) --no-print-directory -j 3 $(INSTALLED) $(CORE)
	@$(BIN)/python -m compileall -qq -j 0 $(wildcard spillway/*/) spillway/__init__.py
	@env -u PYTHONDONTWRITEBYTECODE $(BIN)/python -c 'import spillway.experiments.run.single, seaborn, networkx, z3, matplotlib.backends.backend_agg'

# What tests, checks and documentation need beside it.
developer: setup $(DEVELOPING)

$(BUILDING): requirements.lock.txt
	@command -v $(PYTHON) >/dev/null || { echo "setup: '$(PYTHON)' was not found. Install Python 3.11 or newer (Debian, Ubuntu: apt-get install python3 python3-venv), or say which: make PYTHON=/path/to/python" >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "setup: Python 3.11 or newer is needed, %s is %d.%d. Say which one to take: make PYTHON=python3.12" % (sys.executable, *sys.version_info[:2]))'
	@test -x $(BIN)/python || { echo "setup: making $(VENV)"; $(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); echo "setup: '$(PYTHON) -m venv' failed (see above). On Debian and Ubuntu: apt-get install python3-venv" >&2; exit 1; }; }
	@$(ENDING) $(PIP_INSTALL) --no-deps $$(grep -E '^(cmake|nanobind|ninja|packaging|pathspec|scikit_build_core)==' requirements.lock.txt)
	@touch $@

$(INSTALLED): requirements.lock.txt $(BUILDING)
	@$(ENDING) $(PIP_INSTALL) --no-deps -r requirements.lock.txt
	@cd $(VENV)/lib && rm -f */site-packages/cmake/data/bin/c[pt]* */site-packages/z3/lib/libz3.so.*  # 73 MB, called by nothing
	@find $(VENV)/lib/*/site-packages -type d -name tests -prune -exec rm -rf {} +  # 32 MB: the packages' own tests
	@touch $@

$(DEVELOPING): requirements-dev.lock.txt $(INSTALLED)
	@echo "setup: installing what tests, checks and documentation need: 105 packages (130 MB to fetch, 430 MB on disk), half a minute to a minute"
	@$(ENDING) $(PIP_INSTALL) --no-deps -r requirements-dev.lock.txt
	@$(BIN)/python -m compileall -qq -j 0 -x '/tests?/' $(VENV)/lib || true  # on all cores, where pip takes one
	@touch $@

$(ZIG): $(BUILDING)
	@echo "setup: no C++ compiler was found; installing ziglang, which has one"
	@$(ENDING) $(PIP_INSTALL) ziglang==$(ZIGLANG)
	@touch $@

$(EDITABLE): $(BUILDING) pyproject.toml CMakeLists.txt $(if $(COMPILER),,$(ZIG))
	@$(BIN)/python -c 'import os, sys, sysconfig; path = sysconfig.get_path("include"); sys.exit(0 if os.path.exists(os.path.join(path, "Python.h")) else "setup: Python.h is not in %s. On Debian and Ubuntu: apt-get install python3-dev" % path)'
	@$(ENDING) env $(WITH_COMPILER) $(PIP_INSTALL) --no-deps --no-build-isolation -e .
	@touch $@

# Only what changed; CMake looks for new files itself.
$(CORE): $(EDITABLE) $(CORE_SOURCES)
	@$(ENDING) env $(WITH_COMPILER) $(BIN)/cmake --build build/editable --parallel 2 -- --quiet
	@touch $@

wheel: $(CORE)
	@$(WITH_COMPILER) $(BIN)/python -m pip wheel --quiet --disable-pip-version-check --no-deps --no-build-isolation --wheel-dir dist .
	@ls dist/spillway-*.whl

# The core's own tests, with assertions and with sanitizers of addresses and of undefined behaviour.
sanitize: $(BUILDING)
	@CXX="$(COMPILER)" $(BIN)/cmake -S . -B build/sanitize -G Ninja -DCMAKE_MAKE_PROGRAM="$(CURDIR)/$(BIN)/ninja" -DSPILLWAY_SANITIZE=ON --log-level=WARNING
	@$(BIN)/cmake --build build/sanitize --parallel 2 -- --quiet
	build/sanitize/core_tests

demo: setup
	@$(BIN)/python run_experiments.py

lint: developer
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/clang-format --dry-run -Werror $(CPP_FILES)

docs: developer
	$(BIN)/python -m docs.tools.reference
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

# Some tests of every package: the core, its policies and job models, the simulator's side, the reading of logs, campaigns,
# and runs from the command line to the table. Not: random worlds, studies, other processes, browsers.
QUICK := tests/imports/test_law.py tests/base/test_units.py tests/base/test_plugins.py tests/base/test_tables.py \
	tests/protocol/test_transcript.py tests/protocol/test_profiles.py tests/protocol/test_intervals.py \
	tests/schedulers/core tests/core \
	tests/schedulers/policies tests/schedulers/jobmodels tests/schedulers/lives tests/schedulers/policykit/test_preemption.py \
	tests/simulator/test_kills.py tests/simulator/test_dynamic.py tests/simulator/test_time.py tests/simulator/jobs \
	tests/simulator/world tests/simulator/reading/test_workload.py tests/simulator/wire/test_requests.py \
	tests/platforms/test_xml_reader.py tests/platforms/test_upstream_kinds.py tests/platforms/description/test_dragonfly.py \
	tests/workloads/logs/test_intake.py tests/workloads/requests/test_fields.py tests/workloads/test_times.py \
	tests/analysis/measures/test_metrics.py tests/analysis/measures/test_compare.py tests/analysis/tables/test_jobs.py \
	tests/analysis/report/test_report.py tests/learning/test_env.py tests/experiments/campaign/test_campaign_file.py \
	tests/experiments/campaign/test_grid.py tests/experiments/campaign/test_playing.py tests/experiments/cli/test_cli.py \
	tests/experiments/run/test_priorities.py tests/experiments/run/test_job_table.py

quicktest: developer
	$(BIN)/python -m pytest -n $(shell nproc 2>/dev/null || echo 2) $(QUICK) --ignore=tests/schedulers/core/test_dependents.py \
		-k "not lint_imports and not memory"

announce:
	@echo "make test: checks, documentation and the whole test suite; 5 to 10 minutes on 2 cores (make quicktest: one minute)"

test: announce developer
	@$(MAKE) --no-print-directory -j 2 lint docs
	$(BIN)/python -m pytest -n $(JOBS)

bench: setup
	$(BIN)/python -m tools.benchmarks.bench

format: developer
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/clang-format -i $(CPP_FILES)

clean:
	rm -rf results .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis site *.egg-info
	find . -path ./$(VENV) -prune -o -type d -name __pycache__ -print | xargs -r rm -rf

distclean: clean
	rm -rf $(VENV) build dist core/*.so
