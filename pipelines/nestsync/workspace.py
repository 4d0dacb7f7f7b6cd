"""The Delta workspace: what every run found, decided and did, by run."""

from __future__ import annotations

import fcntl
import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from delta.tables import DeltaTable
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import ArrayType, DataType, MapType, StructField, StructType

from nestsync.errors import ConfigurationError, LeaseHeld, RunNotFound
from nestsync.schemas import TABLES
from nestsync.session import our_errors, path_uri

_BY_SOURCE = frozenset({"namespaces", "tables"})
_RUN_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:+-]{0,127}")


class Workspace:
    """A folder of Delta tables (`schemas.TABLES`), journals, plans and run summaries.

    Rows of one run, or of one source of a run, are replaced as a partition, so that a stage can be repeated
    and several sources can be inventoried at once by separate processes. Delta's own locking on a local file
    system reaches one JVM only: every commit therefore happens under an inter-process file lock.
    """

    def __init__(self, spark: SparkSession, root: Path) -> None:
        self.spark = spark
        self.root = root.resolve()
        self.root.mkdir(parents=True, exist_ok=True)

    def replace(self, table: str, frame: DataFrame, *, run_id: str, sources: Sequence[str] | None = None) -> None:
        """Replace the rows of `run_id` (where given: of `sources` alone) in `table` by `frame`.

        `frame` holds the table's columns but `run_id`. Persist it first when it is costly: the lock is held
        while it is computed.
        """
        condition = f"run_id = {_literal(run_id)}"
        if sources is not None and "source" in _partition_keys(table):
            condition += f" AND source IN ({', '.join(map(_literal, sources))})"
        with self._lock(table):
            if self._may_hold(table, run_id):
                self._write(table, frame, run_id, "overwrite", replaceWhere=condition)
            else:  # the usual case; looking for rows to replace takes Delta five times as long as adding some
                self._write(table, frame, run_id, "append")

    def append(self, table: str, frame: DataFrame, *, run_id: str) -> None:
        """Add the rows of `frame` to those that `table` holds of `run_id`."""
        with self._lock(table):
            self._write(table, frame, run_id, "append")

    def _write(self, table: str, frame: DataFrame, run_id: str, mode: str, **options: str) -> None:
        schema = as_stored(TABLES[table])
        rows = frame.withColumn("run_id", F.lit(run_id)).select(
            *(F.col(field.name).cast(field.dataType).alias(field.name) for field in schema)
        )
        with our_errors():
            writer = rows.write.format("delta").partitionBy(*_partition_keys(table)).mode(mode)
            writer.options(**options).save(self._uri(table))

    def _may_hold(self, table: str, run_id: str) -> bool:
        """Whether a file of `run_id` was ever written to `table`: without its partition's folder, none was."""
        folders = (self.root / "delta" / table).glob("run_id=*")
        return any(unquote(folder.name) == f"run_id={run_id}" for folder in folders)

    def read(self, table: str, *, run_id: str) -> DataFrame:
        """The rows of `run_id` in `table`, without `run_id`; empty where nothing was written."""
        if not self.holds(table):
            return self.spark.createDataFrame([], as_stored(TABLES[table])).drop("run_id")
        return self.spark.read.format("delta").load(self._uri(table)).where(F.col("run_id") == run_id).drop("run_id")

    def holds(self, table: str) -> bool:
        """Whether `table` was ever written."""
        return DeltaTable.isDeltaTable(self.spark, self._uri(table))

    def folder(self, kind: str, run_id: str) -> Path:
        """The folder of a run's files of one kind (``journal``, ``plans``), made when it is missing."""
        found = self.root / kind / checked_run_id(run_id)
        found.mkdir(parents=True, exist_ok=True)
        return found

    def summary(self, run_id: str) -> dict[str, Any]:
        """What the stages of `run_id` left for each other, by stage. Raises `RunNotFound`."""
        try:
            text = self._summary_file(run_id).read_text(encoding="utf-8")
        except FileNotFoundError as error:
            known = ", ".join(self.run_ids()[-5:]) or "none yet"
            raise RunNotFound(
                f"there is no run {run_id!r}", where=str(self.root), hint=f"the latest runs are: {known}"
            ) from error
        found: dict[str, Any] = json.loads(text)
        return found

    def has_summary(self, run_id: str) -> bool:
        """Whether any stage of `run_id` left something."""
        return self._summary_file(run_id).exists()

    def update_summary(self, run_id: str, stage: str, facts: Mapping[str, Any]) -> None:
        """Merge `facts` of `stage` into the run's summary file, atomically and under a lock."""
        target = self._summary_file(run_id)
        target.parent.mkdir(parents=True, exist_ok=True)
        with self._lock(f"summary-{run_id}"):
            known = target.read_text(encoding="utf-8") if target.exists() else "{}"
            summary: dict[str, Any] = {"run_id": run_id} | json.loads(known)
            summary[stage] = summary.get(stage, {}) | dict(facts)
            draft = target.with_suffix(f".{os.getpid()}.tmp")
            draft.write_text(json.dumps(summary, indent=1, sort_keys=True), encoding="utf-8")
            draft.replace(target)

    def run_ids(self) -> list[str]:
        """Every run that left a summary, oldest first."""
        files = (self.root / "runs-json").glob("*.json")
        return [file.stem for file in sorted(files, key=lambda file: (file.stat().st_ctime_ns, file.stem))]

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

    @contextmanager
    def _lock(self, name: str) -> Iterator[None]:
        path = self.root / "locks" / f"{name}.lock"
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("w") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield

    def _uri(self, table: str) -> str:
        return path_uri(self.root / "delta" / table)

    def _summary_file(self, run_id: str) -> Path:
        return self.root / "runs-json" / f"{checked_run_id(run_id)}.json"


def checked_run_id(run_id: str) -> str:
    """`run_id` itself. Raises `ConfigurationError` where it could not be a partition and a file name."""
    if not _RUN_ID.fullmatch(run_id):
        raise ConfigurationError(
            f"{run_id!r} is no run id",
            hint="use letters, digits and _ . : + -, at most 128, starting with a letter or digit",
        )
    return run_id


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
