"""Namespaces that Trino shows as one schema, for any number of rows; `core.checking.together` is the oracle.

Two that keep their own text in Trino, having no dot and no upper case, never meet there. So the few that lose it are
looked for first; without any there is nothing to do, and else only what has their texts is brought together.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from nestsync.core.checking.context import CheckContext
from nestsync.core.checking.together import ENGINE
from nestsync.core.dialects import dialect
from nestsync.stages.check.claimed import Claims, Keep, as_it_is
from nestsync.stages.check.columns import native
from nestsync.stages.check.parents import each_parent_once, handed_around, implied, implied_by

SCHEMA = "schema"
"""The text by which Trino knows a namespace."""


def shown_together(claims: Claims, context: CheckContext, keep: Keep) -> DataFrame | None:
    """The claims on namespaces, implied ones too, that may be one schema: those of `candidates` and `SCHEMA`.

    Those of one schema are of one ``crowd``. None where there cannot be any. Runs one job, which counts the texts that
    could be those of others.
    """
    if ENGINE not in context.harmed_by:
        return None
    odd = _namespaces(claims.odd).unionByName(implied(claims.odd)).withColumn(SCHEMA, _schema())
    schemas = keep("schemas", odd.where(_loses_its_text()).select(SCHEMA).distinct())
    number = schemas.count()
    if not number:
        return None
    plain = _namespaces(claims.plain).unionByName(implied_by(claims.places, "target_levels"))
    found = as_it_is(plain).withColumn(SCHEMA, _schema()).unionByName(odd)
    met = found.join(handed_around(schemas, number), SCHEMA, "left_semi")
    return each_parent_once(met).withColumn("crowd", F.xxhash64(SCHEMA))


def _namespaces(claims: DataFrame) -> DataFrame:
    """Those of `claims` that are of namespaces. The root is no schema."""
    return claims.where(~F.col("is_table") & (F.size("target_levels") > 0))


def _schema() -> Column:
    return native(dialect(ENGINE)).render(F.col("stored_levels"))


def _loses_its_text() -> Column:
    """Whether Trino could show another namespace under this one's text, which then is not of its own levels."""
    text = F.array_join("stored_levels", ".")
    return F.array_join("stored_levels", "").contains(".") | (F.lower(text) != text)


__all__ = ["SCHEMA", "shown_together"]
