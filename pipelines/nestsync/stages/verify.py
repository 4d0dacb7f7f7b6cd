"""Verify: read the target again, and name whatever is not as planned."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from nestsync.core.plan import ActionKind, Strategy
from nestsync.schemas import DIFFERENCE_FIELDS, contract
from nestsync.stages.columns import known, no_properties, shown
from nestsync.stages.journal import Event
from nestsync.stages.plan import Key, exact

MISSING = "the target does not hold it"
UNREADABLE = "the target holds it and could not read it"
DIFFERS = "it differs from the plan in "


def verify(
    actions: DataFrame, ledger: DataFrame, target_objects: DataFrame, strategy: Strategy, key: Key = exact
) -> DataFrame:
    """What the target does not hold as planned (`schemas.DIFFERENCE_FIELDS`); empty where all is well.

    `actions` are the plan (`schemas.ACTION_FIELDS`), `target_objects` the target's inventory as just read
    (`NAMESPACE_FIELDS`; rows of other objects are left out), `ledger` what this run did (`LEDGER_FIELDS`), `key` that
    of `stages.plan.plan`. Every namespace of the plan that is not blocked has to be there, with the properties that
    were set; keys that only the target holds are nobody's business. Create-only answers for the properties of what
    this run created, and of nothing else: what was there before it, or first, may differ, or be unreadable.
    """
    planned = actions.where(F.col("kind") != str(ActionKind.BLOCKED))
    applied = ledger.where(F.col("event") == str(Event.APPLIED)).select("action_id").distinct()
    marked = planned.join(applied.withColumn("_applied", F.lit(True)), "action_id", "left")
    answers = F.col("_applied").isNotNull() | F.lit(strategy is not Strategy.CREATE_ONLY)
    expected = marked.select(
        "levels",
        key(F.col("levels")).alias("_key"),
        answers.alias("answers"),
        F.when(answers, known(F.col("properties"))).otherwise(no_properties()).alias("expected"),
    )
    namespaces = target_objects.where(F.col("object") == "namespace").select(
        key(F.col("levels")).alias("_key"),
        F.struct(F.col("levels").alias("spelled"), "status", known(F.col("properties")).alias("properties")).alias(
            "row"
        ),
    )
    held = namespaces.groupBy("_key").agg(F.min_by("row", "row.spelled").alias("held"))
    differing = F.filter(
        F.map_keys("expected"),
        lambda name: ~F.try_element_at("expected", name).eqNullSafe(F.try_element_at("held.properties", name)),
    )
    detail = (
        F.when(F.col("held").isNull(), F.lit(MISSING))
        .when((F.col("held.status") != "ok") & F.col("answers"), F.lit(UNREADABLE))
        .when(F.size("differing") > 0, F.concat(F.lit(DIFFERS), shown(F.array_sort("differing"))))
    )
    compared = expected.join(held, "_key", "left").withColumn("differing", differing)
    return (
        compared.select("levels", detail.alias("detail"))
        .where(F.col("detail").isNotNull())
        .select(*contract(*DIFFERENCE_FIELDS).names)
    )


__all__ = ["DIFFERS", "MISSING", "UNREADABLE", "verify"]
