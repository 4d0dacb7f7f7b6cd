"""Who may meet whom in the target: what is wanted there, implied or there, as far as it can come to the same.

Ordinary identifiers that differ never meet, so that most of a catalog is done with once it is known that no odd one,
and no second object, wants its key.
"""

from __future__ import annotations

from collections.abc import Iterable

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from nestsync.core.checking.collisions import EXPLICIT
from nestsync.core.checking.context import CheckContext
from nestsync.stages.check.claimed import STORED, Claims, Keep, as_it_is, target_text
from nestsync.stages.check.ordinary import in_one, is_ordinary, ordinary_text
from nestsync.stages.check.parents import each_parent_once, handed_around, implied, implied_by


def candidates(claims: Claims, context: CheckContext, keep: Keep) -> DataFrame:
    """The claims that may meet others, and those on implied parents, with `STORED` and ``crowd``.

    Claims that come to one text in the target are of one ``crowd``. Runs a few jobs, the last of which counts the keys;
    the rest is lazy.
    """
    ordinary, plain, odd = claims.ordinary, claims.plain, claims.odd
    if context.folds or context.normalizes:  # elsewhere, parents that differ are different parents
        of_plain = implied_by(claims.places, "target_levels")
        of_odd = each_parent_once(implied(odd))
        its_own = F.col("target_levels"), F.lit(None).cast("string")
        is_plain = is_ordinary(ordinary, *its_own, in_one(*its_own))
        odd = odd.unionByName(of_odd.where(~is_plain))
        if ordinary.depths_of_parents - ordinary.namespaces:
            odd = odd.unionByName(as_it_is(of_plain.where(~_of_depths(ordinary.namespaces))))
        plain = plain.unionByName(of_odd.where(is_plain).drop(*STORED))
        plain = plain.unionByName(of_plain.where(_of_depths(ordinary.namespaces)))
    stored = F.col("is_table"), *map(F.col, STORED)
    text = target_text(context, *stored)
    odd = keep("odd", odd.withColumn("crowd", F.xxhash64("is_table", text)))
    plain = as_it_is(plain).withColumn(
        "crowd", F.xxhash64("is_table", ordinary_text(ordinary, context, *stored, long_way=text))
    )
    crowds = odd.select("crowd")
    mixed = keep("mixed", _mixed(claims.places))
    number = mixed.count()
    if number:
        crowds = crowds.union(_repeated(plain.join(handed_around(mixed, number), "target_levels", "left_semi")))
    crowds = keep("crowds", crowds.distinct())
    met = plain.join(handed_around(crowds, crowds.count()), "crowd", "left_semi").unionByName(odd)
    return each_parent_once(met)


def _of_depths(depths: Iterable[int]) -> Column:
    return F.size("target_levels").isin(*depths)


def _mixed(places: DataFrame) -> DataFrame:
    """The target namespaces in which two objects may want one name, or which several want.

    Others, most of all, are wanted by one namespace, whose tables keep their names: they differ as they did there.
    """
    several = F.max("varied") | (F.count(F.lit(1)) > 1)
    return places.groupBy("target_levels").agg(several.alias("several")).where("several").select("target_levels")


def _repeated(plain: DataFrame) -> DataFrame:
    """The keys of what several source objects want under one ordinary identifier."""
    wanted = plain.where(F.col("tier") == EXPLICIT)
    return wanted.groupBy("crowd").agg(F.count(F.lit(1)).alias("number")).where(F.col("number") > 1).select("crowd")


__all__ = ["candidates"]
