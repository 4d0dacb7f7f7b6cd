"""What changed between two runs, read once and in order: all rows into a CSV file, the first ones kept."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from pyspark.sql import DataFrame, Row
from pyspark.sql import functions as F

from nestsync.core.findings import Severity
from nestsync.core.identifiers import json_text
from nestsync.history.records import RunRecord
from nestsync.reports.changes import ORDER, ChangeRow, Changes
from nestsync.reports.text import csv_cell
from nestsync.stages.report.frames import in_order, stream

FILE = "changes.csv"
SHOWN = 500
"""What the page shows."""
HEADER = (
    "what", "change", "role", "source", "object", "levels", "name", "rule", "severity", "detail",
)  # fmt: skip


def changes_of(
    frame: DataFrame,
    before: RunRecord,
    after: RunRecord,
    file: Path,
    *,
    notes: tuple[str, ...] = (),
    shown: int = SHOWN,
) -> Changes:
    """The rows of `frame` (`schemas.CHANGE_FIELDS`, persisted), all of them in `file`, the first `shown` kept."""
    counts: Counter[tuple[str, str, str, str]] = Counter()
    # one row for each kind of change, of which there are a few dozen
    for row in frame.groupBy("role", "what", "change", "severity").count().collect():
        counts[row["role"], row["what"], row["change"], row["severity"] or ""] = row["count"]

    def rows() -> Iterator[tuple[list[str], ChangeRow]]:
        order = F.array_position(F.lit(list(ORDER)), F.col("change"))
        severity = F.array_position(F.lit([str(each) for each in Severity]), F.col("severity"))
        for row in in_order(frame, sum(counts.values()), order, "role", severity, "what", *_BY):
            change = _change(row)
            yield _cells(change), change

    capped = stream(rows(), file, HEADER, shown)
    return Changes(before, after, capped.rows, dict(counts), str(file), notes)


_BY = ("source", "levels", "name", "rule")


def _change(row: Row) -> ChangeRow:
    told = {name: row[name] for name in HEADER}
    return ChangeRow(**told | {"levels": tuple(row["levels"])})


def _cells(row: ChangeRow) -> list[str]:
    return [
        row.what,
        row.change,
        row.role,
        csv_cell(row.source),
        row.object,
        json_text(row.levels),
        "" if row.name is None else json_text(row.name),
        row.rule or "",
        row.severity or "",
        csv_cell(row.detail),
    ]


__all__ = ["FILE", "HEADER", "SHOWN", "changes_of"]
