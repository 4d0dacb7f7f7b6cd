"""The Spark data source of this room."""

from __future__ import annotations

from typing import ClassVar

from nestsync.catalogs.base import CatalogOptions
from nestsync.catalogs.datasource import CatalogDataSource
from nestsync.catalogs.iceberg_rest.client import IcebergRestClient
from nestsync.catalogs.iceberg_rest.options import IcebergRestOptions
from nestsync.catalogs.iceberg_rest.reader import IcebergRestReader
from nestsync.errors import ConfigurationError


class IcebergRestDataSource(CatalogDataSource):
    """``spark.read.format("nestsync.iceberg_rest")``; its own options are those of `IcebergRestOptions`."""

    system: ClassVar[str] = "iceberg_rest"
    options_model: ClassVar[type[CatalogOptions]] = IcebergRestOptions

    @classmethod
    def open(cls, options: CatalogOptions, source: str) -> IcebergRestReader:
        """A reader; sends nothing yet. Raises `ConfigurationError` where a named secret is not set."""
        if not isinstance(options, IcebergRestOptions):
            raise ConfigurationError(f"{type(options).__name__} are no options of Iceberg REST", where=source)
        return IcebergRestReader(IcebergRestClient(options, source), options.connections)
