# Two commands: `make run` and `make test`. Both make what they need; `make help` lists the rest.
SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

BIN := .venv/bin
# Where `make run` keeps its catalogs and its workspace; `make reset` deletes it.
DEMO_HOME ?= .cache/demo
WHEEL = dist/nestsync-$(shell sed -n 's/__version__ = "\(.*\)"/\1/p' pipelines/nestsync/__init__.py)-py3-none-any.whl

.PHONY: help
help: ## This list
	@awk -F ":.*## " '/^[a-z-]+:.*## / { printf "make %-18s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: run
run: .venv/.made ## The main job on catalogs that come along, in three passes; ends with the report's path
	@$(BIN)/nestsync demo --home $(DEMO_HOME)

.PHONY: reset
reset: ## Forget what `make run` left: the next one starts over
	rm -rf $(DEMO_HOME)

.PHONY: test
test: .venv/.made ## Every test, those with Spark and with real catalog servers included
	$(BIN)/python -m pytest -n 2 --dist loadfile

.PHONY: test-fast
test-fast: .venv/.made ## The tests of what is pure, in seconds
	$(BIN)/python -m pytest -q --hypothesis-profile fast -m "not spark and not servers and not system and not browser"

.PHONY: test-engines
test-engines: .venv/.made ## Names against real engines and further servers (Trino, Spark, ...); writes docs/engines.md
	$(BIN)/python -m pytest tests/engines --write-seen
	$(BIN)/python tools/generate_docs.py

.PHONY: test-dags
test-dags: .venv/.made .venv-airflow/.made ## What the DAGs are made of, in Airflow's environment, without running them
	$(BIN)/mypy --no-incremental --show-traceback --python-executable .venv-airflow/bin/python airflow_dags/nestsync_dags.py airflow_dags/nestsync_airflow
	cd tests/airflow/dags && ../../../.venv-airflow/bin/python -m pytest -q

.PHONY: test-airflow
test-airflow: test-dags ## The DAGs in a real Airflow, over real catalog servers
	$(BIN)/python -m pytest tests/airflow/live

.PHONY: mutations
mutations: .venv/.made ## Break every rule about names on purpose, and see its test turn red (15 minutes)
	$(BIN)/python tools/mutations.py

.PHONY: lint
lint: .venv/.made ## Style, types and the layers
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports

.PHONY: format
format: .venv/.made ## Mend the style
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

.PHONY: dist
dist: .venv/.made ## The wheel, and the zip for spark-submit --py-files
	rm -rf dist
	$(BIN)/python -m hatchling build --target wheel
	cp $(WHEEL) dist/nestsync.zip
	@ls -l dist

.PHONY: docs
docs: .venv/.made ## The pages in docs/ that are generated from the code
	$(BIN)/python tools/generate_docs.py

.PHONY: screenshots
screenshots: .venv/.made ## The README's pictures, of what `make run` left; needs a Chromium
	$(BIN)/python tools/screenshots.py $(DEMO_HOME)/workspace/reports docs/images

.PHONY: pins
pins: .venv/.made ## Compile requirements/*.txt from pyproject.toml anew
	$(BIN)/uv pip compile $(PIN_OPTIONS) --extra dev --output-file requirements/dev.txt pyproject.toml
	$(BIN)/uv pip compile $(PIN_OPTIONS) --constraint requirements/dev.txt --output-file requirements/run.txt pyproject.toml
	$(BIN)/uv pip compile $(PIN_OPTIONS) --output-file requirements/airflow.txt requirements/airflow.in
PIN_OPTIONS := --quiet --upgrade --python-version 3.11 --no-annotate --no-header --no-emit-index-url --no-emit-find-links

.PHONY: airflow
airflow: .venv-airflow/.made ## The environment that Airflow has to itself

.PHONY: airflow-up
airflow-up: .venv/.made .venv-airflow/.made ## Airflow with the DAGs over catalogs that come along, on loopback, until Ctrl-C
	@$(BIN)/python -m tools.airflow_up $(UP)

.PHONY: screenshot-airflow
screenshot-airflow: .venv/.made .venv-airflow/.made ## The picture of a DAG's graph in docs/images, by a headless Chromium
	$(BIN)/python -m tools.airflow_screenshot

.venv-airflow/.made: .venv/.made requirements/airflow.txt tools/airflow.sh
	@tools/airflow.sh

.venv/.made: pyproject.toml requirements/dev.txt tools/environment.sh
	@tools/environment.sh
