"""Several processes on one run."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import lance
import pyarrow as pa
import pytest
from pyiceberg.catalog.rest import RestCatalog
from pyspark.sql import SparkSession
from typer.testing import CliRunner

from nestsync.cli import app
from nestsync.embedded.servers import IcebergRest
from nestsync.workspace import Workspace

pytestmark = [pytest.mark.spark, pytest.mark.servers, pytest.mark.timeout(600)]

NESTSYNC = Path(sys.prefix) / "bin" / "nestsync"


@pytest.fixture
def config(tmp_path: Path, source: IcebergRest, target: IcebergRest) -> Path:
    catalog = RestCatalog("plain", uri=source.uri)
    for levels in (("sales",), ("sales", "emea"), ("hr",)):
        catalog.create_namespace(levels)
    lance.write_dataset(pa.table({"n": [1]}), str(tmp_path / "lance" / "clicks.lance"))
    file = tmp_path / "nestsync.yaml"
    file.write_text(
        f"""
workspace: workspace
sources:
  - {{name: lake, system: iceberg_rest, uri: "{source.uri}"}}
  - {{name: files, system: lance_dir, root: lance}}
target: {{name: nested, system: iceberg_rest, uri: "{target.uri}"}}
property_keys: {{location: null}}
mapping: {{rules: [{{source: files, prefix: [raw]}}]}}
"""
    )
    return file


def side_by_side(*commands: list[str | Path]) -> list[dict[str, Any]]:
    """The `--json` documents of `commands`, which run at one time, each in a process of its own."""
    running = [
        subprocess.Popen([NESTSYNC, *command, "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for command in commands
    ]
    said = [process.communicate(timeout=300) for process in running]
    assert [process.returncode for process in running] == [0] * len(commands), said
    return [json.loads(document) for document, _ in said]


def test_sources_are_read_into_one_run_by_processes_of_their_own(spark: SparkSession, config: Path) -> None:
    read = side_by_side(
        *(["inventory", "-c", config, "--run-id", "night", "--source", name] for name in ("lake", "files"))
    )
    assert {each["run_id"] for each in read} == {"night"}
    workspace = Workspace(spark, config.parent / "workspace")
    rows = workspace.read("namespaces", run_id="night").select("role", "source", "levels").collect()
    assert sorted((row["source"], tuple(row["levels"])) for row in rows if row["role"] == "source") == [
        ("files", ()),
        ("lake", ("hr",)),
        ("lake", ("sales",)),
        ("lake", ("sales", "emea")),
    ]
    for stage in (("inventory", "--source", "nested"), ("check",), ("plan",)):
        done = CliRunner().invoke(app, [*stage, "-c", str(config), "--run-id", "night"])
        assert done.exit_code == 0, done.output
    actions = workspace.read("actions", run_id="night").collect()
    assert sorted(tuple(row["levels"]) for row in actions) == [("hr",), ("raw",), ("sales",), ("sales", "emea")]
