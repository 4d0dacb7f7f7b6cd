"""Names that readers of a target do harm because of, as expressions; `core.dangers` is the oracle."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from pyspark.sql import Column
from pyspark.sql import functions as F

from nestsync.core.dangers import dangers
from nestsync.core.identifiers import Levels
from nestsync.stages.check.native import first, is_exactly
from nestsync.stages.check.native_quoted import has_unit, unseen


@dataclass(frozen=True)
class Harm:
    """One kind of harm: when, because of which level, and what the core says of it."""

    condition: Column
    level: Column
    reason: str
    accepted: str


def harms(reader: str, levels: Column) -> Iterator[Harm]:
    """What `reader` does because of `levels`; each reason is that of the smallest namespace that shows it."""
    if reader == "trino":
        for refuses, witness in ((unseen, " "), (has_unit, "a\x1f")):
            yield _harm(reader, F.exists(levels, refuses), first(levels, refuses), (witness,))
    if reader == "iceberg-rest":
        resolved_away = is_exactly(levels, ".") | is_exactly(levels, "..")
        yield _harm(reader, resolved_away, F.get(levels, F.lit(0)), (".",))


def _harm(reader: str, condition: Column, level: Column, witness: Levels) -> Harm:
    (shown,) = dangers(reader, witness)
    return Harm(condition, level, shown.reason, shown.accepted)


__all__ = ["Harm", "harms"]
