"""The objects of the findings that are about several, read once and in order, all of them into a CSV file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from pyspark.sql import DataFrame, Row
from pyspark.sql import functions as F

from nestsync.core.findings import Severity
from nestsync.core.identifiers import json_text
from nestsync.reports.facts import Attached
from nestsync.reports.text import csv_cell
from nestsync.stages.report.frames import in_order, stream

FILE = "finding_members.csv"
HEADER = (
    "severity", "rule", "finding_source", "finding_object", "finding_levels", "finding_name",
    "role", "source", "system", "object", "levels", "name", "target_levels",
)  # fmt: skip
_BY = ("rule", "finding", "role", "source", "levels", "name")


def members_of(frame: DataFrame | None, number: int, folder: Path) -> Attached | None:
    """The `number` rows of `frame` (`schemas.MEMBER_FIELDS`, persisted), all of them in `FILE`; None without any."""
    if frame is None or not number:
        return None

    def rows() -> Iterator[tuple[list[str], None]]:
        severity = F.array_position(F.lit([str(each) for each in Severity]), F.col("severity"))
        for row in in_order(frame, number, severity, *_BY):
            yield [row["severity"], row["rule"], *_cells(row["finding"]), row["role"], *_told(row)], None

    return Attached(stream(rows(), folder / FILE, HEADER, 0).total, FILE)


def _told(row: Row) -> list[str]:
    source, *identified = _cells(row)
    return [source, row["system"], *identified, json_text(row["target_levels"])]


def _cells(of: Row) -> list[str]:
    """Source, object, levels and name, as a person can find it."""
    return [
        csv_cell(of["source"]),
        of["object"],
        json_text(of["levels"]),
        "" if of["name"] is None else json_text(of["name"]),
    ]


__all__ = ["FILE", "HEADER", "members_of"]
