"""From the wanted tree to actions; `core.plan.plan_actions` is the oracle."""

from __future__ import annotations

from collections.abc import Callable

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from nestsync.core.plan import (
    ABSENT,
    ABSENT_PARENT,
    BLOCKED,
    DIFFERS,
    EQUAL,
    LEFT_ALONE,
    SPELLED,
    UNREADABLE,
    UNREADABLE_HINT,
    UPSERT_HINT,
    ActionKind,
    Strategy,
    hash_of_sums,
)
from nestsync.schemas import ACTION_FIELDS
from nestsync.stages.columns import absent_text, as_declared, as_findings, by_key, known, no_properties, shown

Key = Callable[[Column], Column]
"""What decides whether two levels are one namespace in the target: equal keys (folded, normalised) mean equal."""

DIFFERENCE = "target-difference"
"""The rule of what create-only leaves alone."""
ROWS_A_PARTITION = 10_000
"""How many rows of a plan are on the driver at once while it is streamed."""


def exact(levels: Column) -> Column:
    """The key of a target that keeps names as they are."""
    return levels


def plan(
    wanted: DataFrame, target_objects: DataFrame, strategy: Strategy, key: Key = exact
) -> tuple[DataFrame, DataFrame]:
    """The actions that make the target hold what is wanted (`schemas.ACTION_FIELDS`), and findings about it.

    `wanted` is in `schemas.WANTED_FIELDS`, `target_objects` the target's inventory in `NAMESPACE_FIELDS` (rows of
    other objects are left out). Every wanted namespace gets one action, by what the target holds under its key:

    - blocked: ``blocked``, whatever the target holds;
    - nothing: ``create_namespace`` with all wanted properties;
    - a namespace that could not be read: ``noop`` and a `target-difference`, for nothing can be compared;
    - all wanted keys with equal values: ``noop``. Keys that only the target has (it may add some by itself) are
      left alone and are no difference;
    - other values: under `create-only` a ``noop`` that lists the keys and a `target-difference` warning, under
      `upsert` ``set_properties`` with the keys that differ.

    Neither frame is sorted: `in_order` is the order of a plan. Lazy, and both inputs are read twice.
    """
    compared = _compared(wanted, target_objects, key)
    decided = compared.select("*", _kind(strategy).alias("kind")).select(
        "*", _set(strategy).alias("set"), _reason(strategy).alias("reason")
    )
    actions = decided.select("kind", "levels", F.col("set").alias("properties"), "reason", "claimants").select(
        action_id().alias("action_id"), "*"
    )
    return (
        as_declared(actions, ACTION_FIELDS),
        _differences(compared, strategy),
    )


def _compared(wanted: DataFrame, target_objects: DataFrame, key: Key) -> DataFrame:
    """`wanted` with ``held`` (the target's namespace, or null) and ``keys``, those that differ in it."""
    namespaces = target_objects.where(F.col("object") == "namespace")
    row = F.struct("source", "system", "levels", "status", known(F.col("properties")).alias("properties"))
    # Where the target lists two spellings of one key, the smallest stands for both.
    held = namespaces.groupBy(key(F.col("levels")).alias("_key")).agg(F.min_by(row, "levels").alias("held"))
    joined = wanted.withColumn("_key", key(F.col("levels"))).join(held, "_key", "left").drop("_key")
    differing = F.filter(
        F.map_keys("properties"),
        lambda name: ~F.try_element_at("properties", name).eqNullSafe(F.try_element_at("held.properties", name)),
    )
    return joined.withColumn("keys", F.array_sort(differing))


def _unreadable() -> Column:
    return F.col("held.status") != "ok"


def _equal() -> Column:
    return F.size("keys") == 0


def _kind(strategy: Strategy) -> Column:
    differs = ActionKind.NOOP if strategy is Strategy.CREATE_ONLY else ActionKind.SET_PROPERTIES
    return (
        F.when(F.col("blocked"), str(ActionKind.BLOCKED))
        .when(F.col("held").isNull(), str(ActionKind.CREATE_NAMESPACE))
        .when(_unreadable() | _equal(), str(ActionKind.NOOP))
        .otherwise(str(differs))
    )


def _set(strategy: Strategy) -> Column:
    changed = F.map_filter("properties", lambda name, _: F.array_contains("keys", name))
    creates = F.col("kind") == str(ActionKind.CREATE_NAMESPACE)
    return (
        F.when(creates, F.col("properties"))
        .when(F.col("kind") == str(ActionKind.SET_PROPERTIES), changed)
        .otherwise(no_properties())
    )


def _reason(strategy: Strategy) -> Column:
    spelled = F.when(F.col("held.levels") != F.col("levels"), F.concat(F.lit(SPELLED), shown(F.col("held.levels"))))
    held = F.when(_unreadable(), F.lit(UNREADABLE)).when(_equal(), F.lit(EQUAL)).otherwise(_differs(strategy))
    return (
        F.when(F.col("blocked"), BLOCKED)
        .when(F.col("held").isNull(), F.when(F.col("explicit"), ABSENT).otherwise(ABSENT_PARENT))
        .otherwise(F.concat(held, F.coalesce(spelled, F.lit(""))))
    )


def _differs(strategy: Strategy) -> Column:
    left_alone = LEFT_ALONE if strategy is Strategy.CREATE_ONLY else ""
    return F.concat(F.lit(DIFFERS), shown(F.col("keys")), F.lit(left_alone))


def _differences(compared: DataFrame, strategy: Strategy) -> DataFrame:
    """A warning for each namespace that the strategy leaves other than wanted, about the target's own."""
    left_alone = F.lit(strategy is Strategy.CREATE_ONLY) & ~_equal()
    rows = compared.where(~F.col("blocked") & F.col("held").isNotNull() & (_unreadable() | left_alone))
    subject = rows.select(
        F.col("levels").alias("wanted"),
        "held.source",
        "held.system",
        F.lit("namespace").alias("object"),
        "held.levels",
        absent_text().alias("name"),
        "held",
        "keys",
    )
    return as_findings(
        subject,
        DIFFERENCE,
        target_levels=F.col("wanted"),
        message=F.when(_unreadable(), F.lit(UNREADABLE)).otherwise(_differs(strategy)),
        hint=F.when(_unreadable(), F.lit(UNREADABLE_HINT)).otherwise(F.lit(UPSERT_HINT)),
    )


def action_id() -> Column:
    """`core.plan.action_id` of the columns ``kind``, ``levels`` and ``properties``."""
    pairs = F.transform(by_key(F.col("properties")), lambda entry: F.array(entry["key"], entry["value"]))
    return F.sha2(F.to_json(F.struct("kind", "levels", pairs.alias("properties"))), 256)


def plan_hash(actions: DataFrame) -> str:
    """`core.plan.plan_hash` of the actions' ids: one row comes to the driver, however many there are."""
    lanes = [
        F.sum(F.conv(F.substring("action_id", 16 * lane + 1, 16), 16, 10).cast("decimal(20,0)")) for lane in range(4)
    ]
    ((count, *sums),) = actions.agg(F.count(F.lit(1)), *lanes).collect()
    return hash_of_sums(count, (int(lane or 0) for lane in sums))


def in_order(actions: DataFrame, count: int | None = None) -> DataFrame:
    """The actions in the order of a plan: parents first, by levels among equals; fit to be streamed.

    Partitions hold about `ROWS_A_PARTITION` rows, because ``toLocalIterator`` brings one at a time to the driver;
    `count` saves counting the rows.
    """
    rows = actions.count() if count is None else count
    order = [F.size("levels"), F.col("levels")]
    return actions.repartitionByRange(rows // ROWS_A_PARTITION + 1, *order).sortWithinPartitions(*order)


__all__ = ["DIFFERENCE", "ROWS_A_PARTITION", "Key", "action_id", "exact", "in_order", "plan", "plan_hash"]
