"""The matrix: what becomes of every namespace in every dialect present; `core.checking.fates` is the oracle."""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce
from operator import and_, or_

from pyspark.sql import Column, DataFrame, Row
from pyspark.sql import functions as F

from nestsync.core.checking.context import CheckContext, Reader
from nestsync.core.checking.fates import Ending, FateRow, Way, at_hop, ways
from nestsync.core.checking.ordinary import in_sources, in_target, lossless
from nestsync.core.checking.rules import MOVED, NAMESPACE
from nestsync.core.identifiers import Levels
from nestsync.core.matrix import Fate
from nestsync.schemas import LEVELS
from nestsync.stages.check.columns import native
from nestsync.stages.check.native import Case
from nestsync.stages.check.ordinary import in_one, is_ordinary
from nestsync.stages.columns import absent_text, each_of

_LOSSLESS = 0
_EVERY_WAY = -1
_FATES = (Fate.REFUSED, Fate.LOSSY)


def fates(mapped: DataFrame, context: CheckContext) -> list[FateRow]:
    """What becomes of the namespaces of `mapped` (`JUDGED_SCHEMA`), by source, way and ending.

    Runs two jobs; what comes to the driver is a row for each source, way and ending, whatever the catalog's size.
    """
    every = ways(context)
    namespaces = mapped.where(
        (F.col("object") == NAMESPACE) & F.col("target_levels").isNotNull() & F.col("status").isin(*MOVED)
    ).select(
        "source",
        "levels",
        "target_levels",
        "ordinary",
        F.xxhash64("levels").alias("hash"),
        in_one(F.col("levels"), absent_text()).alias("at"),
        in_one(F.col("target_levels"), absent_text()).alias("wanted"),
    )
    # The hash stands for one example: it fits into the hash table of the counting, levels do not.
    counted = (
        each_of(namespaces.select("source", "hash", _codes(every, context).alias("codes")), "codes", "of")
        .where(F.col("of.code").isNotNull())
        .groupBy("source", "of.way", "of.code")
        .agg(F.count(F.lit(1)).alias("count"), F.min("hash").alias("example"))
        .collect()
    )
    examples = _examples(namespaces, (row["example"] for row in counted if row["code"] != _LOSSLESS))
    rows = (
        _row(source, every[way], code, count, None if code == _LOSSLESS else examples[source, example])
        for (source, way, code), (count, example) in _summed(counted, every).items()
    )
    return sorted(rows, key=lambda row: (every.index(row.way), row.source, row.ending.hop, row.ending.fate))


def _codes(every: tuple[Way, ...], context: CheckContext) -> Column:
    """How the ways end for a row: pairs of a way's number and its code, or one pair where all of them end well.

    The code is null for a way that is not about the row.
    """
    flags = [_comes_back(way, context) for way in every]
    codes = [F.struct(F.lit(i).alias("way"), _code(way, flags[i]).alias("code")) for i, way in enumerate(every)]
    well = F.array(F.struct(F.lit(_EVERY_WAY).alias("way"), F.lit(_LOSSLESS).alias("code")))
    return F.when(reduce(and_, flags, F.lit(True)), well).otherwise(F.array(*codes))


def _comes_back(way: Way, context: CheckContext) -> Column:
    """Whether one look says that `way` ends well, or is not about the row.

    Most rows are known to be ordinary; where that is enough, only the others are looked at.
    """
    ordinary = lossless(way, context)
    if way.sources is None:
        well = is_ordinary(ordinary, F.col("wanted"))
        return F.col("ordinary") | well if ordinary.covers(in_target(context), tables=False) else well
    well = ~_is_about(way) | is_ordinary(ordinary, F.col("at"))
    known = in_sources(context)
    enough = all(source in known and ordinary.covers(known[source], tables=False) for source in way.sources)
    return F.col("ordinary") | well if enough else well


def _is_about(way: Way) -> Column:
    return F.lit(True) if way.sources is None else F.col("source").isin(*sorted(way.sources))


def _code(way: Way, well: Column) -> Column:
    """How `way` ends for a row: 0 where all is `well`, else its hop and fate; null for sources that it is not about."""
    levels = F.col("target_levels" if way.sources is None else "levels")
    ends = (F.when(fate.isNotNull(), fate + 2 * number) for number, fate in _hops(way.hops, levels))
    code = F.when(well, F.lit(_LOSSLESS)).otherwise(F.coalesce(*ends, F.lit(_LOSSLESS)))
    return F.when(_is_about(way), code)


def _summed(counted: Iterable[Row], every: tuple[Way, ...]) -> dict[tuple[str, int, int], tuple[int, int]]:
    """How many, and the hash of one of them, by source, way and code."""
    told: dict[tuple[str, int, int], tuple[int, int]] = {}
    for row in counted:
        about = [i for i, way in enumerate(every) if way.sources is None or row["source"] in way.sources]
        for way in about if row["way"] == _EVERY_WAY else [row["way"]]:
            key = (row["source"], way, row["code"])
            told[key] = (told.get(key, (0, 0))[0] + row["count"], row["example"])
    return told


def _hops(hops: Iterable[Reader], levels: Column) -> Iterable[tuple[int, Column]]:
    for number, hop in enumerate(hops):
        seen = F.concat(F.array(*map(F.lit, hop.before)).cast(LEVELS), levels) if hop.before else levels
        yield number, _fate(hop, seen)


def _fate(hop: Reader, levels: Column) -> Column:
    """1 where the system refuses `levels`, 2 where it takes them for others, null where they come back."""
    own = native(hop.dialect)
    cases = list(own.cases(levels))
    others = F.coalesce(own.read_back(levels) != levels, F.lit(False))
    return (
        F.when(_any(case for case in cases if case.rejected), F.lit(1))
        .when(_any(case for case in cases if not case.rejected), F.when(others, F.lit(2)).otherwise(F.lit(1)))
        .cast("int")
    )


def _any(cases: Iterable[Case]) -> Column:
    return reduce(or_, (F.coalesce(case.condition, F.lit(False)) for case in cases), F.lit(False))


def _ending(way: Way, code: int) -> Ending:
    if code == _LOSSLESS:
        return Ending(len(way.hops) - 1, Fate.LOSSLESS)
    return Ending((code - 1) // 2, _FATES[(code - 1) % 2])


def _examples(namespaces: DataFrame, hashes: Iterable[int]) -> dict[tuple[str, int], tuple[Levels, Levels]]:
    """Levels in the source and in the target, by source and hash."""
    wanted = sorted(set(hashes))
    found = namespaces.where(F.col("hash").isin(wanted)).collect() if wanted else []
    return {(row["source"], row["hash"]): (tuple(row["levels"]), tuple(row["target_levels"])) for row in found}


def _row(source: str, way: Way, code: int, count: int, example: tuple[Levels, Levels] | None) -> FateRow:
    ended = _ending(way, code)
    if example is None:
        return FateRow(source, way, ended, count, None)
    levels, target = example
    became = at_hop(way.hops[ended.hop], target if way.sources is None else levels)
    return FateRow(source, way, ended, count, (levels, became))


__all__ = ["fates"]
