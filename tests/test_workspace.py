"""The Delta workspace: partitions replaced, runs told apart, several processes at once."""

from __future__ import annotations

import multiprocessing
from pathlib import Path

import pytest
from chispa import assert_df_equality
from pyspark.sql import DataFrame, SparkSession

from nestsync.errors import ConfigurationError, LeaseHeld, RunNotFound
from nestsync.schemas import TABLES
from nestsync.workspace import Workspace

pytestmark = pytest.mark.spark

HOSTILE = ["it's", 'a"b', "a\\b", "a\nb", "日本", "'; DROP TABLE x; --"]


def namespaces(spark: SparkSession, *rows: tuple[str, list[str]]) -> DataFrame:
    schema = TABLES["namespaces"]
    records = [
        {
            "role": "source",
            "source": source,
            "system": "hms",
            "object": "namespace",
            "levels": levels,
            "properties": {"k": "v"},
            "status": "ok",
        }
        for source, levels in rows
    ]
    return spark.createDataFrame(
        [
            tuple({**dict.fromkeys(schema.names), "run_id": "x", **record}[name] for name in schema.names)
            for record in records
        ],
        schema,
    ).drop("run_id")


@pytest.fixture
def workspace(spark: SparkSession, tmp_path: Path) -> Workspace:
    return Workspace(spark, tmp_path / "work space #1%")


def test_a_table_that_was_never_written_reads_as_empty(workspace: Workspace) -> None:
    assert workspace.read("findings", run_id="r1").count() == 0
    assert workspace.read("findings", run_id="r1").columns == TABLES["findings"].names[1:]


def test_what_was_written_is_read_back_and_runs_are_told_apart(spark: SparkSession, workspace: Workspace) -> None:
    frame = namespaces(spark, *((source, [source, "b"]) for source in HOSTILE))
    workspace.replace("namespaces", frame, run_id="r1")
    workspace.replace("namespaces", namespaces(spark, ("s", ["other"])), run_id="r2")
    found = workspace.read("namespaces", run_id="r1")
    assert_df_equality(found.orderBy("source"), frame.orderBy("source"), ignore_nullable=True, ignore_metadata=True)
    assert workspace.read("namespaces", run_id="r2").count() == 1


def test_a_source_inventoried_again_replaces_its_own_rows_alone(spark: SparkSession, workspace: Workspace) -> None:
    both = namespaces(spark, ("it's", ["old"]), ("s2", ["kept"]))
    workspace.replace("namespaces", both, run_id="r1")
    workspace.replace("namespaces", namespaces(spark, ("it's", ["new"])), run_id="r1", sources=["it's"])
    left = {tuple(row["levels"]) for row in workspace.read("namespaces", run_id="r1").collect()}
    assert left == {("new",), ("kept",)}


def test_an_empty_inventory_clears_what_was_there(spark: SparkSession, workspace: Workspace) -> None:
    workspace.replace("namespaces", namespaces(spark, ("s", ["old"])), run_id="r1")
    workspace.replace("namespaces", namespaces(spark), run_id="r1")
    assert workspace.read("namespaces", run_id="r1").count() == 0


def test_stages_leave_facts_for_each_other(workspace: Workspace) -> None:
    workspace.update_summary("r1", "inventory", {"s1": 1})
    workspace.update_summary("r1", "inventory", {"s2": 2})
    workspace.update_summary("r1", "plan", {"hash": "h"})
    assert workspace.summary("r1") == {"run_id": "r1", "inventory": {"s1": 1, "s2": 2}, "plan": {"hash": "h"}}
    assert workspace.run_ids() == ["r1"]


def _update(root: Path, key: str) -> None:
    Workspace(None, root).update_summary("r1", "inventory", {key: 1})  # type: ignore[arg-type]


def test_facts_of_processes_at_once_are_all_kept(workspace: Workspace) -> None:
    context = multiprocessing.get_context("spawn")
    processes = [context.Process(target=_update, args=(workspace.root, f"s{i}")) for i in range(4)]
    for process in processes:
        process.start()
    for process in processes:
        process.join(60)
    assert workspace.summary("r1")["inventory"] == {f"s{i}": 1 for i in range(4)}


def test_an_unknown_run_names_the_known_ones(workspace: Workspace) -> None:
    workspace.update_summary("r1", "inventory", {})
    with pytest.raises(RunNotFound, match=r"there is no run .nope..*r1"):
        workspace.summary("nope")


@pytest.mark.parametrize("run_id", ["", "../x", "a/b", "a b", "a'b", ".hidden", "x" * 129])
def test_a_run_id_that_is_no_file_name_is_refused(workspace: Workspace, run_id: str) -> None:
    with pytest.raises(ConfigurationError, match="is no run id"):
        workspace.folder("journal", run_id)


@pytest.mark.proves("exit-5")
def test_a_second_lease_names_the_first(workspace: Workspace) -> None:
    with workspace.lease("r1"), pytest.raises(LeaseHeld, match="run r1") as refused, workspace.lease("r2"):
        pass
    assert refused.value.exit_code == 5
    with workspace.lease("r3"):
        pass
