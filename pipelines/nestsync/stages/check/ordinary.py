"""Ordinary names as a column expression; `core.checking.ordinary` says which they are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import reduce
from operator import and_

from pyspark.sql import Column
from pyspark.sql import functions as F

from nestsync.core.checking.ordinary import LONGEST, Ordinary
from nestsync.stages.check.native import quoted_pattern

_BETWEEN = "/"
"""Between levels in one text: no ordinary level holds it, so that the parts are the levels."""


def is_ordinary(ordinary: Ordinary, levels: Column, name: Column) -> Column:
    """`Ordinary.holds`; `name` is null for a namespace."""
    if not ordinary.characters:
        return F.lit(False)
    no_word = rf"(?!(?:{'|'.join(map(quoted_pattern, ordinary.words))})(?:{_BETWEEN}|\z))"
    part = f"{no_word}[{ordinary.characters}]{{1,{LONGEST}}}"
    of_namespace = _have_depth(ordinary.namespaces, levels, part)
    of_table = name.rlike(_whole(part)) & _have_depth(ordinary.tables, levels, part)
    return F.when(name.isNull(), of_namespace).otherwise(of_table)


def are_ordinary(in_target: Ordinary, in_sources: Mapping[str, Ordinary]) -> Column:
    """Whether both the levels in the source and those in the target are ordinary, of a row of `MAPPED_SCHEMA`."""
    return is_ordinary(in_target, F.col("target_levels"), F.col("target_name")) & _of_sources(in_sources)


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


def _whole(pattern: str) -> str:
    return rf"\A{pattern}\z"


__all__ = ["are_ordinary", "is_ordinary"]
