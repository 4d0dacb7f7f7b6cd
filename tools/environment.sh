#!/usr/bin/env bash
# Makes .venv: finds a Python and a Java that fit, installs the pinned versions and this checkout. `make` calls it.
# With --check it only looks.
set -euo pipefail
cd "$(dirname "$0")/.."

VENV=.venv
UV=uv==0.13.9
PINS=requirements/dev.txt

say() { printf '%s\n' "$*"; }
missing() { printf '%s\n' "$@" >&2; exit 2; }

fits() { "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; }

find_python() {
  local candidate
  for candidate in ${PYTHON:-} python3 python3.13 python3.12 python3.11 python3.14 python; do
    if fits "$candidate"; then command -v "$candidate"; return; fi
  done
  missing "Python 3.11 or newer is missing (found: $(python3 --version 2>/dev/null || echo none))." \
    "Install it: 'sudo apt-get install python3 python3-venv' on Debian 12, Ubuntu 24.04 and newer, 'brew install python@3.12'" \
    "on macOS; or name one that you have: make PYTHON=/path/to/python3.12"
}

check_java() {
  local java=java version
  if [ -n "${JAVA_HOME:-}" ]; then java="$JAVA_HOME/bin/java"; fi
  version=$("$java" -version 2>&1 | sed -n 's/.*version "\(1\.\)\{0,1\}\([0-9]*\).*/\2/p' | head -n 1 || true)
  case "$version" in
    17 | 21) ;;
    *) missing "Java 17 or 21 is missing (found: $([ -n "$version" ] && echo "Java $version" || echo none)${JAVA_HOME:+ in JAVA_HOME=$JAVA_HOME})." \
      "Install it: 'sudo apt-get install openjdk-17-jre-headless' on Debian and Ubuntu, 'brew install openjdk@17' on" \
      "macOS; then set JAVA_HOME to it or put it on PATH." ;;
  esac
}

make_environment() {
  local python=$1
  if [ -x "$VENV/bin/python" ] && fits "$VENV/bin/python"; then return; fi
  say "Making $VENV with $("$python" --version) ($python)"
  rm -rf "$VENV"
  "$python" -m venv "$VENV" || missing "Python cannot make an environment." \
    "On Debian and Ubuntu that takes one more package: sudo apt-get install python3-venv"
}

install() {
  say "Installing the versions in $PINS (1.5 GB; about 2 minutes the first time)"
  if "$VENV/bin/python" -m pip install --quiet --disable-pip-version-check "$UV" &&
    "$VENV/bin/uv" pip install --quiet --compile-bytecode --python "$VENV/bin/python" --requirement "$PINS"; then
    "$VENV/bin/uv" pip install --quiet --compile-bytecode --python "$VENV/bin/python" --no-deps --no-build-isolation --editable .
  else
    say "uv cannot install here; pip does it, in more time"
    "$VENV/bin/python" -m pip install --quiet --disable-pip-version-check --requirement "$PINS"
    "$VENV/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
  fi
}

python=$(find_python)
check_java
if [ "${1:-}" = --check ]; then exit; fi
make_environment "$python"
install
touch "$VENV/.made"
say "The environment is ready: $VENV/bin/nestsync"
