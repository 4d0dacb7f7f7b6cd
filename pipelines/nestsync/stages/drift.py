"""Drift: what moved in a source or in the target between the inventory that a plan stands on and now."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from nestsync.core.identifiers import shown
from nestsync.errors import PlanOutdated
from nestsync.stages.columns import by_key, known

SHOWN = 5
_KEY = ("source", "levels")
_COMPARED = ("owner", "comment", "location", "status")


def drift(before: DataFrame, now: DataFrame, ours: DataFrame) -> DataFrame:
    """The namespaces that appeared, vanished or changed: ``source, levels, how``.

    `before` and `now` hold namespaces of sources and target (`schemas.NAMESPACE_FIELDS` and ``role``). What this
    run did itself is not drift: `ours` are the ``levels`` of the target that its ledger explains, intents without
    an outcome included.
    """
    then, here = _digested(before, "then"), _digested(now, "here")
    both = then.join(here, list(_KEY), "full_outer").withColumn(
        "role", F.coalesce(F.col("then_role"), F.col("here_role"))
    )
    how = (
        F.when(F.col("then").isNull(), F.lit("appeared"))
        .when(F.col("here").isNull(), F.lit("vanished"))
        .when(F.col("then") != F.col("here"), F.lit("changed"))
    )
    moved = both.withColumn("how", how).where(F.col("how").isNotNull())
    explained = ours.select("levels", F.lit("target").alias("role"))
    return moved.join(explained, ["levels", "role"], "left_anti").select("source", "levels", "how")


def _digested(frame: DataFrame, name: str) -> DataFrame:
    parts = F.struct(*_COMPARED, by_key(known(F.col("properties"))).alias("properties"))
    namespaces = frame.where(F.col("object") == "namespace")
    return namespaces.select(*_KEY, F.col("role").alias(f"{name}_role"), F.sha2(F.to_json(parts), 256).alias(name))


def refuse_drift(moved: DataFrame) -> None:
    """Raise `PlanOutdated` that names up to five of the namespaces that moved."""
    first = moved.orderBy(*_KEY).limit(SHOWN + 1).collect()
    if not first:
        return
    named = "; ".join(f"{row['source']} {shown(tuple(row['levels']))} {row['how']}" for row in first[:SHOWN])
    more = " and more" if len(first) > SHOWN else ""
    raise PlanOutdated(
        f"moved since the plan was made: {named}{more}",
        where="drift",
        hint="run again: a new plan starts from what is there now",
    )


__all__ = ["drift", "refuse_drift"]
