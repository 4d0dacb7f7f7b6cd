"""Who may meet whom, in the target or in Trino, which reads it: what is wanted, implied or there, as far as it can.

Ordinary identifiers that differ never meet, so that most of a catalog is done with once it is known that no odd one,
and no second object, wants its key.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from nestsync.core.checking.collisions import EXPLICIT, IMPLIED
from nestsync.core.checking.context import CheckContext
from nestsync.core.checking.ordinary import Ordinary
from nestsync.core.checking.together import ENGINE
from nestsync.stages.check.claimed import STORED, Claims, Keep, as_it_is, target_text
from nestsync.stages.check.ordinary import in_one, is_ordinary, ordinary_text
from nestsync.stages.check.parents import each_parent_once, handed_around, implied, implied_by
from nestsync.stages.check.together import SCHEMA, is_schema, loses_its_text, schema
from nestsync.stages.columns import absent_text, each_of


def candidates(claims: Claims, context: CheckContext, keep: Keep) -> DataFrame:
    """The claims that may meet others, and those on implied parents, with `STORED`, ``crowd`` and `SCHEMA`.

    Claims that come to one text are of one ``crowd``: in Trino, where they have a `SCHEMA`, or else in the target. Runs
    a few jobs, the last of which counts the crowds; the rest is lazy.
    """
    plain = _plain(claims, context)
    wanted_twice = _repeated(claims, plain, keep)
    odd = keep("odd", _odd(claims, context))
    crowds = odd.where("calls").select("crowd")
    if wanted_twice is not None:
        crowds = crowds.union(wanted_twice)
    crowds = keep("crowds", crowds.distinct())
    if _in_trino(context):
        plain = plain.unionByName(_plain_schemas(claims))
    every = plain.unionByName(odd.drop("calls"))
    return each_parent_once(every.join(handed_around(crowds, crowds.count()), "crowd", "left_semi"))


def _in_trino(context: CheckContext) -> bool:
    return ENGINE in context.harmed_by


def _parents_differ(context: CheckContext) -> bool:
    """Whether parents may meet in the target; elsewhere, those that differ are different parents."""
    return context.folds or context.normalizes


def _plain(claims: Claims, context: CheckContext) -> DataFrame:
    """What meets others in the target under ordinary identifiers, with `STORED`, ``crowd`` and no `SCHEMA`."""
    plain, ordinary = claims.plain, claims.ordinary
    if _parents_differ(context):
        plain = plain.unionByName(_parents(claims).where(_of_depths(ordinary)))
    text = ordinary_text(ordinary, context, *_stored(), long_way=target_text(context, *_stored()))
    return as_it_is(plain).withColumns({"crowd": _crowd(text), SCHEMA: absent_text()})


def _plain_schemas(claims: Claims) -> DataFrame:
    """What meets others in Trino under ordinary identifiers, and under all that such imply; with `SCHEMA`."""
    namespaces = as_it_is(claims.plain.unionByName(_parents(claims))).where(is_schema())
    return namespaces.withColumns({"crowd": F.xxhash64(schema()), SCHEMA: schema()})


def _odd(claims: Claims, context: CheckContext) -> DataFrame:
    """What meets others in the target, or in Trino, under other identifiers: a row for each of them.

    What is plain comes to no other text, so that it only is met where another ``calls`` it.
    """
    odd, ordinary = claims.odd, claims.ordinary
    if _parents_differ(context) or _in_trino(context):
        odd = odd.unionByName(implied(claims.odd))
    if _parents_differ(context) and ordinary.depths_of_parents - ordinary.namespaces:
        odd = odd.unionByName(as_it_is(_parents(claims).where(~_of_depths(ordinary))))
    meets_in_target = (F.col("tier") != IMPLIED) | F.lit(_parents_differ(context))
    in_target = _meeting(_crowd(target_text(context, *_stored())), ~_is_plain(ordinary), absent_text())
    meets = [F.when(meets_in_target, in_target)]
    if _in_trino(context):
        meets.append(F.when(is_schema(), _meeting(F.xxhash64(schema()), loses_its_text(), schema())))
    met = each_of(odd.withColumn("meets", F.array(*meets)), "meets", "meet")
    return met.where(F.col("meet").isNotNull()).select(*odd.columns, "meet.*")


def _meeting(crowd: Column, calls: Column, of_schema: Column) -> Column:
    return F.struct(crowd.alias("crowd"), calls.alias("calls"), of_schema.alias(SCHEMA))


def _stored() -> tuple[Column, Column, Column]:
    is_table, levels, name = (F.col(each) for each in ("is_table", *STORED))
    return is_table, levels, name


def _crowd(text: Column) -> Column:
    """The number of a `text` in the target."""
    return F.xxhash64("is_table", text)


def _parents(claims: Claims) -> DataFrame:
    """The parents that plain claims imply."""
    return implied_by(claims.places, "target_levels")


def _is_plain(ordinary: Ordinary) -> Column:
    """Whether a claim is on a parent that is ordinary, though who implies it is not."""
    return (F.col("tier") == IMPLIED) & is_ordinary(ordinary, in_one(F.col("target_levels"), absent_text()))


def _of_depths(ordinary: Ordinary) -> Column:
    return F.size("target_levels").isin(*ordinary.namespaces)


def _mixed(places: DataFrame) -> DataFrame:
    """The target namespaces in which two objects may want one name, or which several want.

    Others, most of all, are wanted by one namespace, whose tables keep their names: they differ as they did there.
    """
    several = F.max("varied") | (F.count(F.lit(1)) > 1)
    return places.groupBy("target_levels").agg(several.alias("several")).where("several").select("target_levels")


def _repeated(claims: Claims, plain: DataFrame, keep: Keep) -> DataFrame | None:
    """The crowds of what several source objects want under one ordinary identifier; None where there are none."""
    mixed = keep("mixed", _mixed(claims.places))
    number = mixed.count()
    if not number:
        return None
    wanted = plain.where(F.col("tier") == EXPLICIT)
    among = wanted.join(handed_around(mixed, number), "target_levels", "left_semi")
    return among.groupBy("crowd").agg(F.count(F.lit(1)).alias("number")).where(F.col("number") > 1).select("crowd")


__all__ = ["candidates"]
