"""Verify: read the target again, and name whatever is not as planned."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from nestsync.core.plan import ActionKind, Strategy
from nestsync.schemas import DIFFERENCE_FIELDS, contract
from nestsync.stages.columns import known, shown
from nestsync.stages.journal import Event

MISSING = "the target does not hold it"
UNREADABLE = "the target holds it and could not read it"
DIFFERS = "it differs from the plan in "


def verify(actions: DataFrame, ledger: DataFrame, held: DataFrame, strategy: Strategy) -> DataFrame:
    """What the target does not hold as planned (`schemas.DIFFERENCE_FIELDS`); empty where all is well.

    `actions` are the plan (`schemas.ACTION_FIELDS`), `held` the target's namespaces as just read, `ledger` what this
    run did. Every namespace of the plan that is not blocked has to be there, with the properties that were set; keys
    that only the target holds are nobody's business. Under create-only a namespace that somebody else made first may
    differ: its action was skipped, and said so.
    """
    planned = actions.where(F.col("kind") != str(ActionKind.BLOCKED)).select("action_id", "levels", "properties")
    if strategy is Strategy.CREATE_ONLY:
        ours = ledger.where(F.col("event") == str(Event.APPLIED)).select("action_id").distinct()
        planned = planned.join(ours.withColumn("ours", F.lit(True)), "action_id", "left").withColumn(
            "properties", F.when(F.col("ours"), F.col("properties"))
        )
    target = held.select("levels", known(F.col("properties")).alias("held"), "status")
    both = planned.join(target, "levels", "left")
    wrong = F.map_filter(known(F.col("properties")), lambda key, value: ~F.col("held")[key].eqNullSafe(value))
    detail = (
        F.when(F.col("status").isNull(), F.lit(MISSING))
        .when(F.col("status") != "ok", F.lit(UNREADABLE))
        .when(F.size(wrong) > 0, F.concat(F.lit(DIFFERS), shown(F.array_sort(F.map_keys(wrong)))))
    )
    return (
        both.select("levels", detail.alias("detail"))
        .where(F.col("detail").isNotNull())
        .select(*contract(*DIFFERENCE_FIELDS).names)
    )
