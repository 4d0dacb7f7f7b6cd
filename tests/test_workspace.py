"""The Delta workspace: partitions replaced, runs told apart, several processes at once."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
from chispa import assert_df_equality
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from nestsync.core.checking import Subject
from nestsync.errors import LeaseHeld
from nestsync.runfiles import RunFiles
from nestsync.schemas import RUN_FIELDS, TABLES, contract
from nestsync.session import spark_path
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
    assert [folder.name for folder in workspace.root.parent.iterdir()] == [workspace.root.name]


def test_a_source_inventoried_again_replaces_its_own_rows_alone(spark: SparkSession, workspace: Workspace) -> None:
    both = namespaces(spark, ("it's", ["old"]), ("s2", ["kept"]))
    workspace.replace("namespaces", both, run_id="r1")
    workspace.replace("namespaces", namespaces(spark, ("it's", ["new"])), run_id="r1", sources=["it's"])
    left = {tuple(row["levels"]) for row in workspace.read("namespaces", run_id="r1").collect()}
    assert left == {("new",), ("kept",)}


def test_a_table_of_an_older_version_goes_on_with_the_columns_that_came_since(
    spark: SparkSession, workspace: Workspace
) -> None:
    older = StructType([field for field in TABLES["runs"] if field.name not in ("user", "host")])
    stage = ("run", "check", "ok", datetime(2026, 11, 28, tzinfo=UTC), 1.5, {"blocking": 0}, None, None)
    path = spark_path(workspace.root / "delta" / "runs")
    spark.createDataFrame([("old", *stage)], older).write.format("delta").partitionBy("run_id").save(path)
    assert [tuple(row[-2:]) for row in workspace.read("runs", run_id="old").collect()] == [(None, None)]

    rows = spark.createDataFrame([(*stage, "ann", "host-1")], contract(*RUN_FIELDS))
    workspace.append("runs", rows, run_id="new")
    workspace.replace("runs", rows, run_id="old-too")
    found = {run_id: workspace.read("runs", run_id=run_id) for run_id in ("old", "new", "old-too")}
    assert {run_id: [(row["user"], row["host"]) for row in frame.collect()] for run_id, frame in found.items()} == {
        "old": [(None, None)], "new": [("ann", "host-1")], "old-too": [("ann", "host-1")],
    }  # fmt: skip
    workspace.replace("runs", rows, run_id="old")
    assert workspace.read("runs", run_id="old").columns == TABLES["runs"].names[1:]


def test_an_empty_inventory_clears_what_was_there(spark: SparkSession, workspace: Workspace) -> None:
    workspace.replace("namespaces", namespaces(spark, ("s", ["old"])), run_id="r1")
    workspace.replace("namespaces", namespaces(spark), run_id="r1")
    assert workspace.read("namespaces", run_id="r1").count() == 0


def test_a_listing_says_of_every_namespace_what_the_inventory_found(spark: SparkSession, workspace: Workspace) -> None:
    frame = namespaces(spark, ("it's", HOSTILE), ("it's", []), ("target", ["x"]))
    broken = F.when(F.size("levels") == 0, "no\nanswer")
    frame = frame.withColumn("error", broken).withColumn(
        "status", F.when(broken.isNotNull(), "unreadable").otherwise("ok")
    )
    table = frame.where("source = 'target'").withColumn("object", F.lit("table"))
    listing = workspace.write_listing(frame.unionByName(table), run_id="r:1+")
    counted = {"it's": 2, "target": 1}
    inventory = {name: {"counts": {"namespaces": count}, "listing": listing} for name, count in counted.items()}
    found = RunFiles(workspace.root).listed_namespaces("r:1+", inventory)
    assert sorted(found, key=lambda subject: (subject.source, subject.levels)) == [
        Subject("it's", "namespace", (), status="unreadable", error="no\nanswer"),
        Subject("it's", "namespace", tuple(HOSTILE)),
        Subject("target", "namespace", ("x",)),
    ]


@pytest.mark.proves("exit-5")
def test_a_second_lease_names_the_first(workspace: Workspace) -> None:
    with workspace.lease("r1"), pytest.raises(LeaseHeld, match="run r1") as refused, workspace.lease("r2"):
        pass
    assert refused.value.exit_code == 5
    with workspace.lease("r3"):
        pass
