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
from nestsync.core.mapping import MappedBy
from nestsync.schemas import contract
from nestsync.stages.check.mapping import MAPPED_SCHEMA
from nestsync.stages.check.native import quoted_pattern

JUDGED_SCHEMA = contract(*MAPPED_SCHEMA.fields, StructField("ordinary", BooleanType(), nullable=False))
"""A mapped row, and whether it was read, and its names are ordinary where it is and where it goes.

No rule is to be asked of it then, and it goes where it is mapped to.
"""

_BETWEEN = "/"
"""Between levels in one text: no ordinary level holds it, so that the parts are the levels."""
_NAMESPACE, _TABLE = "n", "t"
"""What such a text begins with, before the number of levels."""


def judged(mapped: DataFrame, context: CheckContext) -> DataFrame:
    """`mapped` (`MAPPED_SCHEMA`) in `JUDGED_SCHEMA`."""
    target, known = in_target(context), in_sources(context)
    narrower = [source for source, ordinary in known.items() if not ordinary.covers(target)]
    # What is ordinary in the target and stays as it is need not be looked at again, where all that is so in the source.
    asked = (F.col("mapping_rule") != str(MappedBy.IDENTITY)) | F.col("source").isin(*narrower)
    # Columns of their own, so that a text that is looked at twice is made once.
    texts = mapped.withColumns(
        {
            "_at": F.when(asked, in_one(F.col("levels"), F.col("name"))),
            "_wanted": in_one(F.col("target_levels"), F.col("target_name")),
        }
    )
    is_fine = is_ordinary(target, F.col("_wanted")) & _of_sources(known)
    ordinary = (F.col("status") == "ok") & is_fine
    return texts.select(*MAPPED_SCHEMA.names, F.coalesce(ordinary, F.lit(False)).alias("ordinary"))


def in_one(levels: Column, name: Column) -> Column:
    """The text that `is_ordinary` looks at: what it is, how many levels, all of them, and the name where there is one.

    `name` is null for a namespace. However many parts there seem to be, as many as are told are there.
    """
    what = F.when(name.isNull(), _NAMESPACE).otherwise(_TABLE)
    depth = F.coalesce(F.size(levels), F.lit(0)).cast("string")
    return F.concat_ws(_BETWEEN, what, depth, levels, name)


def is_ordinary(ordinary: Ordinary, text: Column) -> Column:
    """`Ordinary.holds` of what is `in_one` text."""
    if not ordinary.characters:
        return F.lit(False)
    # Where the whole is short, no part is too long, and Java looks for any number of characters several times faster.
    short, any_length = F.octet_length(text) <= LONGEST, text.rlike(_pattern(ordinary, "+"))
    return F.when(short, any_length).otherwise(text.rlike(_pattern(ordinary, f"{{1,{LONGEST}}}+")))


def _pattern(ordinary: Ordinary, number: str) -> str:
    """What the texts of ordinary objects match, with parts of so many characters."""
    no_word = rf"(?!(?:{'|'.join(map(quoted_pattern, ordinary.words))})(?:{_BETWEEN}|\z))"
    part = f"{no_word}[{ordinary.characters}]{number}"

    def of(what: str, depths: Iterable[int], names: int) -> str:
        each = (_BETWEEN.join([str(depth), *[part] * (depth + names)]) for depth in sorted(depths))
        return f"{what}{_BETWEEN}(?:{'|'.join(each)})"

    return rf"\A(?:{of(_TABLE, ordinary.tables, 1)}|{of(_NAMESPACE, ordinary.namespaces, 0)})\z"


def _of_sources(in_sources: Mapping[str, Ordinary]) -> Column:
    """Whether a row's source finds it ordinary, or need not be asked: then there is no text to look at.

    Sources that find the same ordinary together; those that are not listed find everything so.
    """
    together: dict[Ordinary, list[str]] = {}
    for source, ordinary in in_sources.items():
        together.setdefault(ordinary, []).append(source)
    text = F.col("_at")
    holds = (~F.col("source").isin(*sources) | is_ordinary(each, text) for each, sources in together.items())
    return text.isNull() | reduce(and_, holds, F.lit(True))


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
