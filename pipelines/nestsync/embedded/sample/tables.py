"""Writes real tables to disk: Iceberg metadata, a Delta log, a Lance dataset."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nestsync.embedded.sample.content import Columns

if TYPE_CHECKING:
    import pyarrow as pa
    from pyiceberg.catalog import Catalog

_DELTA_TYPES = {"bigint": "long", "int": "integer"}
_VECTOR_LENGTH = 8
_BASE_MILLIS = 1_700_000_000_000


def arrow_schema(columns: Columns) -> pa.Schema:
    """`columns` in Arrow's types."""
    import pyarrow as pa

    kinds = {
        "bigint": pa.int64(),
        "int": pa.int32(),
        "string": pa.string(),
        "double": pa.float64(),
        "boolean": pa.bool_(),
        "date": pa.date32(),
        "timestamp": pa.timestamp("us"),
        "decimal(12,2)": pa.decimal128(12, 2),
        "decimal(18,2)": pa.decimal128(18, 2),
    }
    return pa.schema([pa.field(name, kinds[kind]) for name, kind in columns])


def rows(columns: Columns, count: int) -> pa.Table:
    """`count` rows of `columns`: numbers that rise, the same ones each time."""
    import pyarrow as pa

    schema = arrow_schema(columns)
    arrays = []
    for field in schema:
        numbers = pa.array(range(count), pa.int32())
        if pa.types.is_boolean(field.type):
            arrays.append(pa.array([number % 2 == 0 for number in range(count)]))
        elif pa.types.is_timestamp(field.type):
            arrays.append(pa.array([(_BASE_MILLIS + number) * 1000 for number in range(count)], field.type))
        else:
            arrays.append(numbers.cast(field.type))
    return pa.Table.from_arrays(arrays, schema=schema)


@contextmanager
def iceberg_writer(warehouse: Path) -> Iterator[Catalog]:
    """A catalog of one's own, in memory, that writes Iceberg metadata; forgotten at the end."""
    from pyiceberg.catalog.sql import SqlCatalog

    catalog = SqlCatalog("writer", uri="sqlite:///:memory:", warehouse=f"file://{warehouse}")
    catalog.create_namespace("written")
    try:
        yield catalog
    finally:
        catalog.close()


def write_iceberg(writer: Catalog, location: str, columns: Columns) -> str:
    """An empty Iceberg table at `location`. Returns where its metadata lies."""
    table = writer.create_table(f"written.t{uuid.uuid4().hex}", arrow_schema(columns), location=location)
    return table.metadata_location


def write_delta(folder: Path, columns: Columns) -> None:
    """An empty Delta table in `folder`: a log of one commit, as the Delta protocol has it (reader 1, writer 2)."""
    fields = [
        {"name": name, "type": _DELTA_TYPES.get(kind, kind), "nullable": True, "metadata": {}} for name, kind in columns
    ]
    actions: list[dict[str, Any]] = [
        {"protocol": {"minReaderVersion": 1, "minWriterVersion": 2}},
        {
            "metaData": {
                "id": str(uuid.uuid4()),
                "format": {"provider": "parquet", "options": {}},
                "schemaString": json.dumps({"type": "struct", "fields": fields}),
                "partitionColumns": [],
                "configuration": {},
                "createdTime": _BASE_MILLIS,
            }
        },
    ]
    log = folder / "_delta_log"
    log.mkdir(parents=True, exist_ok=True)
    commit = "".join(f"{json.dumps(action)}\n" for action in actions)
    (log / "00000000000000000000.json").write_text(commit, encoding="utf-8")


def write_lance(folder: Path, columns: Columns, count: int, versions: int = 1) -> None:
    """A Lance dataset in `folder`: `count` rows of `columns` and a vector, appended `versions` times."""
    import lance
    import pyarrow as pa

    data = rows(columns, count)
    floats = pa.array([float(number) for number in range(count * _VECTOR_LENGTH)], pa.float32())
    data = data.append_column("vector", pa.FixedSizeListArray.from_arrays(floats, _VECTOR_LENGTH))
    folder.parent.mkdir(parents=True, exist_ok=True)
    for version in range(versions):
        lance.write_dataset(data, str(folder), mode="append" if version else "create")
