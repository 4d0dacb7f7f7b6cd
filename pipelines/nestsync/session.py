"""The one Spark session: with Delta, with every room's data source, and with errors that come back as ours."""

from __future__ import annotations

import atexit
import os
import shutil
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import pyspark
from py4j.protocol import Py4JJavaError
from pyspark import SparkConf, SparkContext
from pyspark.errors import PySparkException, PySparkRuntimeError
from pyspark.java_gateway import launch_gateway
from pyspark.logger import PySparkLogger
from pyspark.sql import DataFrame, SparkSession

from nestsync.catalogs import register
from nestsync.core.errors import NestsyncError
from nestsync.errors import PrerequisiteMissing
from nestsync.gateway import mend
from nestsync.jars import SPARK_DELTA, fetch, java
from nestsync.signals import SUBMITTED

_DELTA = {
    "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
    "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
    # The workspace's tables are small and many: with the defaults (50 partitions a snapshot, statistics
    # for every column) a commit of ten rows takes half a minute.
    "spark.databricks.delta.snapshotPartitions": "2",
    "spark.databricks.delta.stats.collect": "false",
    # A checkpoint takes ten commits' time and more, and reading a hundred small commits hardly longer than ten.
    "spark.databricks.delta.properties.defaults.checkpointInterval": "100",
    "spark.sql.session.timeZone": "UTC",
    # A stage is one wide select: deriving null filters from it takes the optimizer longer than all its other rules.
    "spark.sql.constraintPropagation.enabled": "false",
    # A check is more classes than Spark remembers (100): the next one in this session would compile them all again.
    "spark.sql.codegen.cache.maxEntries": "1000",
    # Java never compiles a longer method, and one that is only interpreted is five times slower than no fusing at all.
    "spark.sql.codegen.hugeMethodLimit": "8000",
    # Where each column was written down is kept for error messages that nobody sees, and costs seconds a check.
    "spark.python.sql.dataFrameDebugging.enabled": "false",
}
_LOCAL = {
    # One of the two alone kills a session on a machine whose host name does not resolve to loopback.
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.shuffle.partitions": str(max(2, os.cpu_count() or 2)),
}
# Nobody waits for a pause in a batch to end: the check takes a fifth less time than with Java's own choice.
_JAVA_OPTIONS = {"spark.driver.extraJavaOptions": "-XX:+UseParallelGC"}
_SPARK_CHOSEN = ("SPARK_HOME", "SPARK_CONF_DIR")
_JAVA_CHOSEN = ("JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS", "SPARK_SUBMIT_OPTS")

SECONDS_UNTIL_TOLD = 5.0
"""A JVM that is ended stops answering this long, at most, before its end is seen (`signals.end_with_parent`)."""


def open_session(
    master: str | None = None, conf: Mapping[str, str] | None = None, *, log: Path | None = None
) -> SparkSession:
    """The running session, or a new one; either way with every ``nestsync.<system>`` format registered.

    `master` is Spark's own (``local[2]``); ``spark-submit`` has the last word, None without it is ``local[*]``.
    `conf` wins over what is set here. `log` takes what Spark's JVM and the Python workers write to standard error,
    which `spark-submit` has the say on. Raises `PrerequisiteMissing` where Java or the jars cannot be had.
    """
    spark = SparkSession.getActiveSession()
    if spark is None:
        # An error of ours is told once, in a sentence; this logger would print the JVM's stack trace beside it.
        PySparkLogger.getLogger("DataFrameQueryContextLogger").disabled = True
        spark = _new_session(master, conf or {}, log)
    register(spark)
    return spark


def _new_session(master: str | None, conf: Mapping[str, str], log: Path | None) -> SparkSession:
    submitted = _submitted_master()
    where = submitted or master or "local[*]"
    settings: dict[str, Any] = dict(_DELTA)
    if where.startswith("local"):
        settings |= _LOCAL
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
        if submitted is None:  # else the workers may have the package as a zip, which a daemon starts without
            settings["spark.python.daemon.module"] = "nestsync.daemon"
            settings |= _java_options()
    jars = tuple(map(str, fetch(SPARK_DELTA)))
    if submitted is not None:
        jars = _join_running_driver(jars)
    settings["spark.jars"] = ",".join(jars)
    settings.update({"spark.app.name": "nestsync", "spark.master": where}, **conf)
    if submitted is None and SparkContext._gateway is None:
        with _unpacked_home():
            _start_jvm(settings, log)
    with _ctrl_c_as_it_was():
        spark = SparkSession.builder.config(map=settings).getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    gateway: Any = SparkContext._gateway
    mend(gateway._gateway_client)
    return spark


def _java_options() -> dict[str, str]:
    """`_JAVA_OPTIONS`, unless somebody chose their own: Java does not start with two collectors."""
    collector_chosen = any("GC" in os.environ.get(name, "") for name in _JAVA_CHOSEN)
    spark_chosen = any(name in os.environ for name in _SPARK_CHOSEN)  # its spark-defaults.conf may have options
    return {} if collector_chosen or spark_chosen else _JAVA_OPTIONS


@contextmanager
def _ctrl_c_as_it_was() -> Iterator[None]:
    """Keep how Ctrl-C is answered: PySpark's own answer asks the JVM something in the middle of another question."""
    answer = signal.getsignal(signal.SIGINT)
    yield
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, answer)


def _start_jvm(settings: Mapping[str, str], log: Path | None) -> None:
    """Start Spark's JVM, with `log` for its standard error and for its Python workers'.

    Raises `PrerequisiteMissing` where it does not start.
    """
    conf = SparkConf(loadDefaults=False).setAll(list(settings.items()))
    with ExitStack() as stack:
        streams = {}
        if log is not None:
            log.parent.mkdir(parents=True, exist_ok=True)
            streams = {"stderr": stack.enter_context(log.open("ab"))}
        try:
            gateway = launch_gateway(conf, streams)  # type: ignore[no-untyped-call]
        except PySparkRuntimeError as error:
            java()  # where that is why, it says so, and how to install one
            raise PrerequisiteMissing(
                "Spark's JVM does not start", where=str(log or "pyspark"), hint="the log says why"
            ) from error
    SparkContext._ensure_initialized(gateway=gateway)


@contextmanager
def _unpacked_home() -> Iterator[None]:
    """Let Spark's Python workers use the pyspark that is installed, for a JVM that starts in this block.

    A Spark home holds the same package as a zip, which is put first: every kind of worker compiles it anew when it
    starts, and reads the zip's index again, half a second long, before each of its tasks. So the JVM's home is one
    of links to everything else, unless somebody chose a home.
    """
    if "SPARK_HOME" in os.environ:
        yield
        return
    home = Path(tempfile.mkdtemp(prefix="nestsync-spark-"))
    atexit.register(shutil.rmtree, home, ignore_errors=True)  # the JVM opens jars as it needs them
    for part in Path(pyspark.__file__).parent.iterdir():
        if part.is_dir() and part.name != "python":
            (home / part.name).symlink_to(part)
    os.environ["SPARK_HOME"] = str(home)
    try:
        yield
    finally:
        del os.environ["SPARK_HOME"]


def _submitted_master() -> str | None:
    """The master that ``spark-submit`` was given, where this process runs under it."""
    if SUBMITTED not in os.environ:
        return None
    SparkContext._ensure_initialized()
    found: str | None = SparkContext._jvm.java.lang.System.getProperty("spark.master")  # type: ignore[union-attr]
    return found


def _join_running_driver(jars: Sequence[str]) -> tuple[str, ...]:
    """What ``spark.jars`` must be under ``spark-submit``, after the driver's class loader was given `jars`.

    The driver's JVM is older than this code there, so that ``spark.jars`` alone reaches the executors only. The
    class loader that ``spark-submit`` runs the application with takes further jars, and its threads all share it.
    Jars that came with ``--jars`` or ``--packages`` stay, and win where they bring Delta themselves.
    """
    java: Any = SparkContext._jvm.java  # type: ignore[union-attr]
    loader = java.lang.Thread.currentThread().getContextClassLoader()
    submitted = tuple(filter(None, (java.lang.System.getProperty("spark.jars") or "").split(",")))
    if loader.getResource("io/delta/sql/DeltaSparkSessionExtension.class") is not None:
        return submitted
    for jar in jars:
        loader.addURL(java.io.File(jar).toURI().toURL())
    return (*submitted, *jars)


@contextmanager
def our_errors() -> Iterator[None]:
    """Turn what Spark raises around one of our errors back into that error.

    Spark carries an exception from a Python worker as text inside its own; `NestsyncError.from_text` finds it.
    """
    try:
        yield
    except (PySparkException, Py4JJavaError) as error:
        ours = NestsyncError.from_text(str(error))
        if ours is None:
            raise
        raise ours from error


@contextmanager
def answering(spark: SparkSession) -> Iterator[None]:
    """Leave Spark free to answer after the block, and where it is gone, let the signal that ended it come first.

    What a signal broke off goes on in the JVM, and would hold up who tidies up. A ``spark-submit`` that is ended
    takes its JVM along before its driver is told.
    """
    try:
        yield
    except Exception as error:
        signalled = _signal_behind(error)
        if signalled is not None:
            _give_up(spark)
            raise signalled from None
        if SUBMITTED in os.environ and _is_gone(spark):
            time.sleep(SECONDS_UNTIL_TOLD)  # `signals.end_with_parent` cuts it short
        raise
    except BaseException:
        _give_up(spark)
        raise


def _signal_behind(error: BaseException) -> BaseException | None:
    """What a signal raised, where pyspark's own tidying up after it failed, and raised that in its place."""
    behind = error.__context__
    while behind is not None and not isinstance(behind, (KeyboardInterrupt, SystemExit)):
        behind = behind.__context__
    return behind


def _give_up(spark: SparkSession) -> None:
    with suppress(Exception):  # it may be gone, too
        spark.sparkContext.cancelAllJobs()


def _is_gone(spark: SparkSession) -> bool:
    try:
        running: Any = spark.sparkContext._jsc
        return bool(running.sc().isStopped())
    except Exception:  # whatever it is that says so
        return True


def cut_off(frame: DataFrame) -> tuple[DataFrame, Callable[[], object]]:
    """The rows of `frame`, kept and cut off from how they were made, and what gives them back when they are done with.

    A plan would otherwise hold those of everything before it, and Spark takes longer to think about it than to run it.
    A cluster can lose an executor, and what is kept there is made again from the rows that it came from.
    """
    # `local-cluster[...]` has executors to lose
    if (frame.sparkSession.sparkContext.master or "").partition("[")[0] == "local":
        kept: Any = frame.localCheckpoint()
        # `DataFrame.unpersist` knows nothing of a checkpoint: the rows would stay until Java looks for garbage.
        return kept, lambda: kept._jdf.queryExecution().logical().rdd().unpersist(False)
    persisted = frame.persist()
    return without_history(persisted), persisted.unpersist


@contextmanager
def planned_once(spark: SparkSession) -> Iterator[None]:
    """Let queries be planned before they run, and not again at each shuffle, until the end of the block.

    For many small questions: each would be a job of its own at every shuffle.
    """
    key = "spark.sql.adaptive.enabled"
    before = spark.conf.get(key)
    spark.conf.set(key, "false")
    try:
        yield
    finally:
        spark.conf.set(key, str(before))


def without_history(frame: DataFrame) -> DataFrame:
    """The rows of `frame`, which is persisted, as a frame that plans know nothing more of.

    Unlike one that is checkpointed locally, what an executor loses is computed again.
    """
    spark: Any = frame.sparkSession
    jvm: Any = frame
    rows = spark._jsparkSession.createDataFrame(jvm._jdf.toJavaRDD(), jvm._jdf.schema())
    return DataFrame(rows, spark)


def spark_path(path: Path) -> str:
    """`path` as Spark takes it whatever characters are in it and whatever its default file system is.

    Not as a URI: Hadoop takes every character after the scheme as it is, and would make a folder ``a%20b`` of it.
    """
    return f"file:{path.resolve()}"
