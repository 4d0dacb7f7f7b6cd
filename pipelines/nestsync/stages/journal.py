"""The journal: what apply is about to do and what came of it, durable before each request and again after it.

JSON lines, a file a writer, only ever appended to. A process that dies leaves at worst a torn last line, and
that line is an outcome that nobody was told or an intent whose request was never sent.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from types import TracebackType
from typing import Self

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import StringType, StructField, StructType

from nestsync.core.identifiers import Levels
from nestsync.schemas import LEDGER_FIELDS, contract

_MOMENT = "yyyy-MM-dd'T'HH:mm:ss.SSSSSSXXX"


class Event(StrEnum):
    """What an entry says of its action."""

    INTENT = "intent"
    APPLIED = "applied"
    SKIPPED = "skipped"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of the journal (`schemas.LEDGER_FIELDS`)."""

    action_id: str
    kind: str
    levels: Levels
    event: Event
    properties: Mapping[str, str] = field(default_factory=dict)
    detail: str | None = None
    at: datetime = field(default_factory=lambda: datetime.now(UTC))


class Journal:
    """The journal of one writer; `record` may be called from several threads, and returns once the disk has it."""

    def __init__(self, folder: Path, writer: str) -> None:
        self._file = (folder / f"{writer}.jsonl").open("ab", buffering=0)
        self._lock = threading.Lock()
        self._begin_a_line()
        _sync_folder(folder)

    def _begin_a_line(self) -> None:
        """End a line that an earlier process tore: what comes next must not be glued to it."""
        path = Path(self._file.name)
        if path.stat().st_size and not path.read_bytes().endswith(b"\n"):
            self._file.write(b"\n")

    def record(self, entry: Entry) -> None:
        """Append `entry` and wait until it is on the disk. Raises `OSError` where it cannot be."""
        line = {
            "action_id": entry.action_id,
            "kind": entry.kind,
            "levels": list(entry.levels),
            "event": str(entry.event),
            "properties": dict(entry.properties),
            "detail": entry.detail,
            "at": entry.at.isoformat(timespec="microseconds"),
        }
        with self._lock:
            self._file.write(json.dumps(line, ensure_ascii=True).encode("ascii") + b"\n")
            os.fsync(self._file.fileno())

    def close(self) -> None:
        """Close the file; what was recorded is on the disk already."""
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _sync_folder(folder: Path) -> None:
    """Make the file's name durable too: a synced file in an unsynced folder can be lost as a whole."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def read_journal(spark: SparkSession, folder: Path) -> DataFrame:
    """Every whole line of the journals in `folder`, as `schemas.LEDGER_FIELDS`; empty where there is none."""
    declared = contract(*LEDGER_FIELDS)
    if not any(folder.glob("*.jsonl")):
        return spark.createDataFrame([], declared)
    lines = StructType([StructField(f.name, StringType() if f.name == "at" else f.dataType) for f in declared])
    # The one line that can be malformed is one that a dying process tore: it never became an entry.
    rows = spark.read.schema(lines).option("mode", "DROPMALFORMED").json(folder.resolve().as_uri())
    whole = rows.where(F.col("action_id").isNotNull() & F.col("event").isNotNull() & F.col("at").isNotNull())
    moment = F.to_timestamp("at", _MOMENT)
    return whole.withColumn("at", moment).select(*declared.names)


def acted_on(ledger: DataFrame) -> DataFrame:
    """The namespaces that this run's ledger explains: every one with an intent, with or without an outcome."""
    return ledger.where(F.col("event") == str(Event.INTENT)).select("levels").distinct()


def settled(ledger: DataFrame) -> DataFrame:
    """The ids of the actions that are done: applied, or found done."""
    return ledger.where(F.col("event").isin(str(Event.APPLIED), str(Event.SKIPPED))).select("action_id").distinct()


__all__ = ["Entry", "Event", "Journal", "acted_on", "read_journal", "settled"]
