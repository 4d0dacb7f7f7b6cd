"""Claims as DataFrames: which source object wants which target namespace, and with which properties.

`core.claims` is the oracle of what a claim holds. Columns of every frame here: ``target`` (the wanted levels)
and ``source, system, object, levels, name``, the subject that a finding about the claim has.
"""

from __future__ import annotations

from functools import reduce

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from nestsync.core.claims import PropertyKeys
from nestsync.stages.columns import absent_text, known, no_properties, scopes

SUBJECT = ("source", "system", "object", "levels", "name")


def namespace_claims(mapped: DataFrame, keys: PropertyKeys) -> DataFrame:
    """The explicit claims, in the columns that every frame here has and a few of their own.

    ``readable``; ``properties`` as wanted; ``owner``, null where it is not copied or not known;
    ``shadowed``, a list of (field, key) where the field took the place of another value.
    """
    namespaces = mapped.where(
        (F.col("object") == "namespace") & F.col("status").isin("ok", "unreadable") & (F.size("target_levels") > 0)
    )
    readable = F.col("status") == "ok"
    kept = F.map_filter(known(F.col("properties")), lambda key, value: ~_moved(key, value, keys))
    owner = F.col("owner") if keys.owner is not None else absent_text()
    return (
        namespaces.withColumn("_kept", kept)
        .withColumn("_own", _own_fields(keys))
        .select(
            F.col("target_levels").alias("target"),
            *SUBJECT,
            readable.alias("readable"),
            _overlaid(F.col("_kept"), F.col("_own")).alias("properties"),
            F.when(readable, owner).alias("owner"),
            _shadowed(F.col("_kept"), keys).alias("shadowed"),
        )
    )


def _moved(key: Column, value: Column, keys: PropertyKeys) -> Column:
    """Whether a property is the double of a field that goes elsewhere, or nowhere."""
    doubles = [
        (key == field) & F.coalesce(F.col(field) == value, F.lit(False))
        for field, configured in keys.by_field()
        if configured != field
    ]
    return reduce(lambda one, other: one | other, doubles, F.lit(False))


def _own_fields(keys: PropertyKeys) -> Column:
    """The fields that the namespace has, under their configured keys, as a map."""
    entries = [
        F.struct(F.lit(key).alias("key"), F.col(field).alias("value"))
        for field, key in keys.by_field()
        if key is not None
    ]
    if not entries:
        return no_properties()
    return F.map_from_entries(F.filter(F.array(*entries), lambda entry: entry["value"].isNotNull()))


def _overlaid(properties: Column, above: Column) -> Column:
    """Both maps in one; where they share a key, `above` counts."""
    return F.map_concat(F.map_filter(properties, lambda key, _: ~F.map_contains_key(above, key)), above)


def _shadowed(kept: Column, keys: PropertyKeys) -> Column:
    pairs = [
        F.when(
            F.coalesce(F.try_element_at(kept, F.lit(key)) != F.col(field), F.lit(False)),
            F.struct(F.lit(field).alias("field"), F.lit(key).alias("key")),
        )
        for field, key in keys.by_field()
        if key is not None
    ]
    nothing = F.array().cast("array<struct<field:string,key:string>>")
    return F.array_compact(F.array(*pairs)) if pairs else nothing


def table_claims(mapped: DataFrame) -> DataFrame:
    """The claims of tables and views on the namespace that they are in: ``target``, `SUBJECT`."""
    objects = mapped.where((F.col("object") != "namespace") & (F.col("status") == "ok") & (F.size("target_levels") > 0))
    return objects.select(F.col("target_levels").alias("target"), *SUBJECT)


def implied_claims(namespaces: DataFrame, tables: DataFrame) -> DataFrame:
    """The claims on parents that nobody claims themselves: ``target`` (the parent), `SUBJECT`, ``owner``.

    A claim asks for its parents up to the nearest namespace that is claimed itself: what lies above that, that
    claim asks for. The tables that one source namespace puts into one target namespace ask once, by the smallest.
    """
    of_tables = (
        tables.groupBy("target", "source", "system", "levels")
        .agg(F.min(F.struct("object", "name")).alias("_first"))
        .select("target", "source", "system", F.col("_first.object"), "levels", F.col("_first.name"))
        .withColumn("owner", absent_text())
    )
    wishes = namespaces.select("target", *SUBJECT, "owner").unionByName(of_tables).withColumnRenamed("target", "child")
    # A table in a namespace that is claimed itself asks for nothing: that claim does.
    asks = (F.col("object") == "namespace") | ~F.col("_explicit")
    return _parents(wishes).join(wishes, "child").where(asks).drop("child", "_explicit")


def _parents(wishes: DataFrame) -> DataFrame:
    """(child, target): every parent of each child below the nearest explicit one, and the child where it is not.

    ``_explicit`` says whether it is.
    """
    is_namespace = F.col("object") == "namespace"
    children = wishes.groupBy("child").agg(F.max(is_namespace).alias("_explicit"))
    above = children.select("child", "_explicit", F.explode(scopes(F.col("child"))).alias("target"))
    is_itself = F.col("target") == F.col("child")
    claimed = F.max(is_itself & F.col("_explicit")).over(Window.partitionBy("target"))
    depth = F.when(F.col("_claimed") & ~(is_itself & F.col("_explicit")), F.size("target")).otherwise(0)
    return (
        above.withColumn("_claimed", claimed)
        .withColumn("_nearest", F.max(depth).over(Window.partitionBy("child")))
        .where((F.size("target") > F.col("_nearest")) & ~F.col("_claimed"))
        .select("child", "_explicit", "target")
    )


__all__ = ["SUBJECT", "implied_claims", "namespace_claims", "table_claims"]
