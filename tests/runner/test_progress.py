"""What is told of long work: parts that are done, and objects where objects are read."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext

import pytest
from pyspark.sql import SparkSession

from nestsync.runner import progress
from nestsync.runner.progress import reading, watched
from nestsync.ui import QuietUi

pytestmark = pytest.mark.spark
PARTS, ROWS = 8, 80


class Told(QuietUi):
    """Remembers what it was told."""

    def __init__(self) -> None:
        self.seen: list[tuple[int, int | None, str]] = []

    def progress(self, done: int, total: int | None, label: str = "") -> None:
        self.seen.append((done, total, label))


@pytest.mark.parametrize(
    ("doing", "said"),
    [
        pytest.param(reading, "parts done, {objects} objects so far, reading lake", id="objects-of-catalogs"),
        pytest.param(lambda spark: nullcontext(), "parts done, reading lake", id="rows-of-anything-else"),
    ],
)
def test_what_is_told_names_the_work_and_how_far_it_is(
    spark: SparkSession, doing: Callable[[SparkSession], AbstractContextManager[None]], said: str
) -> None:
    ui = Told()
    slow = spark.range(0, ROWS, 1, PARTS).selectExpr("reflect('java.lang.Thread', 'sleep', 50L) IS NULL AS slept")
    with watched(spark, ui, "reading lake"), doing(spark):
        slow.collect()
    told = [(done, label) for done, total, label in ui.seen if total == PARTS and 0 < done < PARTS]
    assert told
    for done, label in told:
        # Both are asked of Spark one after the other: another part may have come to its end between.
        assert label in {said.format(objects=ROWS // PARTS * parts) for parts in range(done, PARTS + 1)}


def test_what_is_worked_on_is_told_while_no_part_runs(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "SECONDS_UNTIL_WAITING", 0.5)
    ui = Told()
    with watched(spark, ui, "reading lake"):
        time.sleep(1.5)
    assert set(ui.seen) == {(0, None, "reading lake")}


def test_nothing_is_an_object_once_the_reading_is_over(spark: SparkSession) -> None:
    with reading(spark):
        pass
    assert spark.sparkContext.getLocalProperty("spark.job.description") is None
