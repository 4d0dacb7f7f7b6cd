"""Reads a catalog as Spark does, without Spark: the reader and each of its shares go through pickle."""

from __future__ import annotations

import pickle
from collections.abc import Iterable

from nestsync.catalogs import room
from nestsync.catalogs.base import CatalogOptions
from nestsync.catalogs.records import CatalogObject

SOURCE = "a source"

Key = tuple[str, tuple[str, ...], str | None]
Rows = dict[Key, CatalogObject]


def listed(
    system: str, options: CatalogOptions, *, namespaces: bool = True, tables: bool = True, parallelism: int = 3
) -> list[CatalogObject]:
    """Every row, in the order in which it came."""
    reader = room(system).reader(options, SOURCE)
    sent = pickle.dumps(reader)
    units = [pickle.dumps(unit) for unit in reader.units(tables=tables, parallelism=parallelism)]
    return [
        row
        for unit in units
        for row in pickle.loads(sent).read(pickle.loads(unit), namespaces=namespaces, tables=tables)
    ]


def keyed(rows: Iterable[CatalogObject]) -> Rows:
    """`rows` by kind, levels and name. Fails where an object comes twice."""
    found: Rows = {}
    for row in rows:
        key = (str(row.object), row.levels, row.name)
        assert key not in found, f"{key} comes twice"
        found[key] = row
    return found


def read(system: str, options: CatalogOptions, *, parallelism: int = 3) -> Rows:
    """Every object of the catalog by kind, levels and name."""
    return keyed(listed(system, options, parallelism=parallelism))
