#!/usr/bin/env bash
# Makes .venv-airflow, the environment that Airflow has to itself: its Spark provider would overwrite what .venv needs.
# `make` calls it, with .venv made before.
set -euo pipefail
cd "$(dirname "$0")/.."

VENV=.venv-airflow
PINS=requirements/airflow.txt
python=$(readlink -f .venv/bin/python)

fits() { [ -x "$VENV/bin/python" ] && [ "$("$VENV/bin/python" -V 2>/dev/null)" = "$("$python" -V)" ]; }

if ! fits; then
  printf 'Making %s with %s\n' "$VENV" "$("$python" -V)"
  rm -rf "$VENV"
  "$python" -m venv "$VENV"
fi
printf 'Installing the versions in %s (0.6 GB; a minute the first time)\n' "$PINS"
if ! { [ -x .venv/bin/uv ] && .venv/bin/uv pip sync --quiet --compile-bytecode --python "$VENV/bin/python" "$PINS"; }; then
  printf 'uv cannot install here; pip does it, in more time\n'
  "$VENV/bin/python" -m pip install --quiet --disable-pip-version-check --requirement "$PINS"
fi
touch "$VENV/.made"
printf "Airflow's environment is ready: %s\n" "$VENV/bin/airflow"
