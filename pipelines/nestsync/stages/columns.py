"""Column expressions over levels that several stages share; each says which function of `core` it equals."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import ArrayType, StringType, StructField

from nestsync.core.findings import RULES
from nestsync.core.identifiers import HIDDEN
from nestsync.schemas import FINDING_FIELDS, PROPERTIES

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


def no_properties() -> Column:
    """A map without a key, of the type that properties have."""
    return F.create_map().cast(PROPERTIES)


def known(properties: Column) -> Column:
    """Properties without the keys that have no value, and an empty map for none at all."""
    return F.coalesce(F.map_filter(properties, lambda _, value: value.isNotNull()), no_properties())


def by_key(properties: Column) -> Column:
    """Properties as a list of (key, value) in the order of their keys: a map itself has no order to rely on."""
    return F.array_sort(F.map_entries(properties))


def as_findings(
    frame: DataFrame, rule: str, *, target_levels: Column, message: Column, hint: Column, severity: Column | None = None
) -> DataFrame:
    """A finding of `rule` for each row of `frame`, whose other `FINDING_FIELDS` are the subject's."""
    given = {
        "rule": F.lit(rule),
        "severity": F.lit(str(RULES[rule].severity)) if severity is None else severity,
        "target_levels": target_levels,
        "message": message,
        "hint": hint,
    }
    return as_declared(frame, FINDING_FIELDS, given)


def as_declared(
    frame: DataFrame, fields: Iterable[StructField], given: Mapping[str, Column] | None = None
) -> DataFrame:
    """The select that is a stage's contract: `fields` in their order and types, out of `given` or else of `frame`.

    Lists stay as they are, for Spark casts no nullable list to another.
    """
    columns = ((field, (given or {}).get(field.name, F.col(field.name))) for field in fields)
    return frame.select(
        *(
            (column if isinstance(field.dataType, ArrayType) else column.cast(field.dataType)).alias(field.name)
            for field, column in columns
        )
    )


def each_of(frame: DataFrame, array: str, name: str) -> DataFrame:
    """A row for each entry of the column `array`, which is never empty, as `name`; the other columns stay.

    The array has to be a column by then: where any part of what is exploded goes through an array of its own, Spark
    generates no code for the whole of it. Outer, or Spark works the array out once more to see whether it is empty.
    """
    return frame.select(*(each for each in frame.columns if each != array), F.explode_outer(array).alias(name))


def absent_text() -> Column:
    """No text: the name of a namespace."""
    return F.lit(None).cast(StringType())


__all__ = [
    "absent_text",
    "as_declared",
    "as_findings",
    "by_key",
    "depth",
    "each_of",
    "known",
    "no_properties",
    "quoted",
    "scopes",
    "shown",
    "upto",
]
