"""Findings as data: what each code means, and how its sentences are filled in for millions of rows.

The expressions over rows only say which code applies and what was at fault; a small broadcast table turns codes
into rules, severities and sentences. So the plan does not grow with the number of things that can be said.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import ArrayType, IntegerType, StringType, StructField, StructType

from nestsync.core.checking.messages import Sentence, Slot, Text
from nestsync.stages.check.local import local_frame

_PART = StructType([StructField("text", StringType()), StructField("slot", StringType())])
_SCHEMA = StructType(
    [
        StructField("code", IntegerType(), False),
        StructField("rule", StringType(), False),
        StructField("severity", StringType(), False),
        StructField("message_parts", ArrayType(_PART), False),
        StructField("hint_parts", ArrayType(_PART), False),
    ]
)

HIT = StructType(
    [
        StructField("code", IntegerType(), False),
        StructField("level", StringType()),
        StructField("character", StringType()),
        StructField("back", ArrayType(StringType())),
    ]
)
"""What an expression over a row finds: a code of the `Codebook` and what was at fault."""


@dataclass(frozen=True, slots=True)
class Entry:
    """What a code means. `of_levels`: the levels are at fault, and so it is the namespace that is told."""

    rule: str
    severity: str
    of_levels: bool
    sentence: Sentence


@dataclass(slots=True)
class Codebook:
    """The codes of one check, in the order in which they were asked for."""

    entries: list[Entry] = field(default_factory=list)

    def code(self, entry: Entry) -> int:
        """The code of `entry`, the same for equal entries."""
        if entry not in self.entries:
            self.entries.append(entry)
        return self.entries.index(entry)

    def frame(self, spark: SparkSession) -> DataFrame:
        """One row a code: rule, severity, and the parts of both sentences."""
        rows = [
            {
                "code": code,
                "rule": entry.rule,
                "severity": entry.severity,
                "message_parts": _parts(entry.sentence.message),
                "hint_parts": _parts(entry.sentence.hint),
            }
            for code, entry in enumerate(self.entries)
        ]
        return local_frame(spark, rows, _SCHEMA)


def _parts(text: Text) -> list[dict[str, Any]]:
    return [
        {"text": None, "slot": str(part)} if isinstance(part, Slot) else {"text": part, "slot": None} for part in text
    ]


def explained(hits: DataFrame, codebook: Codebook, slots: dict[Slot, Column]) -> DataFrame:
    """`hits`, which hold a column ``code``, with rule, severity, message and hint."""
    codes = F.broadcast(codebook.frame(hits.sparkSession))
    filled = hits.withColumn("slots", F.create_map(*(part for slot in slots.items() for part in _pair(*slot))))
    return filled.join(codes, "code").select(
        *hits.columns,
        "rule",
        "severity",
        _filled("message_parts").alias("message"),
        _filled("hint_parts").alias("hint"),
    )


def _pair(slot: Slot, value: Column) -> tuple[Column, Column]:
    return F.lit(str(slot)), value


def _filled(parts: str) -> Column:
    # The names of slots never stand in a row's own text: parts are looked up, not searched and replaced.
    texts = F.transform(parts, lambda part: F.coalesce(part["text"], F.try_element_at("slots", part["slot"])))
    return F.array_join(texts, "")


__all__ = ["HIT", "Codebook", "Entry", "explained"]
