"""How far Spark is, told to whoever waits."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from py4j.protocol import Py4JError
from pyspark.sql import SparkSession

from nestsync.ui import Ui

SECONDS_BETWEEN_LOOKS = 0.25


@contextmanager
def watched(spark: SparkSession, ui: Ui, label: str) -> Iterator[None]:
    """Tell `ui` how many of the running tasks are done, as long as the block lasts."""
    stopped = threading.Event()
    watcher = threading.Thread(target=_watch, args=(spark, ui, label, stopped), daemon=True, name="progress")
    watcher.start()
    try:
        yield
    finally:
        stopped.set()
        watcher.join()


def _watch(spark: SparkSession, ui: Ui, label: str, stopped: threading.Event) -> None:
    with suppress(Py4JError, OSError):  # of a Spark that is gone: who waits for it hears that otherwise
        _tell(spark, ui, label, stopped)


def _tell(spark: SparkSession, ui: Ui, label: str, stopped: threading.Event) -> None:
    tracker = spark.sparkContext.statusTracker()
    while not stopped.wait(SECONDS_BETWEEN_LOOKS):
        stages = [tracker.getStageInfo(stage) for stage in tracker.getActiveStageIds()]
        running = [stage for stage in stages if stage is not None]
        if running:
            done = sum(stage.numCompletedTasks for stage in running)
            ui.progress(done, sum(stage.numTasks for stage in running), f"parts done, {label}")
