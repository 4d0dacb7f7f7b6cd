"""Two runs side by side: every kind of change, and what is no change."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

from nestsync.catalogs.records import SCHEMAS
from nestsync.schemas import CHANGE_FIELDS, FINDING_FIELDS, TARGET_FIELDS, contract
from nestsync.stages.compare import Side, compare

pytestmark = pytest.mark.spark

Row = dict[str, Any]
CATALOGS = {("source", "hms"), ("target", "lake")}
COLUMNS = [("id", "int"), ("at", "date")]


def objects(spark: SparkSession, rows: Sequence[Row]) -> DataFrame:
    plain = {
        "role": "source", "source": "hms", "system": "hms", "object": "namespace", "properties": {}, "status": "ok",
    }  # fmt: skip
    names = ["role", *SCHEMAS["all"].names]
    data = [tuple((plain | row).get(name) for name in names) for row in rows]
    return spark.createDataFrame(data, f"role string, {_ddl()}")


def _ddl() -> str:
    return ", ".join(f"{field.name} {field.dataType.simpleString()}" for field in SCHEMAS["all"])


def targets(spark: SparkSession, *rows: tuple[list[str], str | None, list[str] | None, str | None]) -> DataFrame:
    data = [
        ("hms", "namespace" if name is None else "table", levels, name, target_levels, target_name, "identity")
        for levels, name, target_levels, target_name in rows
    ]
    return spark.createDataFrame(data, contract(*TARGET_FIELDS))


def findings(spark: SparkSession, *rows: tuple[str, str, list[str], str]) -> DataFrame:
    data = [("hms", "hms", "namespace", levels, None, rule, severity, None, message, "hint")
            for rule, severity, levels, message in rows]  # fmt: skip
    return spark.createDataFrame(data, contract(*FINDING_FIELDS))


def told(changes: DataFrame) -> list[tuple[str, str, list[str], str | None, str | None]]:
    assert changes.schema.names == contract(*CHANGE_FIELDS).names
    rows = [(row["what"], row["change"], row["levels"], row["name"], row["detail"]) for row in changes.collect()]
    return sorted(rows, key=str)


def of(spark: SparkSession, before: Sequence[Row], after: Sequence[Row], **options: Any) -> list[Any]:
    sides = (Side(objects(spark, rows)) for rows in (before, after))
    return told(compare(*sides, CATALOGS, **options))


def namespace(*levels: str, **more: Any) -> Row:
    return {"levels": list(levels)} | more


def table(name: str, *levels: str, **more: Any) -> Row:
    return {"levels": list(levels), "name": name, "object": "table"} | more


@pytest.mark.parametrize("unread", [True, False])
def test_what_appeared_and_what_vanished(spark: SparkSession, unread: bool) -> None:
    before = [namespace("a"), namespace("b"), table("t", "a"), table("b", "a")]
    after = [namespace("a"), namespace("c"), table("t", "a"), table("t", "c")]
    assert of(spark, before, after, unread=unread) == [
        ("namespace", "appeared", ["c"], None, None),
        ("namespace", "vanished", ["b"], None, None),
        ("table", "appeared", ["c"], "t", None),
        ("table", "vanished", ["a"], "b", None),
    ]


CHANGED: dict[str, tuple[Row, Row, str]] = {
    "owner": ({"owner": "ann"}, {"owner": "b\u202eb"}, 'owner "ann" → "b\\u202Eb"'),
    "owner-gone": ({"owner": "ann"}, {}, 'owner "ann" → none'),
    "location": ({"location": "s3://a"}, {"location": "s3://b"}, 'location "s3://a" → "s3://b"'),
    "comment": ({"comment": "x"}, {"comment": "y"}, "another comment"),
    "format": ({"format": "hive"}, {"format": "iceberg"}, "format hive → iceberg"),
    "properties": (
        {"properties": {"kept": "1", "gone": "1", "turned": "1"}},
        {"properties": {"kept": "1", "new": "1", "turned": "2"}},
        'properties changed ["turned"], removed ["gone"], added ["new"]',
    ),
    "columns": (
        {"columns": COLUMNS},
        {"columns": [("id", "bigint"), ("at", "date")]},
        'columns removed ["id int"], added ["id bigint"]',
    ),
    "columns-turned-round": ({"columns": COLUMNS}, {"columns": COLUMNS[::-1]}, "columns in another order"),
    "columns-known-now": ({}, {"columns": COLUMNS}, 'columns added ["id int","at date"]'),
    "unreadable-now": ({"owner": "ann"}, {"status": "unreadable"}, "status ok → unreadable"),
    "two-things": ({"owner": "a", "comment": "x"}, {"owner": "b"}, 'owner "a" → "b"; another comment'),
}


@pytest.fixture(scope="module")
def changed(spark: SparkSession) -> dict[str | None, tuple[str, str | None]]:
    """Every case at once: (change, detail) by name."""
    before = [table(name, "a", **case[0]) for name, case in CHANGED.items()]
    after = [table(name, "a", **case[1]) for name, case in CHANGED.items()]
    return {name: (change, detail) for _, change, _, name, detail in of(spark, before, after, unread=False)}


@pytest.mark.parametrize("name", CHANGED)
def test_what_changed_in_an_object(changed: dict[str | None, tuple[str, str | None]], name: str) -> None:
    assert changed[name] == ("changed", CHANGED[name][2])


def test_what_is_no_change(spark: SparkSession) -> None:
    before = [
        table("t", "a", properties={"numRows": "1", "k": "v", "none": None}, row_count=1, version=1),
        table("twice", "a", owner="x"),
        table("twice", "a", owner="y"),
        namespace("x", source="elsewhere"),
        namespace("lake", role="target", source="other"),
    ]
    after = [
        table("t", "a", properties={"k": "v", "numRows": "2"}, row_count=2, version=2),
        table("twice", "a", owner="y"),
        table("twice", "a", owner="x"),
    ]
    assert of(spark, before, after, ignored=["numRows"]) == []


def test_levels_are_no_joined_text_and_a_role_is_part_of_the_name(spark: SparkSession) -> None:
    before = [namespace("a.b"), namespace("a", role="target", source="lake")]
    after = [namespace("a", "b"), namespace("A", role="target", source="lake")]
    assert of(spark, before, after) == [
        ("namespace", "appeared", ["A"], None, None),
        ("namespace", "appeared", ["a", "b"], None, None),
        ("namespace", "vanished", ["a"], None, None),
        ("namespace", "vanished", ["a.b"], None, None),
    ]


def test_below_what_could_not_be_read_nothing_is_known_to_have_vanished(spark: SparkSession) -> None:
    before = [
        namespace("a"),
        namespace("a", "b"),
        table("t", "a", "b"),
        table("u", "a"),
        namespace("c"),
        table("v", "c"),
    ]
    after = [namespace("a", status="unreadable", error="timed out"), namespace("c")]
    why = "missing now; a namespace above it could not be read this time"
    assert of(spark, before, after) == [
        ("namespace", "changed", ["a"], None, "status ok → unreadable"),
        ("namespace", "unknown", ["a", "b"], None, why),
        ("table", "unknown", ["a", "b"], "t", why),
        ("table", "unknown", ["a"], "u", why),
        ("table", "vanished", ["c"], "v", None),
    ]


def test_nor_to_have_appeared(spark: SparkSession) -> None:
    root = namespace(status="unreadable", error="refused")
    assert of(spark, [root], [namespace("a")]) == [
        ("namespace", "unknown", ["a"], None, "there now; a namespace above it could not be read before"),
        ("namespace", "vanished", [], None, None),
    ]


def test_what_moved_has_the_same_source_and_another_target(spark: SparkSession) -> None:
    held = objects(spark, [])
    before = targets(
        spark,
        (["a__b"], None, ["a__b"], None),
        (["same"], None, ["same"], None),
        (["a"], "t", ["a"], "t"),
        (["out"], None, ["out"], None),
        (["gone"], None, ["gone"], None),
    )
    after = targets(
        spark,
        (["a__b"], None, ["a", "b"], None),
        (["same"], None, ["same"], None),
        (["a"], "t", ["a"], "renamed"),
        (["out"], None, None, None),
        (["new"], None, ["new"], None),
    )
    assert told(compare(Side(held, before), Side(held, after), CATALOGS, unread=False)) == [
        ("namespace", "moved", ["a__b"], None, 'target ["a__b"] → ["a","b"]'),
        ("namespace", "moved", ["out"], None, 'target ["out"] → none'),
        ("table", "moved", ["a"], "t", 'target ["a"] "t" → ["a"] "renamed"'),
    ]


def test_findings_are_new_gone_or_of_another_severity(spark: SparkSession) -> None:
    held = objects(spark, [])
    before = findings(
        spark,
        ("collision", "blocking", ["a"], "2 want it"),
        ("collision", "blocking", ["gone"], "it is wrong"),
        ("missing-parent", "warning", ["p"], "no parent"),
        ("property-conflict", "warning", ["q"], "of k"),
        ("property-conflict", "blocking", ["q"], "of l"),
    )
    after = findings(
        spark,
        ("collision", "blocking", ["a"], "3 want it"),
        ("collision", "blocking", ["new"], "it is wrong"),
        ("missing-parent", "blocking", ["p"], "no parent"),
        ("property-conflict", "blocking", ["q"], "of k"),
    )
    found = compare(Side(held, None, before), Side(held, None, after), CATALOGS, unread=False)
    assert told(found) == [
        ("finding", "changed", ["p"], None, "severity warning → blocking"),
        ("finding", "gone", ["gone"], None, "it is wrong"),
        ("finding", "new", ["new"], None, "it is wrong"),
    ]
    assert {row["rule"] for row in found.collect() if row["change"] == "new"} == {"collision"}


def test_without_a_check_on_both_sides_findings_and_targets_are_not_compared(spark: SparkSession) -> None:
    held, checked = objects(spark, [namespace("a")]), findings(spark, ("collision", "blocking", ["a"], "x"))
    mapped = targets(spark, (["a"], None, ["b"], None))
    assert told(compare(Side(held), Side(held, mapped, checked), CATALOGS)) == []
