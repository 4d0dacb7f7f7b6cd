"""Where two identifiers would be one, for any number of rows: in the target, or for Trino, which reads it.

`core.checking.collisions` and `core.checking.together` are the oracles.

What may meet is brought together by key; what is alone there is done with, the rest is looked at closely where it is.
No group has to fit into memory, also where a whole catalog collides.
"""

from __future__ import annotations

from collections.abc import Iterator
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
from nestsync.core.checking.together import ENGINE
from nestsync.schemas import FINDING_FIELDS, LEVELS, MEMBER_FIELDS, contract
from nestsync.stages.check.candidates import candidates
from nestsync.stages.check.claimed import STORED, SUBJECT, WANTED, Keep, claimed, folded, target_text
from nestsync.stages.check.lowered import lowered_together
from nestsync.stages.check.sentences import Codebook, Entry, explained
from nestsync.stages.check.together import SCHEMA
from nestsync.stages.columns import each_of, quoted, shown

_IDENTIFIER = ("is_table", *WANTED)
_VOICE = ("source", "levels", "name", "object")
_ORDER = ("crowd", SCHEMA, "is_table", "final", "folded", "exact", *WANTED, "tier", *_VOICE)
"""How claims are sorted, once for all that is asked of them: the members of every group follow each other."""
_TOLD = (*dict.fromkeys(contract(*FINDING_FIELDS, *MEMBER_FIELDS).names), "leads")
"""The columns that are told of a claim in a group; each once."""
_OF_GROUP = ("size", "first", "finding", "start", "labels")
"""How many claims are in a group, the row of the first that a source makes, and its object; the row with which the
group begins, and the labels from there on: one more than is shown is enough."""


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
    those of `claimed`. Runs a few jobs; the rest is lazy.
    """
    claims = claimed(judged, existing, context, keep)
    crowded = keep("crowded", _crowded(candidates(claims, context, keep), context))
    return _told(_heard(crowded), context)


def _crowded(claims: DataFrame, context: CheckContext) -> DataFrame:
    """The claims on keys that several identifiers, or several source objects, want.

    Adds the texts ``exact``, ``folded`` and ``final`` (see `core.checking.collisions.Claim`).
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
        SCHEMA,
        target_text(context, is_table, *map(F.col, WANTED)).alias("exact"),
        target_text(context, is_table, *folded(context)).alias("folded"),
        target_text(context, is_table, *map(F.col, STORED)).alias("final"),
    )


def _heard(claims: DataFrame) -> DataFrame:
    """Of each identifier, the explicit claims; without any, the smallest that implies it; else what exists.

    Each once: several tables imply one parent, and a reader may have told of an object twice. Adds ``row``, the place
    in its crowd, and ``labels``, as messages name this claim and the few that follow it there.
    """
    of_identifier = _window(WANTED[-1])
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
    in_crowd = _window("crowd")
    labelled = heard.drop("loudest", "place", "repeated").withColumn("label", _label())
    following = (F.lead("label", place).over(in_crowd) for place in range(1, SHOWN_OTHERS + 1))
    numbered = {"row": F.row_number().over(in_crowd), "labels": F.array("label", *following)}
    return labelled.withColumns(numbered).drop("label")


def _window(last: str) -> WindowSpec:
    """The claims that are equal down to the column `last`, in their order."""
    number = _ORDER.index(last) + 1
    return Window.partitionBy(*_ORDER[:number]).orderBy(*_ORDER[number:])


@dataclass(frozen=True)
class _Relation:
    """One way in which claims come to the same: those that are equal down to a column, where that are more than before.

    In Trino those count that have a `SCHEMA`, in the target those that have none.
    """

    rule: str
    how: str
    last: str
    in_trino: bool = False


def _ladder(context: CheckContext) -> Iterator[_Relation]:
    """From the closest to the widest: every group of one is a part of a group of the next."""
    yield _Relation("collision", messages.WANTED_TOO, WANTED[-1])
    yield _Relation("collision", messages.ONE_TEXT, "exact")
    if context.folds:
        yield _Relation("case-collision", messages.ONE_CASE, "folded")
    if context.normalizes:
        yield _Relation("normalization-collision", messages.ONE_FORM, "final")
    if ENGINE in context.harmed_by:
        yield _Relation(DANGEROUS, messages.ONE_SCHEMA, SCHEMA, in_trino=True)


def _told(heard: DataFrame, context: CheckContext) -> DataFrame:
    """A row for each claim in each group of a relation that has something to tell: `_TOLD`."""
    codebook, hits = Codebook(), []
    known, closer = heard, F.lit(1)
    for index, relation in enumerate(_ladder(context)):
        known = _with_group(known, _window(relation.last), index)
        about = [F.col(f"{name}{index}").alias(name) for name in _OF_GROUP]
        counts = F.col(SCHEMA).isNotNull() if relation.in_trino else F.col(SCHEMA).isNull()
        condition = counts & (F.col(f"size{index}") > closer) & F.col(f"first{index}").isNotNull()
        if relation.how == messages.WANTED_TOO:
            condition = condition & ~_merged(context)
        closer = F.col(f"size{index}")
        hits.append(F.when(condition, F.struct(_code(relation.rule, relation.how, codebook, context), *about)))
    grouped = known.select(*SUBJECT, "tier", *WANTED, "crowd", "row", F.array(*hits).alias("hits"))
    found = (
        each_of(grouped, "hits", "hit")
        .where(F.col("hit").isNotNull())
        .select(*SUBJECT, "tier", *WANTED, "crowd", "row", "hit.*")
    )
    slots = {
        Slot.TARGET: shown(F.col("target_levels")),
        Slot.NAME: quoted(F.col("target_name")),
        Slot.OTHERS: _others(),
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
    """`known` with `_OF_GROUP` of each row's group, their names numbered.

    Few functions are asked of each group, and of all at once: each kind of them is code of its own, which Java has to
    compile.
    """
    whole = group.rowsBetween(Window.unboundedPreceding, Window.unboundedFollowing)
    is_source = F.col("tier") != EXISTING
    finding = F.struct("source", "object", "levels", _name().alias("name"), "target_levels")
    of_group = (
        F.count(F.lit(1)),
        F.min(F.when(is_source, F.col("row"))),
        F.first(F.when(is_source, finding), ignorenulls=True),
        F.min("row"),
        F.first("labels"),
    )
    return known.withColumns(
        {f"{name}{index}": function.over(whole) for name, function in zip(_OF_GROUP, of_group, strict=True)}
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


def _others() -> Column:
    """Who is in a group beside the first, whose row leads: a few by name, in order, and how many more there are."""
    size, known, place = F.col("size"), F.col("labels"), F.col("first") - F.col("start")
    more, few = size - 1 - SHOWN_OTHERS, range(SHOWN_OTHERS)
    labels = [F.when((size > number) & (place != number), F.get(known, F.lit(number))) for number in few]
    # One more takes the place of the first, where that is among the few.
    labels.append(F.when((size > SHOWN_OTHERS) & (place < SHOWN_OTHERS), F.get(known, F.lit(SHOWN_OTHERS))))
    before, after = messages.AND_MORE
    rest = F.concat(F.lit(before), more.cast("string"), F.lit(after))
    return F.concat(F.concat_ws(", ", *labels), F.when(more > 0, rest).otherwise(""))


__all__ = ["collisions"]
