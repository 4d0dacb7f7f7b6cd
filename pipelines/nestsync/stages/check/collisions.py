"""Where two identifiers would be one in the target, for any number of rows; `core.checking.collisions` is the oracle.

Ordinary identifiers that differ never meet, so that most rows are done with once it is known that no odd one, and no
second object, wants their key. What is left is brought together by key; what is alone there is done with, the rest is
looked at closely where it is. No group has to fit into memory, also where a whole catalog collides.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from operator import or_

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from nestsync.core.checking import messages
from nestsync.core.checking.collisions import EXISTING, EXPLICIT, IMPLIED, SHOWN_OTHERS
from nestsync.core.checking.context import CheckContext
from nestsync.core.checking.messages import Slot
from nestsync.core.checking.ordinary import in_target
from nestsync.core.checking.rules import MOVED, NAMESPACE
from nestsync.schemas import FINDING_FIELDS, LEVELS
from nestsync.stages.check.columns import native
from nestsync.stages.check.native import split
from nestsync.stages.check.nfc import normalised
from nestsync.stages.check.ordinary import is_ordinary, ordinary_text
from nestsync.stages.check.sentences import Codebook, Entry, explained
from nestsync.stages.columns import quoted, shown

FEW_CROWDS = 500_000
"""So many keys, 8 bytes each, are handed to every task; more are brought to the rows by a shuffle."""

_SUBJECT = ("source", "system", "object", "levels", "name")
_WANTED = ("target_levels", "target_name")
_STORED = ("stored_levels", "stored_name")
_LEVELS = ("target_levels", "stored_levels")
_NAMES = ("target_name", "stored_name")
_BEYOND_ASCII = r"[^\x00-\x7F]"
_UPPER_OR_BEYOND_ASCII = rf"[A-Z]|{_BEYOND_ASCII}"
_IDENTIFIER = ("is_table", *_WANTED)
_VOICE = ("source", "levels", "name", "object")
_ORDER = ("folded", "exact", *_WANTED, *_VOICE)


def collisions(
    judged: DataFrame,
    existing: DataFrame,
    context: CheckContext,
    *,
    keep: Callable[[str, DataFrame], DataFrame] = lambda _, frame: frame,
) -> DataFrame:
    """The collisions of `judged` (`JUDGED_SCHEMA`) with each other and with what the target holds.

    In `FINDING_FIELDS`. `existing` are the target's own objects in ``SCHEMAS["all"]``. `keep` may persist frames that
    are read twice. Runs one job, which counts the keys that may be crowded; the rest is lazy.
    """
    plain, odd = _claims(judged, existing, context)
    odd = keep("odd-claims", odd)
    crowds = keep("crowds", odd.select("crowd").union(_repeated(plain)).distinct())
    few = crowds.count() <= FEW_CROWDS
    met = plain.join(F.broadcast(crowds) if few else crowds, "crowd", "left_semi")
    return _told(_heard(_crowded(_each_parent_once(met.unionByName(odd)), context)), context)


def _claims(judged: DataFrame, existing: DataFrame, context: CheckContext) -> tuple[DataFrame, DataFrame]:
    """Who wants what: `_SUBJECT`, ``tier``, `_IDENTIFIER`, what the target makes of these (`_STORED`), ``crowd``.

    First what is claimed under ordinary identifiers, which the target keeps as they are, each under a text of its own;
    then the rest. Names are empty texts for namespaces.
    """
    ordinary = in_target(context)
    wanted = judged.where(F.col("status").isin(*MOVED) & F.col("target_levels").isNotNull())
    there = existing.withColumn("ordinary", is_ordinary(ordinary, F.col("levels"), F.col("name")))

    def claims(of: Column) -> DataFrame:
        explicit = _claim(wanted.where(of), EXPLICIT, F.col("target_levels"), F.col("target_name"))
        return explicit.unionByName(_claim(there.where(of), EXISTING, F.col("levels"), F.col("name")))

    plain = claims(F.col("ordinary")).withColumns(dict(zip(_STORED, map(F.col, _WANTED), strict=True)))
    odd = _as_stored(claims(~F.col("ordinary")), context)
    if context.folds or context.normalizes:  # elsewhere, parents that differ are different parents
        odd = _each_parent_once(odd.unionByName(_implied(odd)))
        parents, is_ordinary_depth = _implied(plain), F.size("target_levels").isin(*ordinary.namespaces)
        plain = plain.unionByName(parents.where(is_ordinary_depth))
        if ordinary.depths_of_parents - ordinary.namespaces:
            odd = odd.unionByName(parents.where(~is_ordinary_depth))
    at, named = map(F.col, _STORED)
    text = _text(context, at, named)
    return _keyed(plain, ordinary_text(ordinary, context, at, named, text)), _keyed(odd, text)


def _keyed(claims: DataFrame, text: Column) -> DataFrame:
    """`claims` with ``crowd``, by which those that may be one in the target, being one `text`, are brought together."""
    return claims.withColumn("crowd", F.xxhash64("is_table", text))


def _repeated(plain: DataFrame) -> DataFrame:
    """The keys of what several source objects want under one ordinary identifier."""
    wanted = plain.where(F.col("tier") == EXPLICIT)
    return wanted.groupBy("crowd").agg(F.count(F.lit(1)).alias("number")).where(F.col("number") > 1).select("crowd")


def _claim(frame: DataFrame, tier: int, levels: Column, name: Column) -> DataFrame:
    return frame.select(
        "source",
        "system",
        "object",
        "levels",
        F.coalesce("name", F.lit("")).alias("name"),
        F.lit(tier).alias("tier"),
        name.isNotNull().alias("is_table"),
        levels.alias("target_levels"),
        F.coalesce(name, F.lit("")).alias("target_name"),
    )


def _implied(claims: DataFrame) -> DataFrame:
    """The parents of what is wanted, each as often as it is implied."""
    explicit = claims.where(F.col("tier") == EXPLICIT)
    depth = F.size("target_levels") - F.when(F.col("is_table"), 0).otherwise(1)
    each = explicit.where(depth > 0).withColumn("depth", F.explode(F.sequence(F.lit(1), depth)))
    return each.select(
        "source",
        "system",
        F.lit(NAMESPACE).alias("object"),
        "levels",
        F.lit("").alias("name"),
        F.lit(IMPLIED).alias("tier"),
        F.lit(False).alias("is_table"),
        *(F.slice(name, F.lit(1), F.col("depth")).alias(name) for name in _LEVELS),
        *(F.lit("").alias(name) for name in _NAMES),
    )


def _each_parent_once(claims: DataFrame) -> DataFrame:
    """`claims` with each parent implied by the smallest namespace alone: nobody else will be heard."""
    implied, voice = F.col("tier") == IMPLIED, ("source", "levels", "system")
    smallest = F.min(F.struct(*voice)).alias("smallest")
    others = [name for name in claims.columns if name not in voice]
    once = claims.where(implied).groupBy(*others).agg(smallest).select(*others, "smallest.*")
    return claims.where(~implied).unionByName(once)


def _as_stored(claims: DataFrame, context: CheckContext) -> DataFrame:
    """`claims` with what the target makes of levels and name, in `_STORED`."""
    stored = claims.withColumns(dict(zip(_STORED, _folded(context), strict=True)))
    if not context.normalizes:
        return stored
    odd = _characters().rlike(_BEYOND_ASCII)
    return stored.where(~odd).unionByName(normalised(stored.where(odd), *_STORED))


def _folded(context: CheckContext) -> tuple[Column, Column]:
    levels, name = F.col("target_levels"), F.col("target_name")
    if not context.folds:
        return levels, name
    # One look at all characters leaves most levels as they are; going through them one by one takes longer.
    changes = _characters().rlike(_UPPER_OR_BEYOND_ASCII)
    return F.when(changes, F.transform(levels, F.lower)).otherwise(levels), F.lower(name)


def _characters() -> Column:
    return F.concat(F.array_join("target_levels", ""), F.col("target_name"))


def _text(context: CheckContext, levels: Column, name: Column) -> Column:
    """What the target writes, read through the configured hierarchy first."""
    separator = context.separator
    if separator:
        parts = F.flatten(F.transform(levels, lambda level: split(level, separator)))
        levels = F.when(F.array_join(levels, "").contains(separator), parts).otherwise(levels)
    if context.target is None:
        return F.to_json(F.array(F.to_json(levels), name))
    own = native(context.target.dialect.open())
    return F.when(F.col("is_table"), own.render_table(levels, name)).otherwise(own.render(levels))


def _crowded(claims: DataFrame, context: CheckContext) -> DataFrame:
    """The claims on keys that several identifiers, or several source objects, want.

    Adds ``crowd``, by which rows are brought together, and the texts ``exact``, ``folded`` and ``final`` (see
    `core.checking.collisions.Claim`).
    """
    final = _text(context, *map(F.col, _STORED))
    crowd = Window.partitionBy("crowd")
    together = claims.withColumns({"crowd": F.xxhash64("is_table", final), "identity": F.xxhash64(*_WANTED)})
    counted = together.withColumns(
        {
            "least": F.min("identity").over(crowd),
            "most": F.max("identity").over(crowd),
            "explicit": F.count_if(F.col("tier") == EXPLICIT).over(crowd),
        }
    )
    several = counted.where((F.col("least") != F.col("most")) | (F.col("explicit") > 1))
    return several.select(
        *_SUBJECT,
        "tier",
        *_IDENTIFIER,
        "crowd",
        _text(context, F.col("target_levels"), F.col("target_name")).alias("exact"),
        _text(context, *_folded(context)).alias("folded"),
        final.alias("final"),
    )


def _heard(claims: DataFrame) -> DataFrame:
    """Of each identifier, the explicit claims; without any, the smallest that implies it; else what exists.

    Each once: several tables imply one parent, and a reader may have told of an object twice.
    """
    in_order = Window.partitionBy("crowd", *_IDENTIFIER).orderBy("tier", *_VOICE)
    voice = F.struct("tier", *_VOICE)
    placed = claims.withColumns(
        {
            "loudest": F.first("tier").over(in_order),
            "place": F.row_number().over(in_order),
            "repeated": F.coalesce(F.lag(voice).over(in_order) == voice, F.lit(False)),
        }
    )
    explicit = (F.col("tier") == EXPLICIT) & ~F.col("repeated")
    return placed.where((F.col("tier") == F.col("loudest")) & (explicit | (F.col("place") == 1))).drop(
        "loudest", "place", "repeated"
    )


@dataclass(frozen=True)
class _Relation:
    """One way in which others come to the same: those with equal `within`, and with another `apart`."""

    rule: str
    how: str
    within: tuple[str, ...]
    apart: tuple[str, ...]


def _ladder(context: CheckContext) -> list[_Relation]:
    """From the closest to the widest: every group of one is a part of a group of the next."""
    final = ("is_table", "final")
    ladder = [
        _Relation("collision", messages.WANTED_TOO, _IDENTIFIER, _VOICE),
        _Relation("collision", messages.ONE_TEXT, (*final, "folded", "exact"), _WANTED),
    ]
    if context.folds:
        ladder.append(_Relation("case-collision", messages.ONE_CASE, (*final, "folded"), ("exact",)))
    if context.normalizes:
        ladder.append(_Relation("normalization-collision", messages.ONE_FORM, final, ("folded",)))
    return ladder


def _told(heard: DataFrame, context: CheckContext) -> DataFrame:
    """A finding for each claim and each relation in which it has others."""
    codebook, hits = Codebook(), []
    known, closer, named = heard, F.lit(1), F.lit(True)
    for index, relation in enumerate(_ladder(context)):
        known, named = _with_group(known, relation, index, named)
        more = F.col(f"size{index}") - closer
        condition = more > 0
        if relation.how == messages.WANTED_TOO:
            condition = condition & ~_merged(context)
        hits.append(F.when(condition, F.struct(_code(relation, codebook, context), _others(relation, index, more))))
        closer = F.col(f"size{index}")
    found = known.where(F.col("tier") != EXISTING).withColumn("hit", F.explode(F.array_compact(F.array(*hits))))
    slots = {
        Slot.TARGET: shown(F.col("target_levels")),
        Slot.NAME: quoted(F.col("target_name")),
        Slot.OTHERS: F.col("others"),
    }
    told = explained(found.select(*_SUBJECT, "target_levels", "target_name", "hit.*"), codebook, slots)
    return told.withColumn("name", F.when(F.col("object") != NAMESPACE, F.col("name"))).select(
        *(field.name for field in FINDING_FIELDS)
    )


def _with_group(known: DataFrame, relation: _Relation, index: int, named: Column) -> tuple[DataFrame, Column]:
    """`known` with the size of each row's group, and those of it that can be among the first others of any row.

    `named` is whether a row can be named in the closer groups; returned is the same for this group. Since a row
    leaves out one part of its group (its own closer group), one part more than is shown is enough.
    """
    group = Window.partitionBy("crowd", *relation.within)
    rank, size, members = f"rank{index}", f"size{index}", f"members{index}"
    label = F.concat(
        F.col("source"),
        F.lit(" "),
        shown(F.col("levels")),
        F.when(F.col("name") != "", F.concat(F.lit(" "), quoted(F.col("name")))).otherwise(""),
        F.when(F.col("tier") == EXISTING, F.lit(messages.ALREADY_THERE)).otherwise(""),
    )
    in_order = group.orderBy(*relation.apart)
    whole = in_order.rowsBetween(Window.unboundedPreceding, Window.unboundedFollowing)
    ranked = known.withColumns({rank: F.dense_rank().over(in_order), size: F.count(F.lit(1)).over(whole)})
    member = F.when(named & (F.col(rank) <= SHOWN_OTHERS + 1), F.struct(*_ORDER, label.alias("label")))
    known = ranked.withColumn(members, F.sort_array(F.collect_list(member).over(whole)))
    return known, named & (F.col(rank) <= SHOWN_OTHERS)


def _merged(context: CheckContext) -> Column:
    merged = [
        F.array(*map(F.lit, levels)).cast(LEVELS) == F.col("target_levels") for levels in sorted(context.mapping.merge)
    ]
    return reduce(or_, merged, F.lit(False)) & ~F.col("is_table")


def _code(relation: _Relation, codebook: Codebook, context: CheckContext) -> Column:
    of_table, of_namespace = (
        codebook.code(
            Entry(
                relation.rule,
                str(context.severity(relation.rule)),
                of_levels=False,
                sentence=messages.collision(relation.how, table=table),
            )
        )
        for table in (True, False)
    )
    return F.when(F.col("is_table"), of_table).otherwise(of_namespace).alias("code")


def _others(relation: _Relation, index: int, more: Column) -> Column:
    """The first of the others by name, and how many more there are."""

    def is_other(member: Column) -> Column:
        return reduce(or_, (member[name] != F.col(name) for name in relation.apart))

    first = F.slice(F.filter(f"members{index}", is_other), 1, SHOWN_OTHERS)
    named = F.array_join(F.transform(first, lambda member: member["label"]), ", ")
    before, after = messages.AND_MORE
    rest = F.concat(F.lit(before), (more - SHOWN_OTHERS).cast("string"), F.lit(after))
    return F.concat(named, F.when(more > SHOWN_OTHERS, rest).otherwise("")).alias("others")


__all__ = ["collisions"]
