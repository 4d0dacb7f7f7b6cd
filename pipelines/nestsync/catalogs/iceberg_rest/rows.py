"""The rows of this room: one `CatalogObject` a namespace, table or view."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from nestsync.catalogs.iceberg_rest.answers import Metadata
from nestsync.catalogs.records import CatalogObject, ObjectKind, Status
from nestsync.core.errors import one_line
from nestsync.core.identifiers import Levels


def namespace_row(levels: Levels, properties: Mapping[str, str], problems: Sequence[str] = ()) -> CatalogObject:
    """A namespace: its properties, and all that went wrong with it; one problem makes it `unreadable`."""
    return CatalogObject(
        object=ObjectKind.NAMESPACE,
        levels=levels,
        properties=properties,
        owner=properties.get("owner"),
        comment=properties.get("comment"),
        location=properties.get("location"),
        status=Status.UNREADABLE if problems else Status.OK,
        error=one_line("; ".join(problems)) if problems else None,
    )


def object_row(kind: ObjectKind, levels: Levels, name: str, metadata: Metadata) -> CatalogObject:
    """A table or view, as its load answer describes it.

    A table whose property ``table_type`` is ``lance`` (in any case) is a Lance table that Iceberg only registers:
    its schema and format version are dummies (Lance's specification for Iceberg REST catalogs) and are left out.
    """
    properties = metadata.properties
    is_lance = kind is ObjectKind.TABLE and properties.get("table_type", "").lower() == "lance"
    return CatalogObject(
        object=kind,
        levels=levels,
        name=name,
        properties=properties,
        owner=properties.get("owner"),
        comment=properties.get("comment"),
        location=metadata.location,
        format="view" if kind is ObjectKind.VIEW else "lance" if is_lance else "iceberg",
        version=None if is_lance else metadata.format_version,
        columns=None if is_lance else metadata.columns,
    )


def error_row(kind: ObjectKind, levels: Levels, name: str | None, error: str) -> CatalogObject:
    """An object that was listed and cannot be read."""
    return CatalogObject(object=kind, levels=levels, name=name, status=Status.UNREADABLE, error=one_line(error))
