"""Fills an Iceberg REST catalog with the sample lakehouse."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nestsync.embedded.sample.content import Namespace, columns_of, lakehouse
from nestsync.embedded.sample.tables import arrow_schema, rows
from nestsync.embedded.servers import IcebergRest

if TYPE_CHECKING:
    from pyiceberg.catalog import Catalog

_ROWS = 100


def fill(server: IcebergRest) -> None:
    """Create the namespaces and their tables, each with a first snapshot, in a running catalog that holds none yet."""
    from pyiceberg.catalog.rest import RestCatalog

    catalog = RestCatalog("lakehouse", uri=server.uri)
    try:
        for namespace in lakehouse():
            properties = {"owner": namespace.owner, "comment": namespace.comment, **namespace.properties}
            catalog.create_namespace(namespace.levels, {key: value for key, value in properties.items() if value})
            _create_tables(catalog, namespace)
    finally:
        catalog.close()


def _create_tables(catalog: Catalog, namespace: Namespace) -> None:
    for table in namespace.tables:
        columns = columns_of(table.name)
        created = catalog.create_table(
            (*namespace.levels, table.name), arrow_schema(columns), properties={"owner": namespace.owner}
        )
        created.append(rows(columns, _ROWS))
