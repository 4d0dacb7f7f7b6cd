"""The Delta workspace: what every run found, decided and did, by run."""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import unquote
from uuid import uuid4

from delta.tables import DeltaTable
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import ArrayType, DataType, MapType, StructField, StructType

from nestsync.errors import LeaseHeld
from nestsync.runfiles import RunFiles
from nestsync.schemas import TABLES
from nestsync.session import our_errors, spark_path

_BY_SOURCE = frozenset({"namespaces", "tables"})
_LISTED = ("source", "role", "levels", "status", "error")
"""What a listing says of a namespace: `runfiles.RunFiles.listed_namespaces` reads it."""


class Workspace(RunFiles):
    """A folder of Delta tables (`schemas.TABLES`) beside the files of `RunFiles`.

    Rows of one run, or of one source of a run, are replaced as a partition, so that a stage can be repeated
    and several sources can be inventoried at once by separate processes. Delta's own locking on a local file
    system reaches one JVM only: every commit therefore happens under an inter-process file lock.
    """

    def __init__(self, spark: SparkSession, root: Path) -> None:
        super().__init__(root)
        self.spark = spark
        self.root.mkdir(parents=True, exist_ok=True)

    def replace(self, table: str, frame: DataFrame, *, run_id: str, sources: Sequence[str] | None = None) -> None:
        """Replace the rows of `run_id` (where given: of `sources` alone) in `table` by `frame`.

        `frame` holds the table's columns but `run_id`. Persist it first when it is costly: the lock is held
        while it is computed.
        """
        condition = f"run_id = {_literal(run_id)}"
        if sources is not None and "source" in _partition_keys(table):
            condition += f" AND source IN ({', '.join(map(_literal, sources))})"
        with self.lock(table):
            if self._may_hold(table, run_id):
                self._write(table, frame, run_id, "overwrite", replaceWhere=condition)
            else:  # the usual case; looking for rows to replace takes Delta five times as long as adding some
                self._write(table, frame, run_id, "append")

    def append(self, table: str, frame: DataFrame, *, run_id: str) -> None:
        """Add the rows of `frame` to those that `table` holds of `run_id`."""
        with self.lock(table):
            self._write(table, frame, run_id, "append")

    def _write(self, table: str, frame: DataFrame, run_id: str, mode: str, **options: str) -> None:
        schema = as_stored(TABLES[table])
        rows = frame.withColumn("run_id", F.lit(run_id)).select(
            *(F.col(field.name).cast(field.dataType).alias(field.name) for field in schema)
        )
        with our_errors():
            writer = rows.write.format("delta").partitionBy(*_partition_keys(table)).mode(mode)
            # A table of an older version takes the columns that came since; its rows hold null there.
            writer.options(mergeSchema="true", **options).save(self._uri(table))

    def _may_hold(self, table: str, run_id: str) -> bool:
        """Whether a file of `run_id` was ever written to `table`: without its partition's folder, none was."""
        return any(unquote(folder.name) == f"run_id={run_id}" for folder in self._partitions(table))

    def _partitions(self, table: str) -> Iterator[Path]:
        return (self.root / "delta" / table).glob("run_id=*")

    def read(self, table: str, *, run_id: str) -> DataFrame:
        """The rows of `run_id` in `table`, without `run_id`; empty where nothing was written."""
        schema = as_stored(TABLES[table])
        if not self.holds(table):
            return self.spark.createDataFrame([], schema).drop("run_id")
        rows = self.spark.read.format("delta").load(self._uri(table)).where(F.col("run_id") == run_id)
        # Nothing was written since an older version, which did not know these.
        missing = {field.name: F.lit(None).cast(field.dataType) for field in schema if field.name not in rows.columns}
        return (rows.withColumns(missing) if missing else rows).drop("run_id")

    def forget(self, table: str, run_ids: Sequence[str]) -> None:
        """Remove the rows of `run_ids` from `table`, and their files with them.

        Tables are partitioned by run: a commit lets whole files go, and nobody who reads another run needs them. Delta
        would keep them for a week, and look for them in ten thousand tasks.
        """
        with self.lock(table):
            with our_errors():
                DeltaTable.forPath(self.spark, self._uri(table)).delete(F.col("run_id").isin(*run_ids))
            for folder in self._partitions(table):
                if unquote(folder.name).removeprefix("run_id=") in run_ids:
                    shutil.rmtree(folder, ignore_errors=True)

    def holds(self, table: str) -> bool:
        """Whether `table` was ever written."""
        return DeltaTable.isDeltaTable(self.spark, self._uri(table))

    def write_listing(self, objects: DataFrame, *, run_id: str) -> str:
        """Leave the namespaces of `objects` for whoever looks at names without Spark; the name of the new listing.

        One Spark job writes them as JSON lines, so that nothing comes to the driver. A listing is never changed:
        it counts from the moment that a summary names it, whatever other processes list meanwhile.
        """
        name = uuid4().hex[:12]
        rows = objects.where(F.col("object") == "namespace").select(*_LISTED)
        with our_errors():
            rows.write.json(spark_path(self.listing_folder(run_id, name)))
        return name

    @contextmanager
    def lease(self, run_id: str) -> Iterator[None]:
        """Hold the right to write to the target; raises `LeaseHeld` naming the run that holds it."""
        path = self.root / "locks" / "apply.lease"
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a+", encoding="utf-8") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                file.seek(0)
                raise LeaseHeld(
                    f"another run is applying: {file.read().strip() or 'unknown'}",
                    where=str(self.root),
                    hint="wait until it has ended",
                ) from error
            file.truncate(0)
            file.write(f"run {run_id}, process {os.getpid()}")
            file.flush()
            yield

    def _uri(self, table: str) -> str:
        return spark_path(self.root / "delta" / table)


def _partition_keys(table: str) -> tuple[str, ...]:
    return ("run_id", "source") if table in _BY_SOURCE else ("run_id",)


def _literal(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


def as_stored(schema: StructType) -> StructType:
    """`schema` with everything nullable: Delta cannot enforce nested constraints, and declares them all the same."""
    return StructType([StructField(f.name, _relaxed_type(f.dataType), True, f.metadata) for f in schema])


def _relaxed_type(kind: DataType) -> DataType:
    match kind:
        case ArrayType():
            return ArrayType(_relaxed_type(kind.elementType), True)
        case MapType():
            return MapType(kind.keyType, _relaxed_type(kind.valueType), True)
        case StructType():
            return as_stored(kind)
        case _:
            return kind
