"""Where two identifiers would be one, for any number of rows: in the target, or for Trino, which reads it.

`core.checking.collisions` and `core.checking.together` are the oracles.

What may meet is brought together by key; what is alone there is done with, the rest is looked at closely where it is.
No group has to fit into memory, also where a whole catalog collides.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import reduce
from operator import or_

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from nestsync.core.checking import messages
from nestsync.core.checking.collisions import EXISTING, EXPLICIT, SHOWN_OTHERS
from nestsync.core.checking.context import CheckContext
from nestsync.core.checking.messages import Slot
from nestsync.core.checking.rules import DANGEROUS, NAMESPACE
from nestsync.schemas import FINDING_FIELDS, LEVELS, MEMBER_FIELDS, contract
from nestsync.stages.check.candidates import candidates
from nestsync.stages.check.claimed import STORED, SUBJECT, WANTED, Claims, Keep, claimed, folded, target_text
from nestsync.stages.check.lowered import lowered_together
from nestsync.stages.check.sentences import Codebook, Entry, explained
from nestsync.stages.check.together import SCHEMA, shown_together
from nestsync.stages.columns import quoted, shown

_IDENTIFIER = ("is_table", *WANTED)
_VOICE = ("source", "levels", "name", "object")
_ORDER = ("final", "folded", "exact", *WANTED, *_VOICE)
_TOLD = (*dict.fromkeys(contract(*FINDING_FIELDS, *MEMBER_FIELDS).names), "leads")
"""The columns that are told of a claim in a group; each once."""


def collisions(
    judged: DataFrame,
    existing: DataFrame,
    context: CheckContext,
    *,
    keep: Keep = lambda _, frame: frame,
) -> DataFrame:
    """What of `judged` comes to one with each other or with what the target holds: a row for each such object.

    Columns of `FINDING_FIELDS` and `MEMBER_FIELDS`, each once, and ``leads``: the one row of each finding that is told
    in the findings, since its object is the first; only there are message and hint whole. `judged` and `existing` are
    those of `claimed`. Runs a few jobs, more where Trino reads it; the rest is lazy.
    """
    claims = claimed(judged, existing, context, keep)
    with ThreadPoolExecutor(1) as aside:  # both are many small jobs, each of which mostly waits for its plan
        in_trino = aside.submit(_one_schema, claims, context, keep)
        told = _told(_heard(_crowded(candidates(claims, context, keep), context)), _ladder(context), context)
        together = in_trino.result()
    return told if together is None else told.unionByName(together)


def _one_schema(claims: Claims, context: CheckContext, keep: Keep) -> DataFrame | None:
    together = shown_together(claims, context, keep)
    if together is None:
        return None
    crowded = keep("together", _crowded(together, context, SCHEMA))
    return None if crowded.isEmpty() else _told(_heard(crowded), _IN_TRINO, context)


def _crowded(claims: DataFrame, context: CheckContext, *more: str) -> DataFrame:
    """The claims on keys that several identifiers, or several source objects, want.

    Adds the texts ``exact``, ``folded`` and ``final`` (see `core.checking.collisions.Claim`); leaves those of `more`.
    """
    crowd, is_table = Window.partitionBy("crowd"), F.col("is_table")
    counted = claims.withColumn("identity", F.xxhash64(*WANTED)).withColumns(
        {
            "least": F.min("identity").over(crowd),
            "most": F.max("identity").over(crowd),
            "explicit": F.count_if(F.col("tier") == EXPLICIT).over(crowd),
        }
    )
    several = counted.where((F.col("least") != F.col("most")) | (F.col("explicit") > 1))
    return several.select(
        *SUBJECT,
        "tier",
        *_IDENTIFIER,
        "crowd",
        *more,
        target_text(context, is_table, *map(F.col, WANTED)).alias("exact"),
        target_text(context, is_table, *folded(context)).alias("folded"),
        target_text(context, is_table, *map(F.col, STORED)).alias("final"),
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
    """One way in which claims come to the same: those with equal `within`, where that are more than the closer way's.

    Without `how` it is nothing to be told: those are one already.
    """

    rule: str
    how: str | None
    within: tuple[str, ...]


_IN_TRINO = (
    _Relation(DANGEROUS, None, (SCHEMA, "final")),
    _Relation(DANGEROUS, messages.ONE_SCHEMA, (SCHEMA,)),
)


def _ladder(context: CheckContext) -> list[_Relation]:
    """From the closest to the widest: every group of one is a part of a group of the next."""
    final = ("is_table", "final")
    ladder = [
        _Relation("collision", messages.WANTED_TOO, _IDENTIFIER),
        _Relation("collision", messages.ONE_TEXT, (*final, "folded", "exact")),
    ]
    if context.folds:
        ladder.append(_Relation("case-collision", messages.ONE_CASE, (*final, "folded")))
    if context.normalizes:
        ladder.append(_Relation("normalization-collision", messages.ONE_FORM, final))
    return ladder


def _told(heard: DataFrame, ladder: Sequence[_Relation], context: CheckContext) -> DataFrame:
    """A row for each claim in each group of a relation that has something to tell: `_TOLD`."""
    codebook, hits = Codebook(), []
    known, closer = heard, F.lit(1)
    for index, relation in enumerate(ladder):
        known = _with_group(known, relation, index)
        size, first = F.col(f"size{index}"), F.col(f"first{index}")
        condition = (size > closer) & first.isNotNull()
        if relation.how == messages.WANTED_TOO:
            condition = condition & ~_merged(context)
        closer = size
        if relation.how is not None:
            code = _code(relation.rule, relation.how, codebook, context)
            leads = (first == F.struct(*_ORDER)).alias("leads")
            others = F.when(leads, _others(index, size)).alias("others")
            hits.append(F.when(condition, F.struct(code, first.alias("first"), leads, others)))
    found = known.withColumn("hit", F.explode(F.array_compact(F.array(*hits))))
    slots = {
        Slot.TARGET: shown(F.col("target_levels")),
        Slot.NAME: quoted(F.col("target_name")),
        Slot.OTHERS: F.col("others"),
    }
    told = explained(found.select(*SUBJECT, "tier", *WANTED, "hit.*"), codebook, slots)
    named = told.withColumns(
        {
            "name": _name(told),
            "finding": F.struct("first.source", "first.object", "first.levels", _name(F.col("first")).alias("name")),
            "role": F.when(F.col("tier") == EXISTING, "target").otherwise("source"),
        }
    )
    return lowered_together(named, ("code", "first"), context).select(*_TOLD)


def _name(of: DataFrame | Column) -> Column:
    """The name of a table or view; null for a namespace, whose name is empty so far."""
    return F.when(of["object"] != NAMESPACE, of["name"])


def _with_group(known: DataFrame, relation: _Relation, index: int) -> DataFrame:
    """`known` with the size of each row's group, the first claim in it that a source makes, and a few others.

    Since a row leaves out itself, one more than is shown is enough.
    """
    group = Window.partitionBy("crowd", *relation.within)
    label = F.concat(
        F.col("source"),
        F.lit(" "),
        shown(F.col("levels")),
        F.when(F.col("name") != "", F.concat(F.lit(" "), quoted(F.col("name")))).otherwise(""),
        F.when(F.col("tier") == EXISTING, F.lit(messages.ALREADY_THERE)).otherwise(""),
    )
    in_order = group.orderBy(*_ORDER)
    whole = in_order.rowsBetween(Window.unboundedPreceding, Window.unboundedFollowing)
    ranked = known.withColumns({"rank": F.row_number().over(in_order), f"size{index}": F.count(F.lit(1)).over(whole)})
    claim = F.struct(*_ORDER)
    member = F.when(F.col("rank") <= SHOWN_OTHERS + 1, F.struct("rank", claim.alias("claim"), label.alias("label")))
    return ranked.withColumns(
        {
            f"members{index}": F.collect_list(member).over(whole),
            f"first{index}": F.min(F.when(F.col("tier") != EXISTING, claim)).over(whole),
        }
    ).drop("rank")


def _merged(context: CheckContext) -> Column:
    merged = [
        F.array(*map(F.lit, levels)).cast(LEVELS) == F.col("target_levels") for levels in sorted(context.mapping.merge)
    ]
    return reduce(or_, merged, F.lit(False)) & ~F.col("is_table")


def _code(rule: str, how: str, codebook: Codebook, context: CheckContext) -> Column:
    of_table, of_namespace = (
        codebook.code(
            Entry(
                rule,
                str(context.severity(rule)),
                of_levels=False,
                sentence=messages.collision(how, table=table),
            )
        )
        for table in (True, False)
    )
    return F.when(F.col("is_table"), of_table).otherwise(of_namespace).alias("code")


def _others(index: int, size: Column) -> Column:
    """The first of the others by name, and how many more there are."""
    itself, more = F.struct(*_ORDER), size - 1 - SHOWN_OTHERS
    others = F.filter(f"members{index}", lambda member: member["claim"] != itself)
    first = F.slice(F.array_sort(others), 1, SHOWN_OTHERS)
    named = F.array_join(F.transform(first, lambda member: member["label"]), ", ")
    before, after = messages.AND_MORE
    rest = F.concat(F.lit(before), more.cast("string"), F.lit(after))
    return F.concat(named, F.when(more > 0, rest).otherwise(""))


__all__ = ["collisions"]
