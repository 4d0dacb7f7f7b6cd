"""Break each rule about names on purpose, and see that the named test turns red.

    python tools/mutations.py [--only TEXT]

`tests/core/mutations.toml` says what to break: a rule, the module of `nestsync.core`, the text there and what stands
instead, and the test that has to fail; `tests/stages/check/mutations.toml` says so of the rules in Spark. The package
is copied first; nothing in the checkout changes. Exits 1 when a test stays green, and names it.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "pipelines" / "nestsync"
ROOMS = ("core", "stages/check")
"""Where there are rules to be broken, below the package and below its tests."""


def mutations(holding: str = "") -> list[dict[str, Any]]:
    """The mutations whose rule holds this text, their modules below `PACKAGE`."""
    return [
        mutation | {"module": f"{room}/{mutation['module']}"}
        for room in ROOMS
        for mutation in tomllib.loads((ROOT / "tests" / room / "mutations.toml").read_text("utf-8"))["mutation"]
        if holding in mutation["rule"]
    ]


def turns_red(mutation: dict[str, Any]) -> bool:
    """Whether the named test fails on a package with the mutation."""
    with tempfile.TemporaryDirectory() as folder:
        package = Path(folder) / "pipelines"
        shutil.copytree(ROOT / "pipelines", package, ignore=shutil.ignore_patterns("__pycache__"))
        module = Path(folder) / PACKAGE.relative_to(ROOT) / mutation["module"]
        text = module.read_text(encoding="utf-8")
        if text.count(mutation["text"]) != 1:
            sys.exit(f"{mutation['rule']}: {mutation['text']!r} does not stand once in {mutation['module']}")
        module.write_text(text.replace(mutation["text"], mutation["instead"]), encoding="utf-8")
        command = [sys.executable, "-m", "pytest", "-q", "-x", "--no-header", "-p", "no:cacheprovider"]
        command += ["-o", f"pythonpath={package} {ROOT}", mutation["test"]]
        done = subprocess.run(  # noqa: S603
            command,
            cwd=ROOT,
            env=os.environ | {"PYTHONPATH": str(package)},
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode not in (0, 1):
            sys.exit(f"{mutation['test']}: {done.stdout[-2000:]}{done.stderr[-2000:]}")
        return done.returncode == 1


def main() -> None:
    """Try every mutation."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", metavar="TEXT", help="the mutations whose rule holds this text")
    wanted = parser.parse_args().only
    chosen = mutations(wanted)
    green = []
    with ThreadPoolExecutor(os.cpu_count()) as pool:  # each test is a process of its own
        for number, (mutation, red) in enumerate(zip(chosen, pool.map(turns_red, chosen), strict=True), 1):
            green += [] if red else [mutation["rule"]]
            sys.stdout.write(f"{number:3} of {len(chosen)} {'red  ' if red else 'GREEN'} {mutation['rule']}\n")
            sys.stdout.flush()
    sys.exit(f"no test noticed: {', '.join(green)}" if green else 0)


if __name__ == "__main__":
    main()
