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

from pyspark.sql import Column, DataFrame, Window, WindowSpec
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
from nestsync.stages.columns import each_of, quoted, shown

_IDENTIFIER = ("is_table", *WANTED)
_VOICE = ("source", "levels", "name", "object")
_ORDER = ("is_table", "final", "folded", "exact", *WANTED, "tier", *_VOICE)
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
        met = _crowded(candidates(claims, context, keep), context)
        told = _told(_heard(met), _ladder(context), context)
        together = in_trino.result()
    return told if together is None else told.unionByName(together)


def _one_schema(claims: Claims, context: CheckContext, keep: Keep) -> DataFrame | None:
    together = shown_together(claims, context, keep)
    if together is None:
        return None
    crowded = keep("together", _crowded(together, context, SCHEMA))
    return None if crowded.isEmpty() else _told(_heard(crowded, SCHEMA), _IN_TRINO, context, SCHEMA)


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


def _heard(claims: DataFrame, *more: str) -> DataFrame:
    """Of each identifier, the explicit claims; without any, the smallest that implies it; else what exists.

    Each once: several tables imply one parent, and a reader may have told of an object twice. Adds ``row``, the place
    in its crowd, and ``labels``, as messages name this claim and the few that follow it there.
    """
    order = _order(more)
    of_identifier = _window(order, WANTED[-1])
    voice = F.struct("tier", *_VOICE)
    placed = claims.withColumns(
        {
            "loudest": F.first("tier").over(of_identifier),
            "place": F.row_number().over(of_identifier),
            "repeated": F.coalesce(F.lag(voice).over(of_identifier) == voice, F.lit(False)),
        }
    )
    explicit = (F.col("tier") == EXPLICIT) & ~F.col("repeated")
    heard = placed.where((F.col("tier") == F.col("loudest")) & (explicit | (F.col("place") == 1)))
    in_crowd = _window(order, "crowd")
    labelled = heard.drop("loudest", "place", "repeated").withColumn("label", _label())
    following = (F.lead("label", place).over(in_crowd) for place in range(1, SHOWN_OTHERS + 1))
    numbered = {"row": F.row_number().over(in_crowd), "labels": F.array("label", *following)}
    return labelled.withColumns(numbered).drop("label")


def _order(more: Sequence[str]) -> tuple[str, ...]:
    """How claims are sorted, once for all that is asked of them: the members of every group follow each other."""
    return "crowd", *more, *_ORDER


def _window(order: tuple[str, ...], last: str) -> WindowSpec:
    """The claims that are equal down to the column `last`, in their order."""
    number = order.index(last) + 1
    return Window.partitionBy(*order[:number]).orderBy(*order[number:])


@dataclass(frozen=True)
class _Relation:
    """One way in which claims come to the same: those that are equal down to a column, where that are more than before.

    Without `how` it is nothing to be told: those are one already.
    """

    rule: str
    how: str | None
    last: str


_IN_TRINO = (
    _Relation(DANGEROUS, None, "final"),
    _Relation(DANGEROUS, messages.ONE_SCHEMA, SCHEMA),
)


def _ladder(context: CheckContext) -> list[_Relation]:
    """From the closest to the widest: every group of one is a part of a group of the next."""
    ladder = [
        _Relation("collision", messages.WANTED_TOO, WANTED[-1]),
        _Relation("collision", messages.ONE_TEXT, "exact"),
    ]
    if context.folds:
        ladder.append(_Relation("case-collision", messages.ONE_CASE, "folded"))
    if context.normalizes:
        ladder.append(_Relation("normalization-collision", messages.ONE_FORM, "final"))
    return ladder


def _told(heard: DataFrame, ladder: Sequence[_Relation], context: CheckContext, *more: str) -> DataFrame:
    """A row for each claim in each group of a relation that has something to tell: `_TOLD`."""
    codebook, hits, order = Codebook(), [], _order(more)
    known, closer = heard, F.lit(1)
    for index, relation in enumerate(ladder):
        known = _with_group(known, _window(order, relation.last), index)
        size, first = F.col(f"size{index}"), F.col(f"first{index}")
        condition = (size > closer) & first.isNotNull()
        if relation.how == messages.WANTED_TOO:
            condition = condition & ~_merged(context)
        closer = size
        if relation.how is not None:
            code = _code(relation.rule, relation.how, codebook, context)
            hit = F.struct(code, first.alias("first"), F.col(f"finding{index}").alias("finding"), _others(index))
            hits.append(F.when(condition, hit))
    grouped = known.select(*SUBJECT, "tier", *WANTED, "crowd", "row", F.array(*hits).alias("hits"))
    found = (
        each_of(grouped, "hits", "hit")
        .where(F.col("hit").isNotNull())
        .select(*SUBJECT, "tier", *WANTED, "crowd", "row", "hit.*")
    )
    slots = {
        Slot.TARGET: shown(F.col("target_levels")),
        Slot.NAME: quoted(F.col("target_name")),
        Slot.OTHERS: F.col("others"),
    }
    told = explained(found, codebook, slots).withColumns(
        {
            "name": _name(),
            "role": F.when(F.col("tier") == EXISTING, "target").otherwise("source"),
            "leads": F.col("row") == F.col("first"),
        }
    )
    return lowered_together(told, ("code", "crowd", "first"), context).select(*_TOLD)


def _name() -> Column:
    """The name of a table or view; null for a namespace, whose name is empty so far."""
    return F.when(F.col("object") != NAMESPACE, F.col("name"))


def _label() -> Column:
    """A claim as a message names it."""
    return F.concat(
        F.col("source"),
        F.lit(" "),
        shown(F.col("levels")),
        F.when(F.col("name") != "", F.concat(F.lit(" "), quoted(F.col("name")))).otherwise(""),
        F.when(F.col("tier") == EXISTING, F.lit(messages.ALREADY_THERE)).otherwise(""),
    )


def _with_group(known: DataFrame, group: WindowSpec, index: int) -> DataFrame:
    """`known` with the size of each row's group, the row of the first claim in it that a source makes, and its object.

    Also where the group begins, and the labels from there on: one more than is shown is enough. Few functions are asked
    of each group, and of all at once: each kind of them is code of its own, which Java has to compile.
    """
    whole = group.rowsBetween(Window.unboundedPreceding, Window.unboundedFollowing)
    is_source = F.col("tier") != EXISTING
    finding = F.struct("source", "object", "levels", _name().alias("name"), "target_levels")
    return known.withColumns(
        {
            f"size{index}": F.count(F.lit(1)).over(whole),
            f"first{index}": F.min(F.when(is_source, F.col("row"))).over(whole),
            f"finding{index}": F.first(F.when(is_source, finding), ignorenulls=True).over(whole),
            f"start{index}": F.min("row").over(whole),
            f"labels{index}": F.first("labels").over(whole),
        }
    )


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


def _others(index: int) -> Column:
    """Who is in a group beside the first, whose row leads: a few by name, in order, and how many more there are."""
    size, place = F.col(f"size{index}"), F.col(f"first{index}") - F.col(f"start{index}")
    more, known = size - 1 - SHOWN_OTHERS, F.col(f"labels{index}")
    few = range(SHOWN_OTHERS)
    labels = [F.when((size > number) & (place != number), F.get(known, F.lit(number))) for number in few]
    # One more takes the place of the first, where that is among the few.
    labels.append(F.when((size > SHOWN_OTHERS) & (place < SHOWN_OTHERS), F.get(known, F.lit(SHOWN_OTHERS))))
    before, after = messages.AND_MORE
    rest = F.concat(F.lit(before), more.cast("string"), F.lit(after))
    return F.concat(F.concat_ws(", ", *labels), F.when(more > 0, rest).otherwise("")).alias("others")


__all__ = ["collisions"]
