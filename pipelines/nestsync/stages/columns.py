"""Column expressions over levels that several stages share; each says which function of `core` it equals."""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as F

from nestsync.core.identifiers import HIDDEN

_HIDDEN = f"[{HIDDEN}]"


def depth(levels: Column) -> Column:
    """How many levels a namespace has."""
    return F.size(levels)


def upto(levels: Column, length: Column | int) -> Column:
    """The first `length` levels: an ancestor, or the namespace itself."""
    return F.slice(levels, 1, length)


def scopes(levels: Column) -> Column:
    """The namespace and everything above it but the root, outermost first; the root has none (null)."""
    return F.when(F.size(levels) > 0, F.transform(F.sequence(F.lit(1), F.size(levels)), lambda i: upto(levels, i)))


def shown(levels: Column) -> Column:
    """`core.identifiers.shown`: a list of texts as JSON, with what a reader cannot see escaped."""
    text = F.to_json(levels)
    # Characters are taken apart by code point: a split on nothing would cut an emoji into two surrogates.
    characters = F.regexp_extract_all(text, F.lit("(?s)(.)"), F.lit(1))
    escaped = F.transform(
        characters,
        lambda c: F.when(c.rlike(_HIDDEN), F.concat(F.lit("\\u"), F.lpad(F.hex(F.ascii(c)), 4, "0"))).otherwise(c),
    )
    return F.when(text.rlike(_HIDDEN), F.array_join(escaped, "")).otherwise(text)


def quoted(text: Column) -> Column:
    """`core.identifiers.quoted`: one text as `shown` writes it, without the brackets of a list."""
    inside = shown(F.array(text))
    return F.substring(inside, F.lit(2), F.length(inside) - 2)


__all__ = ["depth", "quoted", "scopes", "shown", "upto"]
