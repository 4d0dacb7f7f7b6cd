"""The shared column expressions say what `core` says, for every name that UTF-8 can carry."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from nestsync.core.hierarchy import scopes
from nestsync.core.identifiers import json_text, quoted, shown
from nestsync.stages import columns
from tests.core.hostile import levels as any_levels

pytestmark = pytest.mark.spark

batches = settings(
    max_examples=3,
    deadline=None,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow, HealthCheck.data_too_large],
)


@batches
@given(st.lists(any_levels, min_size=30, max_size=60))
def test_spark_and_core_write_levels_alike(spark: SparkSession, batch: list[tuple[str, ...]]) -> None:
    frame = spark.createDataFrame([(i, list(levels)) for i, levels in enumerate(batch)], "i int, levels array<string>")
    level = F.coalesce(F.get("levels", F.lit(0)), F.lit(""))
    rows = frame.select(
        "i",
        columns.shown(F.col("levels")).alias("shown"),
        F.to_json("levels").alias("json"),
        columns.quoted(level).alias("quoted"),
        F.coalesce(columns.scopes(F.col("levels")), F.array().cast("array<array<string>>")).alias("scopes"),
    ).collect()
    for row in rows:
        levels = batch[row["i"]]
        assert row["shown"] == shown(levels)
        assert row["json"] == json_text(levels)
        assert row["quoted"] == quoted((*levels, "")[0])
        assert [tuple(scope) for scope in row["scopes"]] == scopes(levels)[::-1]


def test_every_character_of_the_basic_plane_and_an_emoji_is_written_alike(spark: SparkSession) -> None:
    points = [*range(0xD800), *range(0xE000, 0x10000), 0x1F600, 0x10FFFF]
    table = pa.table({"p": points, "levels": [[chr(p)] for p in points]})
    frame = spark.createDataFrame(table)
    wrong = [
        hex(row["p"])
        for row in frame.select("p", columns.shown(F.col("levels")).alias("text")).collect()
        if row["text"] != shown((chr(row["p"]),))
    ]
    assert wrong == []
