"""How far Spark is, told to whoever waits."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from py4j.protocol import Py4JError, Py4JJavaError
from pyspark.sql import SparkSession

from nestsync.ui import Ui

SECONDS_BETWEEN_LOOKS = 0.25
SECONDS_UNTIL_WAITING = 2.0
"""So long after the last part, what is worked on is told without one: Spark plans, or a catalog is asked for lists."""
_READS = "nestsync reads objects of catalogs"
"""The description of Spark jobs whose rows are objects; those of any other job are whatever Spark makes of them."""


@contextmanager
def watched(spark: SparkSession, ui: Ui, label: str) -> Iterator[None]:
    """Tell `ui` how many of the running tasks are done, and how much those in `reading` read, until the block ends.

    Where no task runs, as while the driver lists what there is to read, `label` alone is told.
    """
    stopped = threading.Event()
    watcher = threading.Thread(target=_watch, args=(spark, ui, label, stopped), daemon=True, name="progress")
    watcher.start()
    try:
        yield
    finally:
        stopped.set()
        watcher.join()


@contextmanager
def reading(spark: SparkSession) -> Iterator[None]:
    """Within the block, what Spark reads on behalf of this thread are objects of catalogs, which `watched` counts."""
    spark.sparkContext.setJobDescription(_READS)
    try:
        yield
    finally:
        with suppress(Py4JError, OSError):  # of a Spark that is gone
            spark.sparkContext.setJobDescription(None)  # type: ignore[arg-type]  # the JVM's own way to forget it


def _watch(spark: SparkSession, ui: Ui, label: str, stopped: threading.Event) -> None:
    with suppress(Py4JError, OSError):  # of a Spark that is gone: who waits for it hears that otherwise
        _tell(spark, ui, label, stopped)


def _tell(spark: SparkSession, ui: Ui, label: str, stopped: threading.Event) -> None:
    tracker = spark.sparkContext.statusTracker()
    store = spark.sparkContext._jsc.sc().statusStore()
    last_part = time.monotonic()
    while not stopped.wait(SECONDS_BETWEEN_LOOKS):
        stages = [tracker.getStageInfo(stage) for stage in tracker.getActiveStageIds()]
        running = [stage for stage in stages if stage is not None]
        if running:
            last_part = time.monotonic()
            done, total = sum(stage.numCompletedTasks for stage in running), sum(stage.numTasks for stage in running)
            objects = sum(_objects(store, stage.stageId) for stage in running)
            read = f", {objects:,} objects so far" if objects else ""
            ui.progress(done, total, f"parts done{read}, {label}")
        elif time.monotonic() - last_part > SECONDS_UNTIL_WAITING:
            ui.progress(0, None, label)


def _objects(store: Any, stage: int) -> int:
    """How many objects of catalogs `stage` has read, in the tasks that are done and, now and then, in others."""
    try:
        data = store.lastStageAttempt(stage)
    except Py4JJavaError:  # it ended just now, and Spark forgot it
        return 0
    said = data.description()
    return int(data.inputRecords()) if said.isDefined() and said.get() == _READS else 0


__all__ = ["reading", "watched"]
