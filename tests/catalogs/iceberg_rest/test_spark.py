"""The same through Spark: rows, errors as text, and one list request a namespace."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import functions as F

from nestsync.catalogs.iceberg_rest import IcebergRestOptions
from nestsync.catalogs.records import SCHEMAS
from nestsync.errors import CatalogUnreachable, ConfigurationError, NestsyncError
from tests.catalogs.iceberg_rest.faulty_server import FaultyServer, Reply, Tree, error, namespaces, reply

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.spark

TREE = Tree(
    {
        ("sales",): {"owner": "ann", "comment": "a:b|c"},
        ("sales", "emea"): {},
        ("sales", "emea", "a b"): {},
        ("raw+",): {},
        ("raw+", "日本"): {},
    },
    {("sales", "emea"): ["orders", "a/b"], ("raw+",): ["t"]},
)


def load(spark: SparkSession, server: FaultyServer, **options: str) -> DataFrame:
    configured = IcebergRestOptions(uri=server.uri, max_retries=1, read_timeout=5.0)
    reader = spark.read.format("nestsync.iceberg_rest").options(**configured.to_spark())
    return reader.options(source="nightly", **options).load()


@pytest.mark.parametrize("partitions", ["1", "16"])
def test_the_whole_tree_with_one_list_request_a_namespace(
    spark: SparkSession, server: FaultyServer, partitions: str
) -> None:
    server.fallback = TREE
    frame = load(spark, server, object="all", partitions=partitions)
    assert frame.schema == SCHEMAS["all"]
    rows = {(row["object"], tuple(row["levels"]), row["name"]): row for row in frame.collect()}
    assert sorted(levels for kind, levels, _ in rows if kind == "namespace") == sorted(TREE.namespaces)
    assert sorted((levels, name) for kind, levels, name in rows if kind == "table") == [
        (("raw+",), "t"),
        (("sales", "emea"), "a/b"),
        (("sales", "emea"), "orders"),
    ]
    sales = rows["namespace", ("sales",), None]
    assert (sales["source"], sales["system"], sales["owner"]) == ("nightly", "iceberg_rest", "ann")
    assert sales["properties"] == {"owner": "ann", "comment": "a:b|c"}
    orders = rows["table", ("sales", "emea"), "orders"]
    assert (orders["format"], orders["version"], orders["location"]) == (
        "iceberg",
        2,
        "file:///sales%1Femea/orders",
    )
    assert [(column["name"], column["type"]) for column in orders["columns"]] == [("id", "long")]
    lists = Counter(server.lists())
    assert set(lists.values()) == {1}
    assert len(lists) == 1 + len(TREE.namespaces)
    assert server.targets().count("/v1/config") == 1
    assert "/v1/namespaces/sales%1Femea%1Fa%20b" in server.targets()
    assert "/v1/namespaces/raw%2B" in server.targets()


def test_an_empty_catalog_is_an_empty_frame(spark: SparkSession, server: FaultyServer) -> None:
    server.get("/v1/namespaces", namespaces())
    assert load(spark, server, object="namespaces").count() == 0


def test_a_lone_surrogate_is_an_error_row_and_not_another_name(spark: SparkSession, server: FaultyServer) -> None:
    server.fallback = Tree({("ok",): {}, ("bad value",): {"k": "x\udfffy"}})
    server.get("/v1/namespaces", namespaces(["ok"], ["a\ud800b"], ["bad value"]))
    rows = {tuple(row["levels"]): row for row in load(spark, server, object="namespaces").collect()}
    assert set(rows) == {("ok",), ("a\\ud800b",), ("bad value",)}
    assert [rows[levels]["status"] for levels in sorted(rows)] == ["unreadable", "unreadable", "ok"]
    assert rows["a\\ud800b",]["error"].startswith("level 0 holds a lone surrogate")
    assert "lone surrogate" in rows["bad value",]["error"]
    assert not [target for target in server.targets() if "%3F" in target or "D800" in target]


def test_an_object_that_fails_is_a_row(spark: SparkSession, server: FaultyServer) -> None:
    server.fallback = TREE
    server.get("/v1/namespaces/sales%1Femea/tables/orders?snapshots=refs", error(403, "not for you"))
    server.get("/v1/namespaces?parent=raw%2B", error(500, "boom"))
    frame = load(spark, server).where(F.col("status") != "ok").orderBy("object")
    bad = [(row["object"], tuple(row["levels"]), row["name"], row["error"]) for row in frame.collect()]
    assert bad == [
        (
            "namespace",
            ("raw+",),
            None,
            (
                "its children could not be listed: GET /v1/namespaces?parent=raw%2B: "
                "answered 500 Internal Server Error: boom"
            ),
        ),
        (
            "table",
            ("sales", "emea"),
            "orders",
            "GET /v1/namespaces/sales%1Femea/tables/orders: answered 403 Forbidden: not for you",
        ),
    ]


@pytest.mark.parametrize(
    ("target", "fault", "said"),
    [
        ("/v1/config", error(401, "who?"), "GET /v1/config: answered 401 Unauthorized: who?"),
        ("/v1/config", Reply(200, b"<html>"), "GET /v1/config: answered 200 with no content type, which is no JSON"),
        ("/v1/namespaces", reply({}), "GET /v1/namespaces: the answer holds no list of namespaces"),
        (
            "/v1/namespaces/raw%2B/tables/t?snapshots=refs",
            error(401),
            "GET /v1/namespaces/raw%2B/tables/t: answered 401",
        ),
    ],
    ids=["config, on the driver", "garbage", "root, on the driver", "table, on an executor"],
)
@pytest.mark.proves("exit-5")
def test_an_unreachable_catalog_survives_spark(
    spark: SparkSession, server: FaultyServer, target: str, fault: Reply, said: str
) -> None:
    server.fallback = TREE
    server.get(target, fault)
    with pytest.raises(PySparkException) as caught:
        load(spark, server).collect()
    ours = NestsyncError.from_text(str(caught.value))
    assert isinstance(ours, CatalogUnreachable)
    assert f"nightly at {server.uri}: {said}" in ours.what
    assert ours.hint


@pytest.mark.proves("exit-2")
def test_a_wrong_option_survives_spark(spark: SparkSession, server: FaultyServer) -> None:
    with pytest.raises(PySparkException) as caught:
        load(spark, server, uri="catalog.example.com").collect()
    ours = NestsyncError.from_text(str(caught.value))
    assert isinstance(ours, ConfigurationError)
    assert "uri: " in ours.what
    assert "must start with http:// or https://" in ours.what
