"""The plain ``spark-submit --py-files dist/nestsync.zip jobs/...``: no ``--jars``, nothing installed but the pins."""

from __future__ import annotations

import json
from pathlib import Path

import lance
import pyarrow as pa
import pytest

from tests.jobs.conftest import ROOT, Submit

pytestmark = [pytest.mark.spark, pytest.mark.timeout(1800)]

MASTERS = ["local[2]", "local-cluster[2,1,1024]"]


@pytest.fixture
def datasets(tmp_path: Path) -> Path:
    """A folder of two Lance datasets and one that is none."""
    root = tmp_path / "datasets"
    root.mkdir()
    for name in ("orders", "customers.lance"):
        lance.write_dataset(pa.table({"id": [1, 2, 3]}), str(root / name))
    (root / "broken").mkdir()
    (root / "broken" / "_versions").write_text("no folder", encoding="utf-8")
    return root


@pytest.mark.parametrize("master", MASTERS)
def test_delta_and_the_data_sources_work_wherever_python_runs(
    submit: Submit, master: str, tmp_path: Path, datasets: Path
) -> None:
    done = submit(master, Path(__file__).parent / "probe.py", tmp_path / "table", datasets)
    assert done.returncode == 6, done.stderr[-4000:]
    said = json.loads(done.stdout.splitlines()[-1])
    assert said["master"] == master
    assert "nestsync.zip/" in said["driver"]
    assert all("nestsync.zip/" in where for where in said["workers"])
    assert said["delta"] == 3
    assert sorted(said["rows"]) == ["broken", "customers", "orders"]


@pytest.mark.proves("exit-2")
def test_a_mistake_ends_spark_submit_with_its_exit_code(submit: Submit, tmp_path: Path) -> None:
    done = submit("local[1]", ROOT / "jobs" / "run.py", "-c", tmp_path / "none.yaml")
    assert done.returncode == 2
    assert "there is no such file" in done.stdout  # spark-submit joins the streams of a Python driver
    assert "Traceback" not in done.stdout + done.stderr
