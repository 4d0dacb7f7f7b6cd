"""The DAGs as Airflow's dag processor finds them, without a scheduler; run by the pytest of `.venv-airflow`."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from pathlib import Path

# Before Airflow is imported: it reads these once.
os.environ |= {
    "AIRFLOW_HOME": tempfile.mkdtemp(prefix="airflow-dags-"),
    "AIRFLOW__CORE__LOAD_EXAMPLES": "False",
    "AIRFLOW__CORE__UNIT_TEST_MODE": "False",
    "AIRFLOW__CORE__DAGS_FOLDER": str(Path(__file__).parents[3] / "airflow_dags"),
    "AIRFLOW_CONN_SPARK_DEFAULT": '{"conn_type": "spark", "host": "local[1]"}',
    "NESTSYNC_PACKAGE": "",
}

import sys

sys.path.insert(0, str(Path(__file__).parents[3] / "airflow_dags"))

import pytest
from airflow.dag_processing.dagbag import DagBag
from airflow.sdk import DAG
from airflow.utils.db import initdb
from runs import Spark, on_path

ROOT = Path(__file__).parents[3]
DAGS = ROOT / "airflow_dags"
SOURCE = "sources: [{name: datasets, system: lance_dir, root: datasets}]\n"
Bag = Callable[..., DagBag]


@pytest.fixture
def bag(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bag:
    """``bag(name="airflow: ...")`` parses the DAGs of those configurations, given by their blocks."""

    def parse(**blocks: str) -> DagBag:
        folder = tmp_path / "conf"
        folder.mkdir(exist_ok=True)
        for name, block in blocks.items():
            (folder / f"{name}.yaml").write_text(SOURCE + block, encoding="utf-8")
        monkeypatch.setenv("NESTSYNC_CONF", str(folder))
        return DagBag(DAGS)

    return parse


@pytest.fixture
def sync(bag: Bag) -> DAG:
    """The sync of a configuration that says when it runs."""
    return bag(sales='airflow: {schedule: "0 2 * * *"}\n').dags["nestsync.sales"]


@pytest.fixture(scope="session")
def database() -> None:
    """Airflow's metadata, for DAG runs."""
    initdb()


@pytest.fixture
def spark(database: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Spark:
    """What answers when a task calls `spark-submit`."""
    made = Spark(tmp_path / "spark")
    monkeypatch.setenv("PATH", on_path(made.home))
    return made
