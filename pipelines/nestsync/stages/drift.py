"""Drift: what moved in a source or in the target between the inventory that a plan stands on and now."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from nestsync.core.identifiers import shown
from nestsync.core.plan import ActionKind
from nestsync.errors import PlanOutdated
from nestsync.stages import columns
from nestsync.stages.columns import absent_text, as_findings, known
from nestsync.stages.journal import Event

DRIFT = "drift"
"""The rule."""
SHOWN = 5
_KEY = ("role", "source", "levels")
_OWN_FIELDS = ("owner", "comment", "location")
_HINT = "run again: a new plan starts from what is there now"


def drift(before: DataFrame, now: DataFrame, ledger: DataFrame) -> DataFrame:
    """A `drift` finding (`schemas.FINDING_FIELDS`) for every namespace that appeared, vanished or changed.

    `before` and `now` hold the namespaces of sources and target (`schemas.NAMESPACE_FIELDS` and ``role``; rows of
    other objects are left out). Compared are properties, owner, comment, location and status.

    What this run did to the target itself is not drift: a namespace that its `ledger` (`LEDGER_FIELDS`) meant to
    create, and a value that it meant to set, whether or not the outcome was written down. Another value than the
    one that was meant is drift, and so is everything that vanished: nothing is ever removed.
    """
    then, here = _rows(before, "then"), _rows(now, "here")
    both = then.join(here, [*_KEY, "which"], "full_outer").join(_meant(ledger), ["role", "levels"], "left")
    moved = both.withColumn("how", _how()).where(F.col("how").isNotNull())
    subject = moved.select(
        "source",
        F.coalesce("here.system", "then.system").alias("system"),
        F.lit("namespace").alias("object"),
        "levels",
        absent_text().alias("name"),
        "role",
        "how",
    )
    return as_findings(
        subject,
        DRIFT,
        target_levels=F.when(F.col("role") == "target", F.col("levels")),
        message=F.col("how"),
        hint=F.lit(_HINT),
    )


def _rows(frame: DataFrame, name: str) -> DataFrame:
    """Under `_KEY` and ``which``: a catalog that tells of one name more than once has a row each time."""
    held = F.struct("system", "status", *_OWN_FIELDS, known(F.col("properties")).alias("properties"))
    which = F.row_number().over(Window.partitionBy(*_KEY).orderBy("status", "error"))
    return frame.where(F.col("object") == "namespace").select(*_KEY, which.alias("which"), held.alias(name))


def _meant(ledger: DataFrame) -> DataFrame:
    """(role, levels, created, meant): what this run's intents explain in the target."""
    intents = ledger.where(F.col("event") == str(Event.INTENT)).select(
        F.lit("target").alias("role"),
        "levels",
        (F.col("kind") == str(ActionKind.CREATE_NAMESPACE)).alias("created"),
        F.map_entries(known(F.col("properties"))).alias("entries"),
    )
    return intents.groupBy("role", "levels").agg(
        F.max("created").alias("created"), F.array_distinct(F.flatten(F.collect_list("entries"))).alias("meant")
    )


def _how() -> Column:
    """What happened, in words, or null for nothing that the ledger does not explain."""
    keys = F.array_sort(
        F.filter(
            F.array_union(F.map_keys(_or_empty("then")), F.map_keys(_or_empty("here"))),
            lambda key: _unexplained(_value("then", key), _value("here", key), key),
        )
    )
    fields = F.array_compact(
        F.array(
            *(F.when(_unexplained(F.col(f"then.{f}"), F.col(f"here.{f}")), F.lit(f)) for f in _OWN_FIELDS),
            F.when(~F.col("then.status").eqNullSafe(F.col("here.status")), F.lit("status")),
        )
    )
    of_keys = F.when(F.size(keys) > 0, F.concat(F.lit("properties "), columns.shown(keys)))
    changes = F.array_join(F.array_compact(F.array_append(fields, of_keys)), ", ")
    made_by_us = F.coalesce("created", F.lit(False)) & ~_other_than_meant()
    return (
        F.when(F.col("here").isNull(), F.lit("vanished"))
        .when(F.col("then").isNull(), F.when(~made_by_us, F.lit("appeared")))
        .when(changes != "", F.concat(F.lit("changed: "), changes))
    )


def _value(side: str, key: Column) -> Column:
    return F.try_element_at(_or_empty(side), key)


def _or_empty(side: str) -> Column:
    return F.coalesce(F.col(f"{side}.properties"), columns.no_properties())


def _unexplained(old: Column, new: Column, key: Column | None = None) -> Column:
    """Whether a value changed to one that this run did not mean; of a field, whatever the key it is kept under."""

    def is_it(entry: Column) -> Column:
        same = entry["value"].eqNullSafe(new)
        return same if key is None else same & (entry["key"] == key)

    meant = F.coalesce(F.exists("meant", is_it), F.lit(False))
    return ~old.eqNullSafe(new) & ~meant


def _other_than_meant() -> Column:
    """Whether a namespace that this run created holds another value under a key that it was created with."""

    def differs(entry: Column) -> Column:
        value = _value("here", entry["key"])
        meant = F.exists("meant", lambda other: (other["key"] == entry["key"]) & (other["value"] == value))
        return value.isNotNull() & ~meant

    return F.coalesce(F.exists("meant", differs), F.lit(False))


def refuse_drift(moved: DataFrame) -> None:
    """Raise `PlanOutdated` that names up to five of the namespaces that `drift` found."""
    first = moved.orderBy("source", "levels").limit(SHOWN + 1).collect()
    if not first:
        return
    named = "; ".join(f"{row['source']} {shown(tuple(row['levels']))} {row['message']}" for row in first[:SHOWN])
    more = " and more" if len(first) > SHOWN else ""
    raise PlanOutdated(f"moved since the plan was made: {named}{more}", where=DRIFT, hint=_HINT)


__all__ = ["DRIFT", "SHOWN", "drift", "refuse_drift"]
