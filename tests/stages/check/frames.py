"""Inventories, findings and rankings as the tests write them, to and from DataFrames."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql.types import StructType

from nestsync.catalogs.records import SCHEMAS
from nestsync.core.checking import Ranked, Subject
from nestsync.core.findings import Finding, Member
from nestsync.schemas import ROLE
from nestsync.stages.check import Checked
from nestsync.stages.check.local import local_frame
from tests.stages.wanted_frames import finding_records

OBJECTS = StructType([ROLE, *SCHEMAS["all"].fields])
Identified = tuple[str, str, str, str, tuple[str, ...], str | None]
"""Of a finding: rule, severity, and the source, object, levels and name that it is told of."""


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


@dataclass(frozen=True)
class Told:
    """What a check found, each with how often; the members of findings beside them, as the stage has them."""

    findings: Counter[Finding]
    members: Counter[tuple[Member, Identified]]

    @classmethod
    def by_the_core(cls, findings: Sequence[Finding]) -> Told:
        alone = Counter(replace(each, members=()) for each in findings)
        return cls(alone, Counter((member, _identified(each)) for each in findings for member in each.members))

    @classmethod
    def by_spark(cls, checked: Checked) -> Told:
        members = ((_member(row), _identified(row, row["finding"])) for row in checked.members.collect())
        return cls(told(checked.findings), Counter(members))


def _identified(of: Any, subject: Any = None) -> Identified:
    subject = of if subject is None else subject
    return of.rule, str(of.severity), subject.source, subject.object, tuple(subject.levels), subject.name


def _member(row: Row) -> Member:
    return Member(
        row["role"], row["source"], row["object"], tuple(row["levels"]), row["name"], tuple(row["target_levels"])
    )


def told(findings: DataFrame) -> Counter[Finding]:
    """The rows of `findings` as the core has them, but for their members."""
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
