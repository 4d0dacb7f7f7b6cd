"""Ordinary names as a column expression; `core.checking.ordinary` says which they are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import reduce
from operator import and_

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import BooleanType, StructField

from nestsync.core.checking.collisions import target_text
from nestsync.core.checking.context import CheckContext
from nestsync.core.checking.joints import joints
from nestsync.core.checking.ordinary import LONGEST, Ordinary, in_sources, in_target
from nestsync.schemas import contract
from nestsync.stages.check.mapping import MAPPED_SCHEMA
from nestsync.stages.check.native import quoted_pattern

JUDGED_SCHEMA = contract(*MAPPED_SCHEMA.fields, StructField("ordinary", BooleanType(), nullable=False))
"""A mapped row, and whether its names are ordinary where it is and where it goes: no rule is to be asked then."""

_BETWEEN = "/"
"""Between levels in one text: no ordinary level holds it, so that the parts are the levels."""


def judged(mapped: DataFrame, context: CheckContext) -> DataFrame:
    """`mapped` (`MAPPED_SCHEMA`) in `JUDGED_SCHEMA`."""
    ordinary = _are_ordinary(in_target(context), in_sources(context))
    return mapped.select(*MAPPED_SCHEMA.names, F.coalesce(ordinary, F.lit(False)).alias("ordinary"))


def is_ordinary(ordinary: Ordinary, levels: Column, name: Column) -> Column:
    """`Ordinary.holds`; `name` is null for a namespace."""
    if not ordinary.characters:
        return F.lit(False)
    no_word = rf"(?!(?:{'|'.join(map(quoted_pattern, ordinary.words))})(?:{_BETWEEN}|\z))"
    part = f"{no_word}[{ordinary.characters}]{{1,{LONGEST}}}"
    of_namespace = _have_depth(ordinary.namespaces, levels, part)
    of_table = name.rlike(_whole(part)) & _have_depth(ordinary.tables, levels, part)
    return F.when(name.isNull(), of_namespace).otherwise(of_table)


def _are_ordinary(target: Ordinary, sources: Mapping[str, Ordinary]) -> Column:
    return is_ordinary(target, F.col("target_levels"), F.col("target_name")) & _of_sources(sources)


def _of_sources(in_sources: Mapping[str, Ordinary]) -> Column:
    """Sources that find the same ordinary together; those that are not listed find everything so."""
    together: dict[Ordinary, list[str]] = {}
    for source, ordinary in in_sources.items():
        together.setdefault(ordinary, []).append(source)
    return reduce(
        and_,
        (
            ~F.col("source").isin(*sources) | is_ordinary(ordinary, F.col("levels"), F.col("name"))
            for ordinary, sources in together.items()
        ),
        F.lit(True),
    )


def _have_depth(depths: Iterable[int], levels: Column, part: str) -> Column:
    """Whether `levels` are as many as one of `depths`, and each a `part`."""
    joined, found = F.array_join(levels, _BETWEEN), F.when(F.size(levels) == 0, F.lit(False))
    for depth in sorted(depths):
        found = found.when(F.size(levels) == depth, joined.rlike(_whole(_BETWEEN.join([part] * depth))))
    return found.otherwise(F.lit(False))


def ordinary_text(ordinary: Ordinary, context: CheckContext, levels: Column, name: Column, long_way: Column) -> Column:
    """`core.checking.collisions.target_text` of rows that are ordinary: ``is_table``, `levels` and `name`.

    `long_way` is the same for rows of any kind, and is taken where ordinary texts are not all alike.
    """

    def text(*, of_tables: bool) -> Column:
        told = joints(lambda at, named: target_text(at, named, context), ordinary, of_tables=of_tables)
        if told is None:
            return long_way
        of_name = (F.lit(told.of_name), name) if of_tables else ()
        return F.concat(F.lit(told.before), F.array_join(levels, told.between), *of_name, F.lit(told.after))

    return F.when(F.col("is_table"), text(of_tables=True)).otherwise(text(of_tables=False))


def _whole(pattern: str) -> str:
    return rf"\A{pattern}\z"


__all__ = ["JUDGED_SCHEMA", "is_ordinary", "judged", "ordinary_text"]
