# make setup   builds .venv and compiles the kernels
# make demo    clusters a public data set at several epsilons; writes demo-output/ (in .venv-demo, which has what a user needs)
# make test    all tests, slow statistical ones too, and a sixth of the forms of long matrices; those of Spark where Java is found
# make matrix  the tests with all forms of long matrices: before a release, and after a change that they could see
# make engines the tests of streams of Ray, Dask and a store like S3, in an environment of its own
# make lint    ruff and mypy
# make check   lint, and beside it the tests that find most mistakes (make quick): after each edit, in a minute on 2 cores
# make docs    builds the site in build/site, offline; warnings are errors
# make package builds the wheel and the source distribution in dist/
# make coverage   every branch of the promise, the mechanisms, the questions and the gate is tested
# make bench   runs the cells that the store lacks, measures speed and memory, and writes the tables; needs SPINNEY_DATA, takes hours
# make experiments   repeats a paper's experiments; needs SPINNEY_DATA, takes hours
# A distribution's own interpreter is compiled with all optimizations; it must be able to make environments.
PYTHON ?= $(shell for one in /usr/bin/python3.11 python3.11 python3; do $$one -c 'import ensurepip' 2>/dev/null && echo $$one && break; done)
BIN := .venv/bin
# The machine may forbid byte code; with it, imports take a tenth of the time.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: setup demo docs package test matrix engines lint check quick coverage bench experiments clean

setup: .venv/.done

.venv/.done: pyproject.toml constraints.txt
	$(PYTHON) -m venv --clear .venv
	PIP_CONSTRAINT=constraints.txt $(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev,docs]'
	$(BIN)/python tests/conftest.py
	$(BIN)/python -m spinney warm
	touch $@

# Without byte code of all that is installed: a demo imports a small part of it.
.venv-demo/.done: pyproject.toml constraints.txt
	$(PYTHON) -m venv --clear .venv-demo
	PIP_CONSTRAINT=constraints.txt .venv-demo/bin/python -m pip install --quiet --no-compile --disable-pip-version-check -e '.[plot]'
	touch $@

demo: .venv-demo/.done
	.venv-demo/bin/python -m spinney demo --out demo-output

docs: setup
	$(BIN)/python -m sphinx --quiet --fail-on-warning --keep-going --conf-dir docs --doctree-dir build/doctrees . build/site

package: setup
	$(BIN)/python -m hatchling build

test: setup
	$(BIN)/python -m pytest -n 3 --share 6 -q

matrix: setup
	$(BIN)/python -m pytest -n 3 -q

.venv-engines/.done: pyproject.toml constraints.txt
	$(PYTHON) -m venv --clear .venv-engines
	grep -v '^python-dateutil=' constraints.txt > .venv-engines/constraints.txt  # moto stands on a package that wants an earlier one
	PIP_CONSTRAINT=.venv-engines/constraints.txt .venv-engines/bin/python -m pip install --quiet --disable-pip-version-check -e '.[audit,engines]' 'moto[server,s3]' pandas pytest
	touch $@

engines: .venv-engines/.done
	.venv-engines/bin/python -m pytest -q tests/engines

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

check: setup
	$(MAKE) --no-print-directory --jobs 2 lint quick

quick: setup
	$(BIN)/python -m pytest -n 2 --share 6 -q tests/contract/test_layers.py tests/contract/test_catalog.py tests/contract/test_public_names.py tests/contract/test_stored.py tests/contract/test_guard.py tests/unit/privacy tests/unit/mechanisms tests/unit/questions tests/unit/curators/test_gate.py tests/unit/fits tests/unit/ledgers/test_filter.py tests/unit/releases tests/privacy/test_brute_force.py

coverage: setup
	$(BIN)/python -m coverage run -m pytest -q tests/unit/privacy tests/unit/mechanisms tests/unit/questions tests/unit/curators/test_gate.py tests/unit/audit/test_hook.py tests/unit/fits/test_record.py tests/unit/releases tests/unit/algorithms/test_plan.py tests/contract/test_catalog.py tests/privacy/test_brute_force.py tests/privacy/test_views.py tests/privacy/test_cheating_algorithms.py tests/privacy/test_gaussian.py tests/statistical/test_samplers.py tests/unit/algorithms/test_subspaces.py tests/unit/algorithms/test_repairs.py tests/unit/baselines/test_balcan.py tests/unit/baselines/test_lsh.py
	$(BIN)/python -m coverage report

bench: setup
	PIP_CONSTRAINT=constraints.txt $(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[bench]"
	$(BIN)/python -m benchmarks run all
	$(BIN)/python -m benchmarks speed
	$(BIN)/python -m benchmarks scale
	$(BIN)/python -m benchmarks pmedian
	$(BIN)/python -m benchmarks spark
	$(BIN)/python -m benchmarks report

experiments: setup
	$(BIN)/python -m experiments.fan_li_li
	$(BIN)/python -m experiments.fan_li_li_more
	$(BIN)/python -m experiments.cohen_addad
	$(BIN)/python -m experiments.jones

clean:
	rm -rf .venv .venv-demo .venv-engines build demo-output dist docs/api .pytest_cache .mypy_cache .ruff_cache .hypothesis
