"""One row an object: the shape in which every room hands over what it read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from pyspark.sql.types import ArrayType, LongType, MapType, StringType, StructField, StructType

from nestsync.core.identifiers import Levels, escape_surrogates, lone_surrogate

if TYPE_CHECKING:
    import pyarrow as pa


class ObjectKind(StrEnum):
    """What a row is about."""

    NAMESPACE = "namespace"
    TABLE = "table"
    VIEW = "view"


class Status(StrEnum):
    """Whether the object could be read; everything but `ok` carries the reason in `error`."""

    OK = "ok"
    EMPTY = "empty"  # nothing in it: a folder where a table was expected, a catalog without databases
    UNREADABLE = "unreadable"
    UNSUPPORTED = "unsupported"  # readable, of a kind that nestsync does not move
    NOT_A_TABLE = "not-a-table"  # a dot or underscore folder beside the tables


COLUMN_TYPE = StructType([StructField("name", StringType()), StructField("type", StringType())])

NAMESPACE_FIELDS: tuple[StructField, ...] = (
    StructField("source", StringType(), nullable=False),
    StructField("system", StringType(), nullable=False),
    StructField("object", StringType(), nullable=False),
    StructField("levels", ArrayType(StringType(), containsNull=False), nullable=False),
    StructField("name", StringType()),  # null for a namespace: its levels say it all
    StructField("properties", MapType(StringType(), StringType()), nullable=False),
    StructField("owner", StringType()),
    StructField("comment", StringType()),
    StructField("location", StringType()),
    StructField("status", StringType(), nullable=False),
    StructField("error", StringType()),
)
TABLE_FIELDS: tuple[StructField, ...] = (
    *NAMESPACE_FIELDS,
    StructField("format", StringType()),  # lower case: hive, iceberg, delta, lance, view, ...
    StructField("version", LongType()),  # of a Lance dataset, or the Iceberg format version
    StructField("columns", ArrayType(COLUMN_TYPE)),
    StructField("row_count", LongType()),
)

SCHEMAS: dict[str, StructType] = {
    "namespaces": StructType(list(NAMESPACE_FIELDS)),
    "tables": StructType(list(TABLE_FIELDS)),
    "all": StructType(list(TABLE_FIELDS)),
}
"""The schema by the value of a source's ``object`` option; ``all`` reads both in one walk."""


@dataclass(frozen=True, slots=True)
class CatalogObject:
    """One namespace, table or view, read or not.

    `properties` holds what the system stores as key and value, untouched; `owner`, `comment` and
    `location` are the system's own fields, or its conventional keys where it has no such field.
    """

    object: ObjectKind
    levels: Levels
    name: str | None = None
    properties: Mapping[str, str] = field(default_factory=dict)
    owner: str | None = None
    comment: str | None = None
    location: str | None = None
    status: Status = Status.OK
    error: str | None = None
    format: str | None = None
    version: int | None = None
    columns: tuple[tuple[str, str], ...] | None = None  # (name, type) in order
    row_count: int | None = None


def printable(row: CatalogObject) -> CatalogObject:
    """`row` itself, or, where it holds what no table can, an error row under its (escaped) name.

    For a lone surrogate, Spark would silently write U+FFFD, which is another name.
    """
    unfit = _unfit(row)
    if unfit is None:
        return row
    return CatalogObject(
        object=row.object,
        levels=tuple(map(escape_surrogates, row.levels)),
        name=None if row.name is None else escape_surrogates(row.name),
        status=Status.UNREADABLE,
        error=unfit,
        format=None if row.format is None else escape_surrogates(row.format),
    )


def _unfit(row: CatalogObject) -> str | None:
    """What of `row` no table can hold, or None."""
    for part in ("version", "row_count"):
        number = getattr(row, part)
        if number is not None and not -_WIDEST <= number < _WIDEST:
            return f"its {part} has more than 64 bits"
    if any(name is None or kind is None for name, kind in row.columns or ()):
        return "a column has no name, or no type"
    where = _surrogate_in(row)
    return where and f"{where} holds a lone surrogate, which no UTF-8 text can carry; shown escaped here"


_WIDEST = 2**63


def _surrogate_in(row: CatalogObject) -> str | None:
    named = [(f"level {i}", level) for i, level in enumerate(row.levels)]
    named += [(part, getattr(row, part)) for part in ("name", "owner", "comment", "location", "error", "format")]
    named += [(f"property {key!r}", key + value) for key, value in row.properties.items()]
    named += [("a column", column + kind) for column, kind in row.columns or ()]
    return next((what for what, text in named if text is not None and lone_surrogate(text) is not None), None)


def to_batch(rows: Iterable[CatalogObject], *, source: str, system: str, schema: StructType) -> pa.RecordBatch:
    """`rows` as one Arrow batch in `schema` (one of `SCHEMAS`)."""
    import pyarrow as pa
    from pyspark.sql.pandas.types import to_arrow_schema

    records = [_record(printable(row), source, system) for row in rows]
    return pa.RecordBatch.from_pylist(records, schema=to_arrow_schema(schema))


def _record(row: CatalogObject, source: str, system: str) -> dict[str, Any]:
    record = {part.name: getattr(row, part.name) for part in fields(row)}
    record["object"], record["status"] = str(row.object), str(row.status)
    record["properties"] = sorted(row.properties.items())
    record["columns"] = row.columns and [{"name": name, "type": kind} for name, kind in row.columns]
    return record | {"source": source, "system": system}


__all__ = ["SCHEMAS", "CatalogObject", "ObjectKind", "Status", "printable", "to_batch"]
