"""What is wanted in the target, and what it holds: the claims of which some may come to the same there."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from nestsync.catalogs.records import ObjectKind
from nestsync.core.checking.collisions import EXISTING, EXPLICIT
from nestsync.core.checking.context import CheckContext
from nestsync.core.checking.ordinary import Ordinary, in_target
from nestsync.core.checking.rules import MOVED
from nestsync.stages.check.columns import native
from nestsync.stages.check.native import split_each
from nestsync.stages.check.nfc import normalised
from nestsync.stages.check.ordinary import in_one, is_ordinary

SUBJECT = ("source", "system", "object", "levels", "name")
"""Whose claim it is."""
WANTED = ("target_levels", "target_name")
"""What is claimed."""
STORED = ("stored_levels", "stored_name")
"""What the target makes of it."""
PLACE = ("source", "system", "levels", "target_levels")
"""Where claims come from, and where they go to."""
_BEYOND_ASCII = r"[^\x00-\x7F]"
_UPPER_OR_BEYOND_ASCII = rf"[A-Z]|{_BEYOND_ASCII}"

Keep = Callable[[str, DataFrame], DataFrame]
"""May persist the frame of that name, which is read more than once."""


@dataclass(frozen=True, slots=True)
class Claims:
    """What is wanted in the target by name, and what is there: `SUBJECT`, ``tier``, ``is_table`` and `WANTED`.

    Names are empty texts for namespaces.
    """

    ordinary: Ordinary
    """Which identifiers are."""
    plain: DataFrame
    """Under ordinary identifiers, which the target keeps as they are, each under a text of its own."""
    places: DataFrame
    """The namespaces that sources want among those, or want tables in, each once: `PLACE` and ``varied``, whether
    some of the tables do not just keep the name that they have there."""
    odd: DataFrame
    """Under others, with `STORED`."""


def claimed(judged: DataFrame, existing: DataFrame, context: CheckContext, keep: Keep) -> Claims:
    """The claims of `judged` (`JUDGED_SCHEMA`), and of `existing`, the target's own objects in ``SCHEMAS["all"]``.

    Runs two jobs, for the odd ones and for the places.
    """
    ordinary = in_target(context)
    moved = F.col("status").isin(*MOVED) & F.col("target_levels").isNotNull()
    wanted = judged.where(F.col("ordinary") | moved)  # what is ordinary is moved, and known by one look
    there = existing.withColumn("ordinary", is_ordinary(ordinary, in_one(F.col("levels"), F.col("name"))))

    def claims(of: Column) -> DataFrame:
        explicit = _claim(wanted.where(of), EXPLICIT, F.col("target_levels"), F.col("target_name"))
        return explicit.unionByName(_claim(there.where(of), EXISTING, F.col("levels"), F.col("name")))

    plain = claims(F.col("ordinary"))
    with ThreadPoolExecutor(1) as aside:
        places = aside.submit(keep, "places", _places(plain))
        odd = keep("odd-claims", _as_stored(claims(~F.col("ordinary")), context))
        return Claims(ordinary, plain, places.result(), odd)


def _places(plain: DataFrame) -> DataFrame:
    varied = F.col("is_table") & ((F.col("target_name") != F.col("name")) | (F.col("object") != ObjectKind.TABLE))
    return plain.where(F.col("tier") == EXPLICIT).groupBy(*PLACE).agg(F.max(varied).alias("varied"))


def _claim(frame: DataFrame, tier: int, levels: Column, name: Column) -> DataFrame:
    return frame.select(
        "source",
        "system",
        "object",
        "levels",
        F.coalesce("name", F.lit("")).alias("name"),
        F.lit(tier).alias("tier"),
        name.isNotNull().alias("is_table"),
        levels.alias("target_levels"),
        F.coalesce(name, F.lit("")).alias("target_name"),
    )


def as_it_is(claims: DataFrame) -> DataFrame:
    """`claims` that the target keeps as they are wanted, in `STORED`."""
    return claims.withColumns(dict(zip(STORED, map(F.col, WANTED), strict=True)))


def _as_stored(claims: DataFrame, context: CheckContext) -> DataFrame:
    """`claims` with what the target makes of levels and name, in `STORED`."""
    stored = claims.withColumns(dict(zip(STORED, folded(context), strict=True)))
    if not context.normalizes:
        return stored
    odd = _characters().rlike(_BEYOND_ASCII)
    return stored.where(~odd).unionByName(normalised(stored.where(odd), *STORED))


def folded(context: CheckContext) -> tuple[Column, Column]:
    """What the target makes of the case of levels and name."""
    levels, name = F.col("target_levels"), F.col("target_name")
    if not context.folds:
        return levels, name
    # One look at all characters leaves most levels as they are; going through them one by one takes longer.
    changes = _characters().rlike(_UPPER_OR_BEYOND_ASCII)
    return F.when(changes, F.transform(levels, F.lower)).otherwise(levels), F.lower(name)


def _characters() -> Column:
    return F.concat(F.array_join("target_levels", ""), F.col("target_name"))


def target_text(context: CheckContext, is_table: Column, levels: Column, name: Column) -> Column:
    """What the target writes, once it was read as its users read it."""
    for joint in context.unescaped:
        levels = split_each(levels, joint)
    if context.target is None:
        return F.to_json(F.array(F.to_json(levels), name))
    own = native(context.target.dialect.open())
    return F.when(is_table, own.render_table(levels, name)).otherwise(own.render(levels))


__all__ = ["PLACE", "STORED", "SUBJECT", "WANTED", "Claims", "Keep", "as_it_is", "claimed", "folded", "target_text"]
