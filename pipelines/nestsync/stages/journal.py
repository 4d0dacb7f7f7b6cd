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
from typing import ClassVar, Self

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import StringType, StructField, StructType

from nestsync.core.identifiers import Levels, escape_surrogates
from nestsync.errors import NestsyncError
from nestsync.history.actors import Actor, this_process
from nestsync.schemas import LEDGER_FIELDS, contract
from nestsync.session import spark_path

_MOMENT = "yyyy-MM-dd'T'HH:mm:ss.SSSSSSXXX"
_TORN = "_torn"
_AS_IT_IS = {"__globPaths__": "false"}
"""Spark's own option for a path that is no pattern: as one, no folder may have a colon in its name, as run ids have."""


class JournalUnwritable(NestsyncError):
    """The journal cannot be written; nothing is sent that it does not hold."""

    code: ClassVar[str] = "journal-unwritable"
    exit_code: ClassVar[int] = 1


class Event(StrEnum):
    """What an entry says of its action."""

    INTENT = "intent"
    APPLIED = "applied"
    SKIPPED = "skipped"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of the journal (`schemas.LEDGER_FIELDS`), but for who writes it."""

    action_id: str
    kind: str
    levels: Levels
    event: Event
    properties: Mapping[str, str] = field(default_factory=dict)
    detail: str | None = None
    at: datetime = field(default_factory=lambda: datetime.now(UTC))

    def line(self, writer: Actor) -> bytes:
        """The entry as one line of ASCII: whatever is in a name, a line break ends an entry and nothing else."""
        content = {
            "action_id": self.action_id,
            "kind": self.kind,
            "levels": list(self.levels),
            "event": str(self.event),
            "properties": dict(self.properties),
            "detail": None if self.detail is None else escape_surrogates(self.detail),
            "at": self.at.isoformat(timespec="microseconds"),
            "user": writer.user,
            "host": writer.host,
        }
        return json.dumps(content, ensure_ascii=True).encode("ascii") + b"\n"


class Journal:
    """The journal of one writer; `record` may be called from several threads, and returns once the disk has it."""

    def __init__(self, folder: Path, writer: str) -> None:
        self.path = folder / f"{writer}.jsonl"
        self._file = self.path.open("ab", buffering=0)
        self._lock = threading.Lock()
        self._who = this_process()
        self._whole = True
        self._begin_a_line()
        _sync_folder(folder)

    def _begin_a_line(self) -> None:
        """End a line that an earlier process tore: what comes next must not be glued to it."""
        with self.path.open("rb") as written:
            if written.seek(0, os.SEEK_END):
                written.seek(-1, os.SEEK_END)
                if written.read(1) != b"\n":
                    self._file.write(b"\n")

    def record(self, entry: Entry) -> None:
        """Append `entry` and wait until it is on the disk. Raises `JournalUnwritable` where it cannot be."""
        line = entry.line(self._who)
        try:
            with self._lock:
                self._append(line)
            # Outside the lock: one sync of the file covers the lines of every thread that waits for one.
            os.fsync(self._file.fileno())
        except OSError as error:
            raise JournalUnwritable(
                f"{error.strerror or error}", where=str(self.path), hint="make room, then apply the same run again"
            ) from error

    def _append(self, line: bytes) -> None:
        if not self._whole:
            raise OSError("an earlier line could not be written")
        self._whole = False
        # A disk that runs full takes a part of the line: nothing may follow it.
        if self._file.write(line) != len(line):
            raise OSError("the disk took a part of a line")
        self._whole = True

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


def read_journal(spark: SparkSession, folder: Path, writer: str = "*") -> DataFrame:
    """Every whole line of the journals in `folder`, or of the one of `writer`, as `schemas.LEDGER_FIELDS`.

    Empty where there is none.
    The folder is read by the executors: they have to see it as the driver does.
    """
    declared = contract(*LEDGER_FIELDS)
    name = f"{writer}.jsonl"
    if not any(folder.glob(name)):
        return spark.createDataFrame([], declared)
    fields = [StructField(f.name, StringType() if f.name == "at" else f.dataType) for f in declared]
    lines = spark.read.options(lineSep="\n", pathGlobFilter=name, **_AS_IT_IS).text(spark_path(folder))
    options = {"mode": "PERMISSIVE", "columnNameOfCorruptRecord": _TORN}
    entry = F.from_json("value", StructType([*fields, StructField(_TORN, StringType())]), options).alias("entry")
    # The one line that can be malformed is one that a dying process tore: it never became an entry.
    whole = lines.where(F.col("value") != "").select(entry).select("entry.*").where(F.col(_TORN).isNull())
    return whole.withColumn("at", F.to_timestamp("at", _MOMENT)).select(*declared.names)


def known(ledger: DataFrame) -> DataFrame:
    """``(action_id, done)``, a row for each action that was begun: done is one that was applied, or found done."""
    done = F.col("event").isin(str(Event.APPLIED), str(Event.SKIPPED))
    return ledger.groupBy("action_id").agg(F.max(done).alias("done"))


__all__ = ["Entry", "Event", "Journal", "JournalUnwritable", "known", "read_journal"]
