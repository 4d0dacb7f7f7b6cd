"""Inventories, findings and rankings as the tests write them, to and from DataFrames."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

from nestsync.catalogs.records import SCHEMAS
from nestsync.core.checking import Ranked, Subject
from nestsync.core.findings import Finding
from nestsync.schemas import ROLE
from nestsync.stages.check.local import local_frame
from tests.stages.wanted_frames import finding_records

OBJECTS = StructType([ROLE, *SCHEMAS["all"].fields])


def objects(spark: SparkSession, subjects: Sequence[Subject]) -> DataFrame:
    """`subjects` as the inventory hands them over."""
    rows = [
        {
            "role": subject.role,
            "source": subject.source,
            "system": "hms",
            "object": subject.object,
            "levels": list(subject.levels),
            "name": subject.name,
            "properties": [("owner team", subject.source)],
            "status": subject.status,
            "error": subject.error,
        }
        for subject in subjects
    ]
    return local_frame(spark, rows, OBJECTS)


def told(findings: DataFrame) -> Counter[Finding]:
    """The rows of `findings` as the core has them."""
    return Counter(finding_records(findings))


def ranking(separators: DataFrame) -> list[Ranked]:
    """The rows of `separators` as the core has them, in their order."""
    rows: list[Any] = separators.orderBy("rank").collect()
    return [
        Ranked(
            separator=row["separator"],
            conflicts=row["conflicts"],
            examples=tuple((each["source"], tuple(each["levels"])) for each in row["examples"]),
            allowed=row["allowed"],
            reason=row["reason"],
            rank=row["rank"],
            suggested=row["suggested"],
        )
        for row in rows
    ]
