"""The plain ``spark-submit --py-files dist/nestsync.zip jobs/...``: no ``--jars``, nothing installed but the pins."""

from __future__ import annotations

import json
from pathlib import Path

import lance
import pyarrow as pa
import pytest

from nestsync.embedded.servers import HiveMetastore, IcebergRest
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
    assert said["tables"] == ["broken", "customers.lance", "orders"]


@pytest.mark.proves("exit-2")
def test_a_mistake_ends_spark_submit_with_its_exit_code(submit: Submit, tmp_path: Path) -> None:
    done = submit("local[1]", ROOT / "jobs" / "run.py", "-c", tmp_path / "none.yaml")
    assert done.returncode == 2
    assert "there is no such file" in done.stdout  # spark-submit joins the streams of a Python driver
    assert "Traceback" not in done.stdout + done.stderr


CONFIGURATION = """
sources:
  - {{name: warehouse, system: hms, uri: "{hms}"}}
  - {{name: analytics, system: iceberg_rest, uri: "{source}"}}
  - {{name: embeddings, system: lance_dir, root: datasets}}
target: {{name: lakehouse, system: iceberg_rest, uri: "{target}"}}
mapping:
  rules:
    - {{source: warehouse, include: [["hive", "{unique}__*"]], drop: 1, split: "__"}}
    - {{source: analytics, include: [["{unique}", "**"]], prefix: ["{unique}", "lake"]}}
    - {{source: embeddings, prefix: ["{unique}", "ml"]}}
property_keys: {{location: null}}
"""


@pytest.mark.servers
@pytest.mark.proves("exit-0")
def test_a_whole_run_reads_on_executors_and_writes_what_is_configured(
    submit: Submit,
    tmp_path: Path,
    datasets: Path,
    unique: str,
    hms_server: HiveMetastore,
    iceberg_server: IcebergRest,
    iceberg_memory_server: IcebergRest,
) -> None:
    from hmsclient import HMSClient
    from hmsclient.genthrift.hive_metastore.ttypes import Database
    from pyiceberg.catalog.rest import RestCatalog

    with HMSClient(host="127.0.0.1", port=hms_server.port) as client:
        location = f"file://{hms_server.warehouse}/{unique}"
        database = Database(f"{unique}__emea__orders", "kept as it is", location, {"cost": "a:b|c"})
        client.create_database(database)
    RestCatalog("source", uri=iceberg_server.uri).create_namespace((unique,), {"tier": "gold"})
    file = tmp_path / "nestsync.yaml"
    servers = {"hms": hms_server.uri, "source": iceberg_server.uri, "target": iceberg_memory_server.uri}
    file.write_text(CONFIGURATION.format(unique=unique, **servers), encoding="utf-8")

    done = submit("local-cluster[2,1,1024]", ROOT / "jobs" / "run.py", "-c", file, "--json")

    said = json.loads(done.stdout.splitlines()[-1])
    assert (done.returncode, said["exit_code"], said["error"]) == (0, 0, None), done.stderr[-4000:]
    assert [stage["stage"] for stage in said["stages"]] == ["inventory", "check", "plan", "apply", "verify", "report"]
    assert Path(said["report"]).is_file()
    target = RestCatalog("target", uri=iceberg_memory_server.uri)
    held = target.load_namespace_properties((unique, "emea", "orders"))
    assert {key: held[key] for key in ("cost", "comment")} == {"cost": "a:b|c", "comment": "kept as it is"}
    assert target.load_namespace_properties((unique, "lake", unique))["tier"] == "gold"
    assert sorted(target.list_namespaces((unique,))) == [(unique, part) for part in ("emea", "lake", "ml")]
