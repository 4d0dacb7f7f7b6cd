"""Turns what a metastore answers into rows."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from nestsync.catalogs.records import CatalogObject, ObjectKind, Status
from nestsync.core.identifiers import Levels

if TYPE_CHECKING:
    from hmsclient.genthrift.hive_metastore import ttypes

_FORMAT_VERSION = re.compile(r"[0-9]{1,9}")
"""A parameter may hold anything; what is longer is no version of a format."""
_VIEWS = frozenset({"VIRTUAL_VIEW", "MATERIALIZED_VIEW"})

_KNOWN_STORAGE = ("iceberg", "hudi", "hoodie", "delta", "lance", "kudu", "hbase", "jdbc", "druid", "kafka")
"""Formats whose name is in the class that Hive reads them with; Hive's own (Parquet, ORC, text ...) are ``hive``."""


def namespace_row(catalog: str, database: ttypes.Database) -> CatalogObject:
    """A database: its parameters are the properties, its description the comment."""
    return CatalogObject(
        object=ObjectKind.NAMESPACE,
        levels=(catalog, database.name),
        properties=dict(database.parameters or {}),
        owner=database.ownerName or None,
        comment=database.description,
        location=database.locationUri or None,
    )


def table_row(levels: Levels, table: ttypes.Table) -> CatalogObject:
    """A table or view; its columns are followed by its partition columns, as Hive's own DESCRIBE has them."""
    parameters = dict(table.parameters or {})
    is_view = table.tableType in _VIEWS
    storage = table.sd
    columns = [*(storage.cols or () if storage else ()), *(table.partitionKeys or ())]
    kind = "view" if is_view else table_format(table)
    return CatalogObject(
        object=ObjectKind.VIEW if is_view else ObjectKind.TABLE,
        levels=levels,
        name=table.tableName,
        properties=parameters,
        owner=table.owner or None,
        comment=parameters.get("comment"),
        location=(storage.location if storage else None) or None,
        format=kind,
        version=_format_version(parameters) if kind == "iceberg" else None,
        columns=tuple((column.name, column.type) for column in columns),
    )


def failed_row(levels: Levels, name: str | None, reason: str) -> CatalogObject:
    """What was listed and cannot be read."""
    return CatalogObject(
        object=ObjectKind.NAMESPACE if name is None else ObjectKind.TABLE,
        levels=levels,
        name=name,
        status=Status.UNREADABLE,
        error=reason,
    )


def table_format(table: ttypes.Table) -> str:
    """The table's format, lower case.

    Iceberg says so in the parameter ``table_type`` (Iceberg's `HiveTableOperations`), Lance too, on external tables
    only (the Lance Hive 3 namespace specification), Spark names its provider, and what is left shows in the classes
    that Hive reads it with.
    """
    parameters: dict[str, str] = table.parameters or {}
    marked = parameters.get("table_type", "").lower()
    if marked == "iceberg" or (marked == "lance" and table.tableType == "EXTERNAL_TABLE"):
        return marked
    provider = parameters.get("spark.sql.sources.provider", "").lower()
    if provider and provider != "hive":
        return provider
    classes = _storage_classes(table).lower()
    found = next((known for known in _KNOWN_STORAGE if known in classes), "hive")
    return "hudi" if found == "hoodie" else found


def _storage_classes(table: ttypes.Table) -> str:
    storage = table.sd
    serde = storage.serdeInfo if storage else None
    named = (
        (table.parameters or {}).get("storage_handler"),
        storage.inputFormat if storage else None,
        serde.serializationLib if serde else None,
    )
    return " ".join(text for text in named if text)


def _format_version(parameters: Mapping[str, str]) -> int | None:
    text = parameters.get("format-version", "")
    return int(text) if _FORMAT_VERSION.fullmatch(text) else None
