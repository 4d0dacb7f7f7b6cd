"""How a metastore is read in these tests."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from nestsync.catalogs.hms import ROOM, HmsOptions
from nestsync.catalogs.records import CatalogObject

Key = tuple[tuple[str, ...], str | None]


def read(
    uri: str, *, namespaces: bool = True, tables: bool = True, parallelism: int = 2, **options: Any
) -> dict[Key, CatalogObject]:
    """All rows of the metastore at `uri`, as source ``lake``, by levels and name."""
    reader = ROOM.reader(HmsOptions(uri=uri, **options), "lake")
    units = reader.units(tables=tables, parallelism=parallelism)
    return keyed(row for unit in units for row in reader.read(unit, namespaces=namespaces, tables=tables))


def keyed(rows: Iterable[CatalogObject]) -> dict[Key, CatalogObject]:
    """`rows` by levels and name; fails where two have one key."""
    listed = list(rows)
    by_key = {(row.levels, row.name): row for row in listed}
    assert len(by_key) == len(listed)
    return by_key
