"""Plan: the wanted tree against what the target holds; `core.plan.plan_actions` is the oracle."""

from __future__ import annotations

from collections.abc import Callable

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from nestsync.core import plan as core
from nestsync.core.plan import ActionKind, Strategy
from nestsync.schemas import ACTION_FIELDS, FINDING_FIELDS, contract
from nestsync.stages.columns import as_findings, by_key, known, no_properties, shown

Key = Callable[[Column], Column]
"""Which levels are one namespace in the target: equal keys are."""

_LANES = 4
_LANE_DIGITS = 16


def plan(
    wanted: DataFrame, held: DataFrame, strategy: Strategy, key: Key = lambda levels: levels
) -> tuple[DataFrame, DataFrame]:
    """The actions that make the target hold what is wanted (`schemas.ACTION_FIELDS`), and findings about the rest.

    `wanted` is in `schemas.WANTED_FIELDS`, `held` are the target's namespaces as inventoried (`NAMESPACE_FIELDS`).

    - What the target lacks is created, parents too; what it holds with equal wanted properties is a `noop`.
    - Where wanted keys differ, `upsert` sets those keys, `create-only` leaves them with a `target-difference`
      warning. Keys that only the target holds are nobody's business.
    - What is blocked stays blocked, whatever the target holds.
    - A namespace of the target that could not be read is left alone, with a warning.
    """
    compared = _compared(wanted, held, key)
    actions = compared.select(
        F.lit("").alias("action_id"),
        _kind(strategy).alias("kind"),
        "levels",
        _properties(strategy).alias("properties"),
        _reason(strategy).alias("reason"),
        "claimants",
    )
    identified = actions.withColumn("action_id", action_id()).select(*contract(*ACTION_FIELDS).names)
    return identified, _differences(compared, strategy)


def _compared(wanted: DataFrame, held: DataFrame, key: Key) -> DataFrame:
    """Each wanted namespace beside the one that the target holds for it, if any, and the keys that differ."""
    first = Window.partitionBy("key").orderBy("held_levels")
    there = (
        held.select(
            key(F.col("levels")).alias("key"),
            F.col("levels").alias("held_levels"),
            known(F.col("properties")).alias("held"),
            F.col("status").alias("held_status"),
            F.col("source").alias("held_source"),
            F.col("system").alias("held_system"),
        )
        .withColumn("place", F.row_number().over(first))
        .where(F.col("place") == 1)
        .drop("place")
    )
    both = wanted.withColumn("key", key(F.col("levels"))).join(there, "key", "left")
    changed = F.map_filter(F.col("properties"), lambda name, value: ~F.col("held")[name].eqNullSafe(value))
    return both.withColumn("changed", F.when(F.col("held_status") == "ok", changed))


def _absent() -> Column:
    return F.col("held_levels").isNull()


def _unreadable() -> Column:
    return F.col("held_status") != "ok"


def _equal() -> Column:
    return F.size("changed") == 0


def _kind(strategy: Strategy) -> Column:
    differs = ActionKind.NOOP if strategy is Strategy.CREATE_ONLY else ActionKind.SET_PROPERTIES
    return (
        F.when(F.col("blocked"), str(ActionKind.BLOCKED))
        .when(_absent(), str(ActionKind.CREATE_NAMESPACE))
        .when(_unreadable() | _equal(), str(ActionKind.NOOP))
        .otherwise(str(differs))
    )


def _properties(strategy: Strategy) -> Column:
    changed = no_properties() if strategy is Strategy.CREATE_ONLY else F.col("changed")
    return (
        F.when(F.col("blocked"), no_properties())
        .when(_absent(), F.col("properties"))
        .when(_unreadable(), no_properties())
        .otherwise(changed)
    )


def _reason(strategy: Strategy) -> Column:
    other_spelling = F.concat(F.lit(core.SPELLED), shown(F.col("held_levels")))
    spelled = F.when(F.col("held_levels") == F.col("levels"), F.lit("")).otherwise(other_spelling)
    differs = _differs(strategy)
    return (
        F.when(F.col("blocked"), F.lit(core.BLOCKED))
        .when(_absent() & F.col("explicit"), F.lit(core.ABSENT))
        .when(_absent(), F.lit(core.ABSENT_PARENT))
        .when(_unreadable(), F.concat(F.lit(core.UNREADABLE), spelled))
        .when(_equal(), F.concat(F.lit(core.EQUAL), spelled))
        .otherwise(F.concat(differs, spelled))
    )


def _differs(strategy: Strategy) -> Column:
    keys = shown(F.array_sort(F.map_keys("changed")))
    left_alone = core.LEFT_ALONE if strategy is Strategy.CREATE_ONLY else ""
    return F.concat(F.lit(core.DIFFERS), keys, F.lit(left_alone))


def _differences(compared: DataFrame, strategy: Strategy) -> DataFrame:
    """What stays different in the target, as warnings about the target's own namespace."""
    left_alone = (~_equal()) & F.lit(strategy is Strategy.CREATE_ONLY)
    unread = compared.where(~F.col("blocked") & ~_absent() & (_unreadable() | left_alone))
    subjects = unread.select(
        F.col("held_source").alias("source"),
        F.col("held_system").alias("system"),
        F.lit("namespace").alias("object"),
        F.col("levels").alias("wanted_levels"),
        F.col("held_levels").alias("levels"),
        F.lit(None).cast("string").alias("name"),
        "held_status",
        "changed",
    )
    found = as_findings(
        subjects,
        "target-difference",
        target_levels=F.col("wanted_levels"),
        message=F.when(_unreadable(), F.lit(core.UNREADABLE)).otherwise(_differs(strategy)),
        hint=F.when(_unreadable(), F.lit(core.UNREADABLE_HINT)).otherwise(F.lit(core.UPSERT_HINT)),
    )
    return found.select(*contract(*FINDING_FIELDS).names)


def action_id() -> Column:
    """`core.plan.action_id` of the columns ``kind``, ``levels`` and ``properties``."""
    pairs = F.transform(by_key(F.col("properties")), lambda pair: F.array(pair["key"], pair["value"]))
    what = F.struct(F.col("kind").alias("kind"), F.col("levels").alias("levels"), pairs.alias("properties"))
    return F.sha2(F.to_json(what), 256)


def plan_hash(actions: DataFrame) -> str:
    """`core.plan.plan_hash` of the column ``action_id``; one row comes to the driver, whatever the plan's size."""
    lanes = [
        F.sum(F.conv(F.substring("action_id", _LANE_DIGITS * lane + 1, _LANE_DIGITS), 16, 10).cast("decimal(38,0)"))
        for lane in range(_LANES)
    ]
    row = actions.agg(F.count("*"), *lanes).first()
    count, *sums = row if row is not None else (0,)
    return core.hash_of_sums(count, (int(total or 0) for total in sums))


def recomputed(actions: DataFrame) -> DataFrame:
    """`actions` with ids made anew from what they do: an edited row gets another id, and the plan another hash."""
    return actions.withColumn("action_id", action_id())


def counts_by_kind(actions: DataFrame) -> dict[str, int]:
    """How many actions there are of each kind, every kind named."""
    counted = {row["kind"]: row["count"] for row in actions.groupBy("kind").count().collect()}
    return {str(kind): counted.get(str(kind), 0) for kind in ActionKind}


__all__ = ["Key", "action_id", "counts_by_kind", "plan", "plan_hash", "recomputed"]
