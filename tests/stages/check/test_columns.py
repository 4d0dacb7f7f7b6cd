"""Every native dialect refuses, writes and reads exactly as the dialect of the core does."""

from __future__ import annotations

from functools import partial
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from pyspark.sql import Column, SparkSession
from pyspark.sql import functions as F

from nestsync.core.casing import lower
from nestsync.core.dialects import DIALECTS, Dialect, NameRefused, dialect
from nestsync.stages.check.columns import NATIVES, native
from nestsync.stages.check.native import Case, let
from tests.core.hostile import levels as any_levels
from tests.core.hostile import names as any_names

pytestmark = pytest.mark.spark

DIALECT_CASES = [
    *(dialect(name) for name in DIALECTS),
    dialect("iceberg-rest", separator="."),
    dialect("iceberg-rest", separator="é"),
    dialect("iceberg-rest", separator="::"),
    dialect("iceberg-rest-query", separator="."),
    dialect("gravitino", separator=";"),
    dialect("gravitino-shipped", separator="__"),
    dialect("lance", separator="."),
    dialect("lance", separator="aba"),
]


def _first_reason(cases: list[Case]) -> Column:
    found = F.lit(None).cast("struct<rule:string,reason:string,level:string>")
    for case in reversed(cases):
        level = F.lit(None).cast("string") if case.level is None else case.level
        found = F.when(case.condition, let(level, partial(_reason, case))).otherwise(found)
    return found


def _reason(case: Case, level: Column) -> Column:
    *others, last = [
        (
            reason.holds,
            F.struct(
                F.lit(reason.refusal.rule).alias("rule"),
                F.lit(reason.refusal.reason).alias("reason"),
                level.alias("level"),
            ),
        )
        for reason in case.reasons
    ]
    found = last[1]
    for holds, one in reversed(others):
        assert holds is not None
        found = F.when(holds(level), one).otherwise(found)
    return found


def _read(own: Dialect, levels: tuple[str, ...]) -> list[str] | None:
    try:
        return list(own.read(own.render(levels)))
    except NameRefused:
        return None


def _rendered_table(own: Dialect, levels: tuple[str, ...], name: str) -> str | None:
    try:
        return own.render_table(levels, name)
    except NameRefused:
        return None


def _expected(own: Dialect, levels: tuple[str, ...], name: str) -> dict[str, Any]:
    of_levels, of_table = own.refusal(levels), own.table_refusal(levels, name)
    return {
        "refusal": None if of_levels is None else (of_levels.rule, of_levels.reason, of_levels.level),
        "table": None if of_table is None or of_levels is not None else (of_table.rule, of_table.reason),
        "text": own.render(levels),
        "back": _read(own, levels),
        "table_text": _rendered_table(own, levels, name),
    }


@pytest.mark.proves("round-trip-loss")
@settings(
    max_examples=3,
    deadline=None,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(st.lists(st.tuples(any_levels, any_names), min_size=100, max_size=100))
def test_spark_and_core_agree_on_every_dialect(spark: SparkSession, batch: list[tuple[tuple[str, ...], str]]) -> None:
    frame = spark.createDataFrame(
        [(i, list(levels), name) for i, (levels, name) in enumerate(batch)], "i int, levels array<string>, name string"
    ).cache()
    levels, name = F.col("levels"), F.col("name")
    for own in DIALECT_CASES:
        columns = native(own)
        rows = frame.select(
            "i",
            _first_reason(list(columns.cases(levels))).alias("refusal"),
            _first_reason(list(columns.name_cases(levels, name))).alias("table"),
            columns.render(levels).alias("text"),
            columns.read_back(levels).alias("back"),
            columns.render_table(levels, name).alias("table_text"),
        ).collect()
        for row in rows:
            expected = _expected(own, *batch[row["i"]])
            refusal = row["refusal"] and (row["refusal"]["rule"], row["refusal"]["reason"], row["refusal"]["level"])
            table = row["table"] and (row["table"]["rule"], row["table"]["reason"])
            seen = {
                "refusal": refusal,
                "table": None if refusal is not None else table,
                "text": row["text"],
                "back": row["back"],
                "table_text": row["table_text"] if expected["table_text"] is not None else None,
            }
            assert seen == expected, (own, batch[row["i"]])


def test_every_dialect_has_a_native_form() -> None:
    assert set(NATIVES) == set(DIALECTS)


def test_spark_lowers_as_the_core_does(spark: SparkSession) -> None:
    """Each character of the first two planes, by itself and where it decides which sigma ends a word."""
    characters = [chr(code) for code in range(0x20000) if not 0xD800 <= code <= 0xDFFF]
    forms = ("{}", "aΣ{}", "aΣ{}b", "a{}Σ")
    texts = {f"t{i}": [form.format(character) for character in characters] for i, form in enumerate(forms)}
    frame = spark.createDataFrame(pa.table(texts))
    for row in frame.select(*texts, *(F.lower(name).alias(f"{name}_lower") for name in texts)).collect():
        assert [row[f"{name}_lower"] for name in texts] == [lower(row[name]) for name in texts]
