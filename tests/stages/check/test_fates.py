"""The matrix of a run in Spark: the core's counts, and examples that are what they are said to be."""

from __future__ import annotations

from collections import Counter

import pytest
from pyspark.sql import SparkSession

from nestsync.core.checking import CheckContext, DialectUse, Subject, Target
from nestsync.core.checking.fates import Ending, FateRow, at_hop, ending
from nestsync.core.checking.fates import fates as fates_core
from nestsync.core.checking.rules import place
from nestsync.core.mapping import Mapping, MappingRule
from nestsync.core.matrix import Fate
from nestsync.stages.check import check
from nestsync.stages.check.fates import fates
from tests.core.hostile import HOSTILE
from tests.stages.check.frames import objects

pytestmark = pytest.mark.spark

RULES = Mapping(rules=(MappingRule("hms", include=(("hive", "*"),), drop=1, split="__"),))
EVERY = ("spark", "flink", "trino", "hive", "lance", "lance-hive", "jdbc", "gravitino", "gravitino-shipped")
CONTEXT = CheckContext(
    mapping=RULES,
    target=Target("lake", "iceberg_rest", DialectUse("iceberg-rest", "."), "iceberg-rest"),
    separator=":",
    engines=(*EVERY, "gravitino-physical", "iceberg-rest-query"),
    paths=("spark > gravitino > gravitino-physical > iceberg-rest > trino", "gravitino-shipped > flink > hive"),
    sources={"hms": DialectUse("hive"), "rest": DialectUse("iceberg-rest"), "other": DialectUse("iceberg-rest")},
)


def _subject(source: str, *levels: str, object_: str = "namespace", status: str = "ok") -> Subject:
    name = None if object_ == "namespace" else "t"
    return Subject(source=source, object=object_, levels=levels, name=name, status=status)


SUBJECTS = [
    *(_subject("rest", "top", name) for name in HOSTILE),
    *(_subject("other", name) for name in HOSTILE),
    *(_subject("hms", "hive", f"sales__{number}") for number in range(5)),
    _subject("hms", "spark", "left_out"),
    _subject("rest", "top", "t", object_="table"),
    _subject("rest", "gone", status="unreadable"),
    _subject("rest", "empty", status="empty"),
    _subject("rest"),
    _subject("rest", "a", "b", "c", "d"),
]


def _counts(rows: list[FateRow]) -> Counter[object]:
    return Counter({(row.source, row.way, row.ending): row.count for row in rows})


def test_spark_counts_what_the_core_counts(spark: SparkSession) -> None:
    rows = fates(check(objects(spark, SUBJECTS), CONTEXT).mapped, CONTEXT)
    assert _counts(rows) == fates_core((place(subject, CONTEXT) for subject in SUBJECTS), CONTEXT)
    assert {row.way.name for row in rows} >= {
        *EVERY,
        "iceberg-rest",
        "spark > gravitino > gravitino-physical > iceberg-rest > trino",
    }
    for row in rows:
        if row.ending.fate is Fate.LOSSLESS:
            assert row.example is None
        else:
            assert row.example is not None
            levels, became = row.example
            placed = place(next(s for s in SUBJECTS if (s.source, s.levels) == (row.source, levels)), CONTEXT)
            assert placed.moved is not None
            taken = placed.moved.levels if row.way.sources is None else levels
            assert ending(row.way, taken) == row.ending
            assert became == at_hop(row.way.hops[row.ending.hop], taken)
            assert became.fate is row.ending.fate


LOSSES = [
    pytest.param(("a.b",), "jdbc", Fate.LOSSY, ("a", "b"), 0, id="a dot in dotted storage"),
    pytest.param(("x", "a.b"), "trino", Fate.LOSSY, ("x", "a", "b"), 1, id="a dot below"),
    pytest.param(("Sales",), "trino", Fate.LOSSY, ("sales",), 0, id="upper case"),
    pytest.param(("a", ""), "gravitino", Fate.REFUSED, None, None, id="an empty level"),
]


@pytest.mark.parametrize(("levels", "engine", "fate", "back", "difference"), LOSSES)
def test_the_example_says_what_comes_back_and_where_it_differs(
    spark: SparkSession,
    levels: tuple[str, ...],
    engine: str,
    fate: Fate,
    back: tuple[str, ...] | None,
    difference: int | None,
) -> None:
    context = CheckContext(engines=(engine,), paths=())
    subjects = [_subject("rest", *levels), _subject("rest", "fine")]
    rows = fates(check(objects(spark, subjects), context).mapped, context)
    assert [(row.ending, row.count) for row in rows if row.example is None] == [(Ending(0, Fate.LOSSLESS), 1)]
    (lost,) = (row for row in rows if row.example is not None)
    assert (lost.source, lost.way.name, lost.ending, lost.count) == ("rest", engine, Ending(0, fate), 1)
    assert lost.example is not None
    of, became = lost.example
    assert (of, became.read_back, became.first_difference) == (levels, back, difference)


def test_a_path_ends_at_the_first_hop_that_loses(spark: SparkSession) -> None:
    context = CheckContext(paths=("spark > gravitino-physical > jdbc > trino",))
    subjects = [_subject("rest", "A.b"), _subject("rest", "fine")]
    rows = fates(check(objects(spark, subjects), context).mapped, context)
    assert [(row.way.hops[row.ending.hop].dialect.name, row.ending.fate, row.count) for row in rows] == [
        ("jdbc", Fate.LOSSY, 1),
        ("trino", Fate.LOSSLESS, 1),
    ]
