"""Java compiles what Spark makes of the check: a longer method would be interpreted, or fused no more."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from pyspark.sql import DataFrame, SparkSession

from nestsync.core.checking import CheckContext, DialectUse
from nestsync.core.mapping import Mapping, MappingRule
from nestsync.stages.check import check, map_sources
from tests.core.check_cases import context, namespace, table, there
from tests.stages.check.frames import objects

pytestmark = pytest.mark.spark

MIGRATION: CheckContext = context(
    capabilities="lakekeeper",
    separator=":",
    engines=("spark", "trino", "gravitino"),
    sources={"hms": DialectUse("hive"), "rest": DialectUse("iceberg-rest")},
    mapping=Mapping(
        rules=(
            MappingRule("hms", include=(("hive", "*"),), exclude=(("hive", "tmp*"),), drop=1, split="__"),
            MappingRule("rest", prefix=("shared",), flatten="_", depth=2),
        )
    ),
)
SUBJECTS = [
    namespace("hms", "hive", "a__b"),
    namespace("hms", "hive", "Sales"),
    namespace("rest", "sales"),
    namespace("rest", "e\u0301:"),
    table("hms", "t", "hive", "a__b"),
    table("rest", "t", "a", "b", "c"),
    there("shared", "SALES"),
]


SETTINGS = {
    # The tests have few rows, and do without code.
    "spark.sql.codegen.wholeStage": "true",
    "spark.sql.codegen.factoryMode": "FALLBACK",
    # What Spark plans as it goes has no code before it ran.
    "spark.sql.adaptive.enabled": "false",
}


@pytest.fixture
def compiling(spark: SparkSession) -> Iterator[None]:
    """Spark as it is with many rows, but for planning as it goes."""
    before = {name: spark.conf.get(name) for name in SETTINGS}
    for name, value in SETTINGS.items():
        spark.conf.set(name, value)
    yield
    for name, value in before.items():
        spark.conf.set(name, str(value))


@pytest.mark.usefixtures("compiling")
def test_no_piece_of_the_check_is_longer_than_java_compiles(spark: SparkSession) -> None:
    lengths: dict[str, list[int]] = {}
    explained = spark._jvm.org.apache.spark.sql.execution.ExplainMode.fromString("codegen")  # type: ignore[union-attr]

    def keep(name: str, frame: DataFrame) -> DataFrame:
        code = frame._jdf.queryExecution().explainString(explained)
        lengths[name] = [int(length) for length in re.findall(r"maxMethodCodeSize:(-?\d+)", code)]
        return frame.localCheckpoint()

    inventory = objects(spark, SUBJECTS).localCheckpoint()  # what is listed in the plan itself is worked out there
    mapped = keep("mapped", map_sources(inventory, MIGRATION))
    keep("findings", check(inventory, MIGRATION, mapped, keep=keep).findings)
    longest = {name: max(found) for name, found in lengths.items()}
    assert {"mapped", "by-itself", "crowded", "collisions", "findings"} <= set(longest)
    limit = int(str(spark.conf.get("spark.sql.codegen.hugeMethodLimit")))
    assert limit == 8000
    assert {name: length for name, length in longest.items() if not 0 < length <= limit} == {}
