"""Namespaces that Trino shows as one schema, for any number of rows; `core.checking.together` is the oracle.

Two that keep their own text in Trino, having no dot and no upper case, never meet there. So the few that lose it are
looked for first; without any there is nothing to do, and else only what has their texts is brought together.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from nestsync.core.checking.collisions import EXPLICIT, IMPLIED
from nestsync.core.checking.context import CheckContext
from nestsync.core.checking.rules import NAMESPACE
from nestsync.core.checking.together import ENGINE
from nestsync.core.dialects import dialect
from nestsync.stages.check.candidates import (
    Claims,
    Keep,
    as_it_is,
    each_parent_once,
    handed_around,
)
from nestsync.stages.check.columns import native

SCHEMA = "schema"
"""The text by which Trino knows a namespace."""
_TOP = "top"
"""The text of its first level there."""


def shown_together(claims: Claims, context: CheckContext, keep: Keep) -> DataFrame | None:
    """The claims on namespaces, implied ones too, that may be one schema: those of `candidates` and `SCHEMA`.

    Those of one schema are of one ``crowd``. None where there cannot be any. Runs one job, which counts the texts that
    could be those of others.
    """
    if ENGINE not in context.harmed_by:
        return None
    odd = _namespaces(claims.odd)
    schemas = keep("schemas", odd.where(_loses_its_text()).select(SCHEMA, _top().alias(_TOP)).distinct())
    number = schemas.count()
    if not number:
        return None
    # Most of what is plain is done with before its parents are worked out: it begins with another level.
    tops = handed_around(schemas.select(_TOP).distinct(), number)
    near = claims.plain.withColumn(_TOP, F.get("target_levels", F.lit(0))).join(tops, _TOP, "left_semi").drop(_TOP)
    found = _namespaces(as_it_is(near)).unionByName(odd)
    met = found.join(handed_around(schemas.drop(_TOP), number), SCHEMA, "left_semi")
    return each_parent_once(met).withColumn("crowd", F.xxhash64(SCHEMA))


def _namespaces(claims: DataFrame) -> DataFrame:
    """The namespaces among `claims` and those that they imply, with `SCHEMA`. The root is no schema.

    In one pass: a row stands for its own namespace and all above it, and what is there already for itself alone.
    """
    explicit, size = F.col("tier") == EXPLICIT, F.size("target_levels")
    reaching = claims.where((size > 0) & (explicit | ~F.col("is_table")))
    depths = F.sequence(F.when(explicit, 1).otherwise(size), size)
    each = reaching.withColumn("depth", F.explode(depths))
    is_implied = F.col("is_table") | (F.col("depth") < size)
    each = each.select(
        "source",
        "system",
        F.when(is_implied, NAMESPACE).otherwise(F.col("object")).alias("object"),
        "levels",
        F.lit("").alias("name"),
        F.when(is_implied, IMPLIED).otherwise(F.col("tier")).alias("tier"),
        F.lit(False).alias("is_table"),
        *(F.slice(name, F.lit(1), F.col("depth")).alias(name) for name in ("target_levels", "stored_levels")),
        *(F.lit("").alias(name) for name in ("target_name", "stored_name")),
    )
    return each.withColumn(SCHEMA, native(dialect(ENGINE)).render(F.col("stored_levels")))


def _loses_its_text() -> Column:
    """Whether Trino could show another namespace under this one's text, which then is not of its own levels."""
    text = F.array_join("stored_levels", ".")
    return F.array_join("stored_levels", "").contains(".") | (F.lower(text) != text)


def _top() -> Column:
    return F.substring_index(F.lower(F.array_join("stored_levels", ".")), ".", 1)


__all__ = ["SCHEMA", "shown_together"]
