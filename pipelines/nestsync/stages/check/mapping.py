"""The mapping as native column expressions; `core.mapping.map_identifier` is the oracle."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import reduce
from operator import and_, or_

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import StringType, StructField, StructType

from nestsync.catalogs.records import TABLE_FIELDS
from nestsync.core.mapping import MappedBy, Mapping, MappingRule, Rename
from nestsync.core.patterns import ANY_FURTHER, Pattern, glob_regex, is_glob
from nestsync.schemas import LEVELS, MAPPED_FIELDS, contract
from nestsync.stages.check.local import local_frame
from nestsync.stages.check.native import split_each

MAPPED_SCHEMA = contract(*TABLE_FIELDS, *MAPPED_FIELDS)

_RENAME_SCHEMA = StructType(
    [
        StructField("rename_source", StringType(), False),
        StructField("rename_levels", LEVELS, False),
        StructField("rename_name", StringType()),
        StructField("renamed_levels", LEVELS, False),
        StructField("renamed_name", StringType()),
    ]
)


def map_objects(objects: DataFrame, mapping: Mapping) -> DataFrame:
    """`objects` (``SCHEMAS["all"]``, more columns are left out) with `MAPPED_FIELDS`: a row in, a row out.

    An excluded object keeps its row: its rule is ``excluded`` and it has no target.
    """
    selected = _first(
        ((F.col("source") == rule.source) & _selects(rule), F.lit(index)) for index, rule in enumerate(mapping.rules)
    )
    ruled = sorted({rule.source for rule in mapping.rules})
    chosen = objects.withColumn("_rule", selected).withColumn(
        "_excluded", F.col("source").isin(ruled) & F.col("_rule").isNull() if ruled else F.lit(False)
    )
    # Columns of their own, so that each is worked out once however often the next ones name it.
    kept_levels = chosen.withColumn("_kept", _by_rule(mapping.rules, _kept, ("drop",), F.col("levels")))
    segments = kept_levels.withColumn("_segments", _by_rule(mapping.rules, _segments, ("split",), F.col("_kept")))
    renamed = _with_renames(segments, mapping.renames)
    shape = ("flatten", "depth", "prefix")
    target_levels = _by_rule(mapping.rules, _target, shape, F.col("_segments"))
    mapped_by = _by_rule(mapping.rules, _word, ("drop", "split", *shape), F.lit(str(MappedBy.IDENTITY)))
    is_renamed = F.col("_renamed").isNotNull()
    kept = ~F.col("_excluded")
    return renamed.select(
        *(field.name for field in TABLE_FIELDS),
        F.when(kept, F.when(is_renamed, F.col("_renamed.levels")).otherwise(target_levels)).alias("target_levels"),
        F.when(kept, F.when(is_renamed, F.col("_renamed.name")).otherwise(F.col("name"))).alias("target_name"),
        F.when(~kept, F.lit(str(MappedBy.EXCLUDED)))
        .when(is_renamed, F.lit(str(MappedBy.RENAME)))
        .otherwise(mapped_by)
        .alias("mapping_rule"),
    )


def _first(cases: Iterable[tuple[Column, Column]]) -> Column:
    """The value of the first case that holds, or null."""
    found: Column | None = None
    for condition, value in cases:
        found = F.when(condition, value) if found is None else found.when(condition, value)
    return F.lit(None) if found is None else found


def _selects(rule: MappingRule) -> Column:
    included = reduce(or_, map(_matches, rule.include), F.lit(False)) if rule.include else F.lit(True)
    excluded = reduce(or_, map(_matches, rule.exclude), F.lit(False))
    return included & ~excluded


def _matches(pattern: Pattern) -> Column:
    levels = F.col("levels")
    open_ended = pattern[-1:] == (ANY_FURTHER,)
    fixed = pattern[:-1] if open_ended else pattern
    depth = F.size(levels) >= len(fixed) if open_ended else F.size(levels) == len(fixed)
    return reduce(and_, (_level_matches(F.get(levels, F.lit(i)), glob) for i, glob in enumerate(fixed)), depth)


def _level_matches(level: Column, glob: str) -> Column:
    if set(glob) == {"*"}:
        return F.lit(True)
    # A level that is not there is null, and the condition on the depth is false then: never null in sum.
    return level.rlike(glob_regex(glob)) if is_glob(glob) else level == glob


def _by_rule(
    rules: tuple[MappingRule, ...], value: Callable[[MappingRule], Column], facts: Sequence[str], otherwise: Column
) -> Column:
    """`value` of the rule that selected the row; `otherwise` where none did.

    Rules with the same `facts`, which are all that `value` reads, have one case: a method of many is too long for Java.
    """
    alike: dict[tuple[object, ...], list[int]] = {}
    for index, rule in enumerate(rules):
        alike.setdefault(tuple(getattr(rule, fact) for fact in facts), []).append(index)
    cases = _first((F.col("_rule").isin(numbers), value(rules[numbers[0]])) for numbers in alike.values())
    return F.coalesce(cases, otherwise) if rules else otherwise


def _kept(rule: MappingRule) -> Column:
    levels = F.col("levels")
    return F.slice(levels, rule.drop + 1, F.size(levels)) if rule.drop else levels


def _segments(rule: MappingRule) -> Column:
    return F.col("_kept") if rule.split is None else split_each(F.col("_kept"), rule.split)


def _target(rule: MappingRule) -> Column:
    segments = F.col("_segments")
    if rule.flatten is not None:
        deep = F.array_join(F.slice(segments, rule.depth, F.size(segments)), rule.flatten)
        flat = F.concat(F.slice(segments, 1, rule.depth - 1), F.array(deep))
        segments = F.when(F.size(segments) > rule.depth, flat).otherwise(segments)
    return F.concat(F.array(*map(F.lit, rule.prefix)), segments) if rule.prefix else segments


def _word(rule: MappingRule) -> Column:
    word = F.lit(str(MappedBy.IDENTITY))
    if rule.drop:
        word = F.when(F.size("levels") > 0, F.lit(str(MappedBy.DROP))).otherwise(word)
    if rule.prefix:
        word = F.lit(str(MappedBy.PREFIX))
    if rule.split is not None:
        word = F.when(F.size("_segments") != F.size("_kept"), F.lit(str(MappedBy.SPLIT))).otherwise(word)
    if rule.flatten is not None:
        word = F.when(F.size("_segments") > rule.depth, F.lit(str(MappedBy.FLATTEN))).otherwise(word)
    return word


def _with_renames(objects: DataFrame, renames: tuple[Rename, ...]) -> DataFrame:
    """`objects` with ``_renamed``, a struct of levels and name: of the object's own rename, else its namespace's."""
    if not renames:
        return objects.withColumn("_renamed", F.lit(None).cast(StructType([_LEVELS_FIELD, _NAME_FIELD])))
    spark = objects.sparkSession
    own = F.broadcast(_rename_frame(spark, renames))
    of_namespaces = F.broadcast(_rename_frame(spark, tuple(r for r in renames if r.identifier.name is None)))
    by_object = objects.join(
        own,
        (F.col("source") == F.col("rename_source"))
        & (F.col("levels") == F.col("rename_levels"))
        & F.col("name").eqNullSafe(F.col("rename_name")),
        "left",
    ).withColumn("_own", _renamed_to())
    by_namespace = by_object.drop(*_RENAME_SCHEMA.fieldNames()).join(
        of_namespaces,
        F.col("name").isNotNull()
        & (F.col("source") == F.col("rename_source"))
        & (F.col("levels") == F.col("rename_levels")),
        "left",
    )
    moved = F.when(
        F.col("renamed_levels").isNotNull(),
        F.struct(F.col("renamed_levels").alias("levels"), F.col("name").alias("name")),
    )
    return by_namespace.withColumn("_renamed", F.coalesce(F.col("_own"), moved))


_LEVELS_FIELD = StructField("levels", LEVELS)
_NAME_FIELD = StructField("name", StringType())


def _renamed_to() -> Column:
    return F.when(
        F.col("renamed_levels").isNotNull(),
        F.struct(F.col("renamed_levels").alias("levels"), F.col("renamed_name").alias("name")),
    )


def _rename_frame(spark: SparkSession, renames: tuple[Rename, ...]) -> DataFrame:
    rows = [
        {
            "rename_source": rename.source,
            "rename_levels": list(rename.identifier.levels),
            "rename_name": rename.identifier.name,
            "renamed_levels": list(rename.target.levels),
            "renamed_name": rename.target.name,
        }
        for rename in renames
    ]
    return local_frame(spark, rows, _RENAME_SCHEMA)
