"""Reads a catalog the way Spark does, without Spark: shares on the driver, pickled, read one by one."""

from __future__ import annotations

import pickle
from collections.abc import Iterable

from nestsync.catalogs.iceberg_rest import ROOM, IcebergRestOptions
from nestsync.catalogs.records import CatalogObject, ObjectKind


def read(
    options: IcebergRestOptions, *, namespaces: bool = True, tables: bool = True, parallelism: int = 2
) -> list[CatalogObject]:
    """All rows of a catalog called `here`."""
    reader = ROOM.reader(options, "here")
    sent = pickle.dumps(reader)  # Spark pickles the reader before it asks for shares
    rows: list[CatalogObject] = []
    for unit in reader.units(tables=tables, parallelism=parallelism):
        executor = pickle.loads(sent)
        rows += executor.read(pickle.loads(pickle.dumps(unit)), namespaces=namespaces, tables=tables)
    return rows


def by_identifier(rows: Iterable[CatalogObject]) -> dict[tuple[str, tuple[str, ...], str | None], CatalogObject]:
    """The rows by kind, levels and name; fails where one comes twice."""
    found: dict[tuple[str, tuple[str, ...], str | None], CatalogObject] = {}
    for row in rows:
        key = (str(row.object), row.levels, row.name)
        assert key not in found, f"{key} comes twice"
        found[key] = row
    return found


def levels_of(rows: Iterable[CatalogObject]) -> list[tuple[str, ...]]:
    """The levels of the namespaces among `rows`, sorted."""
    return sorted(row.levels for row in rows if row.object is ObjectKind.NAMESPACE)
