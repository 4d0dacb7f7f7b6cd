"""The Spark session: what it keeps, and how it answers once a signal broke off what was asked of it."""

from __future__ import annotations

import logging
import os
import re
import signal
import subprocess
import sys
import threading
import time
from types import SimpleNamespace
from typing import Any, NoReturn

import pytest
from pyspark.sql import SparkSession

from nestsync.session import answering, cut_off
from nestsync.signals import SUBMITTED

pytestmark = pytest.mark.spark


COLLECTORS = """
from nestsync.session import open_session
java = open_session("local[1]")._jvm.java
print(*(each.getName() for each in java.lang.management.ManagementFactory.getGarbageCollectorMXBeans()), sep=",")
"""
CHOOSES = re.compile(r"^SPARK_|JAVA\w*_OPTIONS$")
"""The variables in which whoever runs these tests may have chosen a Spark, or what Java is told."""


@pytest.mark.parametrize(
    ("environment", "collectors"),
    [
        ({}, {"PS MarkSweep", "PS Scavenge"}),
        ({"JAVA_TOOL_OPTIONS": "-XX:+UseSerialGC"}, {"Copy", "MarkSweepCompact"}),
    ],
    ids=["ours", "one that somebody chose"],
)
def test_java_collects_garbage_for_throughput_unless_told_otherwise(
    environment: dict[str, str], collectors: set[str]
) -> None:
    nothing_chosen = {name: text for name, text in os.environ.items() if not CHOOSES.search(name)}
    chosen = nothing_chosen | environment
    done = subprocess.run([sys.executable, "-c", COLLECTORS], env=chosen, capture_output=True, text=True, check=True)
    assert set(done.stdout.splitlines()[-1].split(",")) == collectors


def terminated(number: int, _frame: object) -> NoReturn:
    raise SystemExit(128 + number)


def sleep(_row: int) -> None:
    time.sleep(60)


@pytest.mark.parametrize(("number", "raised"), [(signal.SIGINT, KeyboardInterrupt), (signal.SIGTERM, SystemExit)])
def test_spark_answers_after_a_signal_broke_off_what_it_was_asked(
    spark: SparkSession, caplog: pytest.LogCaptureFixture, number: int, raised: type[BaseException]
) -> None:
    context, ended = spark.sparkContext, threading.Event()

    def send() -> None:
        while not context.statusTracker().getActiveJobsIds():
            time.sleep(0.05)
        time.sleep(0.5)
        while not ended.is_set():
            os.kill(os.getpid(), number)
            ended.wait(10)  # and again, as a person does: what is raised while Python finalizes an object is dropped

    answers = {signal.SIGTERM: terminated, signal.SIGINT: signal.default_int_handler}
    # What a shell starts in the background ignores SIGINT, and so would these tests there.
    before = {each: signal.signal(each, answer) for each, answer in answers.items()}
    threading.Thread(target=send, daemon=True).start()
    try:
        with pytest.raises(raised), answering(spark):
            context.parallelize(range(2), 2).map(sleep).count()  # every task that runs at once
    finally:
        ended.set()
        for each, answer in before.items():
            signal.signal(each, answer)
    began = time.monotonic()
    assert [row["id"] for row in spark.range(3).collect()] == [0, 1, 2]
    assert time.monotonic() - began < 30
    assert [record.message for record in caplog.records if record.levelno >= logging.ERROR] == []


@pytest.mark.parametrize("submitted", [True, False])
def test_the_end_of_a_spark_submit_is_told_before_what_fails_of_it(
    submitted: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No real one: its JVM answers or not as the machine is quick."""
    gone: Any = SimpleNamespace(sparkContext=SimpleNamespace(_jsc=None))
    if submitted:
        monkeypatch.setenv(SUBMITTED, "1")
    monkeypatch.setattr("nestsync.session.time.sleep", lambda _seconds: terminated(signal.SIGTERM, None))
    with pytest.raises(SystemExit if submitted else ConnectionError), answering(gone):
        raise ConnectionError("refused")


def test_what_fails_while_spark_answers_is_not_held_up(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(SUBMITTED, "1")
    monkeypatch.setattr("nestsync.session.time.sleep", lambda _seconds: terminated(signal.SIGTERM, None))
    with pytest.raises(ValueError, match="of ours"), answering(spark):
        raise ValueError("a fault of ours")


def test_what_tidying_up_after_a_signal_raises_does_not_hide_it(spark: SparkSession) -> None:
    def broken_off() -> None:
        try:
            raise KeyboardInterrupt
        finally:
            raise ConnectionError("the connection was given up")

    with pytest.raises(KeyboardInterrupt), answering(spark):
        broken_off()


def test_what_is_kept_is_given_back(spark: SparkSession) -> None:
    def kept() -> set[int]:
        jvm: Any = spark.sparkContext._jsc
        return {stored.id() for stored in jvm.sc().getRDDStorageInfo()}

    before = kept()
    rows, give_back = cut_off(spark.range(10))
    of_rows = kept() - before
    assert rows.count() == 10
    assert len(of_rows) == 1
    give_back()
    assert not of_rows & kept()
