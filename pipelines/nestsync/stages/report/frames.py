"""The run's frames, narrowed to what the report reads of them."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from typing import TypeVar

from pyspark.sql import Column, DataFrame, Row, SparkSession
from pyspark.sql import functions as F

from nestsync.reports.facts import Capped, ReportFacts

Out = TypeVar("Out")
ROWS_AT_ONCE = 50_000
"""How many rows the driver holds at a time while a frame is streamed."""
_OF_EVENT = {"detail": "string", "at": "timestamp", "user": "string", "host": "string"}
"""What the ledger's last event of an action tells of it, beside its outcome."""


@dataclass(frozen=True, slots=True)
class Frames:
    """The run's frames, narrowed to what the report reads of them, and kept while it does."""

    spark: SparkSession
    objects: DataFrame | None
    findings: DataFrame | None
    members: DataFrame | None
    actions: DataFrame | None
    changes: DataFrame | None
    sizes: Mapping[str, int]
    """How many rows each of them has, by name."""

    @classmethod
    def of(cls, facts: ReportFacts, cleanup: ExitStack) -> Frames:
        """The frames of `facts`; `cleanup` gives back what is kept of them."""
        frames = {
            "objects": _objects(facts),
            "findings": facts.findings,
            "members": facts.members,
            "actions": None if facts.actions is None else with_outcome(facts.actions, facts.ledger),
            "changes": None if facts.compared is None else facts.compared.frame,
        }
        kept: dict[str, DataFrame | None] = dict.fromkeys(frames)
        counts = []
        for name, frame in frames.items():
            if frame is not None:
                kept[name] = held = _kept(frame, cleanup)
                counts.append(held.agg(F.lit(name).alias("frame"), F.count("*").alias("rows")))
        sizes = {row["frame"]: row["rows"] for row in reduce(DataFrame.unionAll, counts).collect()} if counts else {}
        return cls(spark=SparkSession.active(), sizes=sizes, **kept)


def _kept(frame: DataFrame, cleanup: ExitStack) -> DataFrame:
    level = frame.storageLevel
    if level.useMemory or level.useDisk:
        return frame  # whoever keeps it may need it after us
    cleanup.callback(frame.persist().unpersist)
    return frame


def in_order(frame: DataFrame, size: int, *order: Column | str) -> Iterator[Row]:
    """The rows of `frame`, about `size` of them, in `order`, no more than `ROWS_AT_ONCE` on the driver at a time.

    `toLocalIterator` brings a partition at a time: how many there are is what bounds the driver's memory.
    """
    if size:
        partitions = -(-size // ROWS_AT_ONCE)
        ordered = frame.repartitionByRange(partitions, *order).sortWithinPartitions(*order)
        yield from ordered.toLocalIterator(prefetchPartitions=True)


def stream(rows: Iterator[tuple[list[str], Out]], file: Path, header: Sequence[str], cap: int) -> Capped[Out]:
    """Write the cells of all `rows` to `file` and keep the first `cap` rows themselves."""
    kept: list[Out] = []
    total = 0
    with file.open("w", encoding="utf-8", newline="") as out:
        writer = csv.writer(out)
        writer.writerow(header)
        for cells, row in rows:
            writer.writerow(cells)
            total += 1
            if total <= cap:
                kept.append(row)
    return Capped(tuple(kept), total, file.name)


def _objects(facts: ReportFacts) -> DataFrame | None:
    columns = ("role", "source", "object", "levels", "name", "status", "error")
    held = [frame.select(*columns) for frame in (facts.namespaces, facts.tables) if frame is not None]
    return reduce(DataFrame.unionByName, held) if held else None


def with_outcome(actions: DataFrame, ledger: DataFrame | None) -> DataFrame:
    """`actions` with ``outcome`` (see `facts.ActionRow`) and `_OF_EVENT`: the last event of each in `ledger`."""
    changes = F.col("kind").isin("create_namespace", "set_properties")
    plain = actions.select("action_id", "kind", "levels", "reason", "claimants")
    if ledger is None:
        unknown = (F.lit(None).cast(kind).alias(name) for name, kind in _OF_EVENT.items())
        return plain.select("*", _otherwise_none(changes, F.lit("pending")), *unknown)
    # An intent and its outcome can carry one time: the outcome is the later of the two.
    event = F.struct("at", F.col("event") != "intent", "event", "detail", "user", "host")
    last = ledger.groupBy("action_id").agg(F.max(event).alias("last"))
    outcome = F.when(F.col("last.event") == "intent", "unknown").otherwise(F.coalesce("last.event", F.lit("pending")))
    joined = plain.join(last, "action_id", "left")
    told = (f"last.{name}" for name in _OF_EVENT)
    return joined.select(*plain.columns, _otherwise_none(changes, outcome), *told)


def _otherwise_none(changes: Column, outcome: Column) -> Column:
    return F.when(changes, outcome).otherwise("none").alias("outcome")


__all__ = ["ROWS_AT_ONCE", "Frames", "in_order", "stream", "with_outcome"]
