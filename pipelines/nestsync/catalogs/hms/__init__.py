"""A Hive Metastore 3.x, over thrift, with its catalogs. Read only: every call is a ``get_*``."""

from __future__ import annotations

from typing import cast

from nestsync.catalogs.base import CatalogOptions
from nestsync.catalogs.datasource import CatalogDataSource
from nestsync.catalogs.hms.options import HmsOptions
from nestsync.catalogs.hms.reader import HmsReader
from nestsync.catalogs.registry import Room


class HmsDataSource(CatalogDataSource):
    """``spark.read.format("nestsync.hms").option("uri", "thrift://metastore:9083")``."""

    system = "hms"
    options_model = HmsOptions

    @classmethod
    def open(cls, options: CatalogOptions, source: str) -> HmsReader:
        """A reader; nothing is connected yet."""
        return HmsReader(source, cast("HmsOptions", options))


ROOM = Room(
    system="hms",
    dialect="hive",
    capabilities="hms-3",
    options=HmsOptions,
    data_source=HmsDataSource,
)

__all__ = ["ROOM", "HmsDataSource", "HmsOptions", "HmsReader"]
