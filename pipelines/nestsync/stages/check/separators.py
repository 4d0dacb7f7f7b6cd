"""The ranking of separators over the source levels, in one pass for all candidates."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from nestsync.core.checking.context import CheckContext
from nestsync.core.checking.ordinary import PLAIN
from nestsync.core.checking.ranking import EXAMPLES, Ranked, rank
from nestsync.core.identifiers import Levels
from nestsync.schemas import SEPARATOR_FIELDS, contract
from nestsync.stages.check.local import local_frame
from nestsync.stages.check.native import quoted_pattern


def ranked_separators(judged: DataFrame, context: CheckContext) -> tuple[Ranked, ...]:
    """The candidates of `context` against the source levels of `judged` (`JUDGED_SCHEMA`), best first.

    Runs one job; what comes to the driver is a few rows a candidate.
    """
    candidates = context.ranked()
    if not candidates:
        return ()
    objects = _not_plain(judged, candidates, context)
    # One look at the levels as one text leaves most rows out; what it finds across two levels is sorted out below.
    any_candidate = _any_of(candidates)
    few_objects = objects.where(F.array_join("levels", "\n").rlike(any_candidate))
    held = F.filter(
        F.array(*map(F.lit, candidates)),
        lambda candidate: F.exists("levels", lambda level: F.contains(level, candidate)),
    )
    conflicts = few_objects.select("source", "levels", F.explode(held).alias("separator")).distinct()
    of_candidate = Window.partitionBy("separator")
    numbered = conflicts.select(
        "*",
        F.count(F.lit(1)).over(of_candidate).alias("conflicts"),
        F.row_number().over(of_candidate.orderBy("source", "levels")).alias("place"),
    )
    counts: dict[str, int] = {}
    examples: dict[str, list[tuple[str, Levels]]] = defaultdict(list)
    few = numbered.where(F.col("place") <= EXAMPLES).collect()
    for row in sorted(few, key=lambda row: int(row["place"])):
        counts[row["separator"]] = row["conflicts"]
        examples[row["separator"]].append((row["source"], tuple(row["levels"])))
    return rank(counts, {separator: tuple(found) for separator, found in examples.items()}, context)


def _not_plain(judged: DataFrame, candidates: Sequence[str], context: CheckContext) -> DataFrame:
    """`judged` without rows that are ordinary in their source, unless a candidate can be in those."""
    if any(set(candidate) <= set(PLAIN) for candidate in candidates):
        return judged
    looked_at = F.col("source").isin(*context.sources)  # other sources have no dialect, and everything is ordinary
    return judged.where(~F.col("ordinary") | ~looked_at)


def _any_of(texts: Sequence[str]) -> str:
    """The pattern of each of `texts`; of characters it is a class, which is found several times faster."""
    characters = [quoted_pattern(text) for text in texts if len(text) == 1]
    longer = [quoted_pattern(text) for text in texts if len(text) > 1]
    return "|".join([*([f"[{''.join(characters)}]"] if characters else []), *longer])


def separators_frame(ranked: tuple[Ranked, ...], objects: DataFrame) -> DataFrame:
    """The ranking in `SEPARATOR_FIELDS`."""
    rows = [
        {
            "separator": each.separator,
            "conflicts": each.conflicts,
            "examples": [{"source": source, "levels": list(levels)} for source, levels in each.examples],
            "allowed": each.allowed,
            "reason": each.reason,
            "rank": each.rank,
            "suggested": each.suggested,
        }
        for each in ranked
    ]
    return local_frame(objects.sparkSession, rows, contract(*SEPARATOR_FIELDS))


__all__ = ["ranked_separators", "separators_frame"]
