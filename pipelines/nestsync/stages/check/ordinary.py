"""Ordinary names as a column expression; `core.checking.ordinary` says which they are."""

from __future__ import annotations

from collections.abc import Mapping
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
"""A mapped row, and whether it was read, and its names are ordinary where it is and where it goes.

No rule is to be asked of it then, and it goes where it is mapped to.
"""

_BETWEEN = "/"
"""Between levels in one text: no ordinary level holds it, so that the parts are the levels."""
_FEW = 4
"""So many parts have patterns of their own."""


def judged(mapped: DataFrame, context: CheckContext) -> DataFrame:
    """`mapped` (`MAPPED_SCHEMA`) in `JUDGED_SCHEMA`."""
    at, wanted = (F.col("levels"), F.col("name")), (F.col("target_levels"), F.col("target_name"))
    # Columns of their own, so that a text that is looked at twice is made once.
    texts = mapped.withColumns({"_at": in_one(*at), "_wanted": in_one(*wanted)})
    target = in_target(context)
    in_target_too = is_ordinary(target, *wanted, F.col("_wanted"))
    ordinary = (F.col("status") == "ok") & in_target_too & _of_sources(in_sources(context), target, *at)
    return texts.select(*MAPPED_SCHEMA.names, F.coalesce(ordinary, F.lit(False)).alias("ordinary"))


def in_one(levels: Column, name: Column) -> Column:
    """All levels, and the name where there is one, in the text that `is_ordinary` looks at."""
    return F.concat_ws(_BETWEEN, levels, name)


def is_ordinary(ordinary: Ordinary, levels: Column, name: Column, text: Column) -> Column:
    """`Ordinary.holds`; `name` is null for a namespace, and `text` is both `in_one`."""
    if not ordinary.characters:
        return F.lit(False)
    depth, is_namespace = F.size(levels), name.isNull()
    of_depth = F.when(is_namespace, depth.isin(*ordinary.namespaces)).otherwise(depth.isin(*ordinary.tables))
    count = depth + F.when(is_namespace, 0).otherwise(1)
    return of_depth & _plain(ordinary, text, count)


def _plain(ordinary: Ordinary, text: Column, count: Column) -> Column:
    """Whether `text` is `count` parts of ordinary characters, of which none means something of its own."""
    no_word = rf"(?!(?:{'|'.join(map(quoted_pattern, ordinary.words))})(?:{_BETWEEN}|\z))"
    part = f"{no_word}[{ordinary.characters}]"
    counts = sorted({*ordinary.namespaces, *(depth + 1 for depth in ordinary.tables)})
    # Where the whole is short, no part is too long, and Java looks for any number of characters several times faster.
    # The rest has one pattern: one for each number of parts would be more code than Java compiles.
    numbered = F.concat(count.cast("string"), F.lit(_BETWEEN), text)
    each = "|".join(_BETWEEN.join([str(number), *[f"{part}{{1,{LONGEST}}}+"] * number]) for number in counts)
    found = F.when((F.octet_length(text) > LONGEST) | (count > _FEW), numbered.rlike(rf"\A(?:{each})\z"))
    for number in counts[:_FEW]:
        found = found.when(count == number, text.rlike(rf"\A{_BETWEEN.join([f'{part}+'] * number)}\z"))
    return found.otherwise(F.lit(False))


def _of_sources(in_sources: Mapping[str, Ordinary], target: Ordinary, levels: Column, name: Column) -> Column:
    """Sources that find the same ordinary together; those that are not listed find everything so.

    The row is ordinary in the `target`: where a source takes all that is so there, names that stay are not looked at
    again. Texts of equal parts are equal names then: none of them holds what is between them.
    """
    stays = (F.size(levels) == F.size("target_levels")) & (F.col("_at") == F.col("_wanted"))

    def holds(ordinary: Ordinary) -> Column:
        looked_at = is_ordinary(ordinary, levels, name, F.col("_at"))
        return stays | looked_at if ordinary.covers(target) else looked_at

    together: dict[Ordinary, list[str]] = {}
    for source, ordinary in in_sources.items():
        together.setdefault(ordinary, []).append(source)
    return reduce(
        and_,
        (~F.col("source").isin(*sources) | holds(ordinary) for ordinary, sources in together.items()),
        F.lit(True),
    )


def ordinary_text(
    ordinary: Ordinary, context: CheckContext, is_table: Column, levels: Column, name: Column, *, long_way: Column
) -> Column:
    """`core.checking.collisions.target_text` of what is ordinary: `levels` and, where it `is_table`, `name`.

    `long_way` is the same for rows of any kind, and is taken where ordinary texts are not all alike.
    """

    def text(*, of_tables: bool) -> Column:
        told = joints(lambda at, named: target_text(at, named, context), ordinary, of_tables=of_tables)
        if told is None:
            return long_way
        of_name = (F.lit(told.of_name), name) if of_tables else ()
        return F.concat(F.lit(told.before), F.array_join(levels, told.between), *of_name, F.lit(told.after))

    return F.when(is_table, text(of_tables=True)).otherwise(text(of_tables=False))


__all__ = ["JUDGED_SCHEMA", "in_one", "is_ordinary", "judged", "ordinary_text"]
