"""spark-submit as a person runs it, on the zip that `make dist` builds."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.few_rows import FEW_ROWS

ROOT = Path(__file__).parents[2]
Submit = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(scope="session")
def package_zip(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The `nestsync.zip` of this checkout: the wheel under another name, as in the Makefile."""
    folder = tmp_path_factory.mktemp("dist")
    build = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(folder)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True, timeout=300)
    (wheel,) = folder.glob("*.whl")
    return wheel.rename(folder / "nestsync.zip")


@pytest.fixture
def submit(package_zip: Path, tmp_path: Path) -> Submit:
    """``submit(master, job, *arguments)`` runs the real ``spark-submit``, in an empty folder."""
    folder = tmp_path / "submitted"
    folder.mkdir()
    tools = Path(sys.executable).parent

    def run(master: str, job: Path, *arguments: object) -> subprocess.CompletedProcess[str]:
        settings = [word for name, value in FEW_ROWS.items() for word in ("--conf", f"{name}={value}")]
        command = [tools / "spark-submit", "--master", master, *settings, "--py-files", package_zip, job, *arguments]
        environment = {key: value for key, value in os.environ.items() if key not in {"PYTHONPATH", "SPARK_HOME"}}
        return subprocess.run(
            [str(part) for part in command],
            cwd=folder,
            env=environment | {"PATH": f"{tools}:{environment['PATH']}", "SPARK_LOCAL_IP": "127.0.0.1"},
            capture_output=True,
            text=True,
            timeout=900,
            check=False,
        )

    return run
