"""Who may meet whom in the target: what is wanted there, implied or there, as far as it can come to the same.

Ordinary identifiers that differ never meet, so that most of a catalog is done with once it is known that no odd one,
and no second object, wants its key.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from nestsync.core.checking.collisions import EXISTING, EXPLICIT, IMPLIED
from nestsync.core.checking.context import CheckContext
from nestsync.core.checking.ordinary import Ordinary, in_target
from nestsync.core.checking.rules import MOVED, NAMESPACE
from nestsync.stages.check.columns import native
from nestsync.stages.check.native import split_each
from nestsync.stages.check.nfc import normalised
from nestsync.stages.check.ordinary import in_one, is_ordinary, ordinary_text

FEW_CROWDS = 500_000
"""So many keys, 8 bytes each or a short text, are handed to every task; more are brought to the rows by a shuffle."""

SUBJECT = ("source", "system", "object", "levels", "name")
"""Whose claim it is."""
WANTED = ("target_levels", "target_name")
"""What is claimed."""
STORED = ("stored_levels", "stored_name")
"""What the target makes of it."""
_LEVELS = ("target_levels", "stored_levels")
_BEYOND_ASCII = r"[^\x00-\x7F]"
_UPPER_OR_BEYOND_ASCII = rf"[A-Z]|{_BEYOND_ASCII}"

Keep = Callable[[str, DataFrame], DataFrame]
"""May persist the frame of that name, which is read more than once."""


@dataclass(frozen=True)
class Claims:
    """What is wanted in the target by name, and what is there: `SUBJECT`, ``tier``, ``is_table`` and `WANTED`.

    Names are empty texts for namespaces.
    """

    ordinary: Ordinary
    """Which identifiers are."""
    plain: DataFrame
    """Under ordinary identifiers, which the target keeps as they are, each under a text of its own."""
    odd: DataFrame
    """Under others, with `STORED`."""


def claimed(judged: DataFrame, existing: DataFrame, context: CheckContext, keep: Keep) -> Claims:
    """The claims of `judged` (`JUDGED_SCHEMA`), and of `existing`, the target's own objects in ``SCHEMAS["all"]``."""
    ordinary = in_target(context)
    wanted = judged.where(F.col("status").isin(*MOVED) & F.col("target_levels").isNotNull())
    its_own = F.col("levels"), F.col("name")
    there = existing.withColumn("ordinary", is_ordinary(ordinary, *its_own, in_one(*its_own)))

    def claims(of: Column) -> DataFrame:
        explicit = _claim(wanted.where(of), EXPLICIT, F.col("target_levels"), F.col("target_name"))
        return explicit.unionByName(_claim(there.where(of), EXISTING, F.col("levels"), F.col("name")))

    odd = keep("odd-claims", _as_stored(claims(~F.col("ordinary")), context))
    return Claims(ordinary, claims(F.col("ordinary")), odd)


def candidates(claims: Claims, context: CheckContext, keep: Keep) -> DataFrame:
    """The claims that may meet others, and those on implied parents, with `STORED` and ``crowd``.

    Claims that come to one text in the target are of one ``crowd``. Runs one job, which counts the keys that may be
    crowded; the rest is lazy.
    """
    plain, odd = _with_crowds(claims, context)
    crowds = keep("crowds", odd.select("crowd").union(_repeated(plain)).distinct())
    met = plain.join(handed_around(crowds, crowds.count()), "crowd", "left_semi")
    return each_parent_once(met.unionByName(odd))


def handed_around(keys: DataFrame, number: int) -> DataFrame:
    """`keys`, of which there are at most `number`, to join with."""
    return F.broadcast(keys) if number <= FEW_CROWDS else keys


def _with_crowds(claims: Claims, context: CheckContext) -> tuple[DataFrame, DataFrame]:
    ordinary, plain, odd = claims.ordinary, claims.plain, claims.odd
    if context.folds or context.normalizes:  # elsewhere, parents that differ are different parents
        of_odd = each_parent_once(_implied(_places(odd)))
        of_parent = F.col("target_levels"), F.lit(None).cast("string")
        is_plain = is_ordinary(ordinary, *of_parent, in_one(*of_parent))
        odd = odd.unionByName(of_odd.where(~is_plain))
        if ordinary.depths_of_parents - ordinary.namespaces:
            odd = odd.unionByName(as_it_is(_implied(_places(plain)).where(~_of_depths(ordinary.namespaces))))
        # These are not brought together first: most are dropped where they are, since no odd one wants their key.
        of_plain = _implied(plain).where(_of_depths(ordinary.namespaces))
        plain = plain.unionByName(of_odd.where(is_plain).drop(*STORED)).unionByName(of_plain)
    plain, (at, named) = as_it_is(plain), map(F.col, STORED)
    text = target_text(context, at, named)
    return _keyed(plain, ordinary_text(ordinary, context, at, named, text)), _keyed(odd, text)


def _keyed(claims: DataFrame, text: Column) -> DataFrame:
    """`claims` with ``crowd``, by which those that may be one in the target, being one `text`, are brought together."""
    return claims.withColumn("crowd", F.xxhash64("is_table", text))


def _repeated(plain: DataFrame) -> DataFrame:
    """The keys of what several source objects want under one ordinary identifier."""
    wanted = plain.where(F.col("tier") == EXPLICIT)
    return wanted.groupBy("crowd").agg(F.count(F.lit(1)).alias("number")).where(F.col("number") > 1).select("crowd")


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


def _of_depths(depths: Iterable[int]) -> Column:
    return F.size("target_levels").isin(*depths)


def _places(claims: DataFrame) -> DataFrame:
    """Where the explicit ones of `claims` are, each once: all tables of a namespace imply the same."""
    at = [name for name in _LEVELS if name in claims.columns]
    explicit = claims.where(F.col("tier") == EXPLICIT)
    return explicit.select("source", "system", "levels", "tier", "is_table", *at).distinct()


def _implied(claims: DataFrame) -> DataFrame:
    """The parents of what is wanted, by each namespace that implies them. `claims` may be their `_places`."""
    at = [name for name in _LEVELS if name in claims.columns]
    depth = F.size("target_levels") - F.when(F.col("is_table"), 0).otherwise(1)
    below = claims.where((F.col("tier") == EXPLICIT) & (depth > 0))
    each = below.withColumn("depth", F.explode(F.sequence(F.lit(1), depth)))
    return each.select(
        "source",
        "system",
        F.lit(NAMESPACE).alias("object"),
        "levels",
        F.lit("").alias("name"),
        F.lit(IMPLIED).alias("tier"),
        F.lit(False).alias("is_table"),
        *(F.slice(name, F.lit(1), F.col("depth")).alias(name) for name in at),
        *(F.lit("").alias(name) for name in _names_of(at)),
    )


def _names_of(at: Sequence[str]) -> Iterator[str]:
    """The columns of names beside those of levels."""
    return (name for levels, name in (WANTED, STORED) if levels in at)


def each_parent_once(claims: DataFrame) -> DataFrame:
    """`claims` with each parent implied by the smallest namespace alone: nobody else will be heard."""
    of_parent, voice = F.col("tier") == IMPLIED, ("source", "levels", "system")
    smallest = F.min(F.struct(*voice)).alias("smallest")
    others = [name for name in claims.columns if name not in voice]
    once = claims.where(of_parent).groupBy(*others).agg(smallest).select(*others, "smallest.*")
    return claims.where(~of_parent).unionByName(once)


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


def target_text(context: CheckContext, levels: Column, name: Column) -> Column:
    """What the target writes, once it was read as its users read it."""
    for joint in context.unescaped:
        levels = split_each(levels, joint)
    if context.target is None:
        return F.to_json(F.array(F.to_json(levels), name))
    own = native(context.target.dialect.open())
    return F.when(F.col("is_table"), own.render_table(levels, name)).otherwise(own.render(levels))


__all__ = [
    "STORED",
    "SUBJECT",
    "WANTED",
    "Claims",
    "Keep",
    "as_it_is",
    "candidates",
    "claimed",
    "each_parent_once",
    "folded",
    "handed_around",
    "target_text",
]
