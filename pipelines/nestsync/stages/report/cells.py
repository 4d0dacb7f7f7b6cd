"""What several tables of the report hold in their cells."""

from __future__ import annotations

import json
from collections.abc import Sequence

from pyspark.sql import Row

from nestsync.reports.facts import Subject


def subjects(rows: Sequence[Row] | None) -> tuple[Subject, ...]:
    """Rows of `schemas.CLAIMANT` as the page has them."""
    return tuple(Subject(row["source"], tuple(row["levels"])) for row in rows or ())


def claimants_cell(claimants: Sequence[Subject]) -> str:
    """Claimants in one cell of a CSV file."""
    return json.dumps([{"source": c.source, "levels": list(c.levels)} for c in claimants], ensure_ascii=False)


__all__ = ["claimants_cell", "subjects"]
