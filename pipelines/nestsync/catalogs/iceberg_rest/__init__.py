"""Iceberg REST catalogs, as a source and as a target, to any depth of namespaces.

Source of the protocol: ``rest-catalog-open-api.yaml`` of Apache Iceberg. `transport` sends bytes, `auth` knows who
we are, `server` where things are, `client` puts a request together, `answers` reads what comes back, `listing` and
`reader` walk the tree, `writer` changes it.
"""

from __future__ import annotations

from nestsync.catalogs.iceberg_rest.client import IcebergRestClient
from nestsync.catalogs.iceberg_rest.options import IcebergRestOptions
from nestsync.catalogs.iceberg_rest.source import IcebergRestDataSource
from nestsync.catalogs.iceberg_rest.writer import IcebergRestWriter
from nestsync.catalogs.registry import Room


def _writer(options: IcebergRestOptions, source: str) -> IcebergRestWriter:
    return IcebergRestWriter(IcebergRestClient(options, source))


def _separator(options: IcebergRestOptions, source: str) -> str:
    """What the server advertises in ``/v1/config``; U+001F where it says nothing. Raises `CatalogUnreachable`."""
    client = IcebergRestClient(options, source)
    try:
        return client.server().separator
    finally:
        client.close()


ROOM = Room(
    system="iceberg_rest",
    dialect="iceberg-rest",
    capabilities="iceberg-rest",
    options=IcebergRestOptions,
    data_source=IcebergRestDataSource,
    writer=_writer,
    separator=_separator,
    capabilities_by_separator={".": "iceberg-rest-1.11"},  # the first release that advertises one, and it is a dot
)

__all__ = ["ROOM", "IcebergRestOptions"]
