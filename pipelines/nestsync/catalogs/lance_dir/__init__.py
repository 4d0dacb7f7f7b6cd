"""A folder of Lance datasets: the Lance Directory Namespace.

Every sub-folder of the root is a table of the root namespace ``()``, named exactly as the folder is, whether it
ends in ``.lance`` or not; regular files and the folders below are not. Source of the rule: the Lance Namespace
Specification, "Lance Directory Namespace", "Table Existence". (pylance's own directory namespace lists only
``*.lance`` and takes the suffix away; under that rule ``x`` is invisible beside ``x.lance``.)

A folder's status: ``ok``; ``empty``, no file in it or below it; ``not-a-table``, its name starts with a dot or an
underscore; ``unreadable``, Lance cannot open it or cannot be pointed at its name, or data files that its manifest
names are gone (a manifest alone opens, so this takes a look).
"""

from __future__ import annotations

from typing import cast

from nestsync.catalogs.base import CatalogOptions
from nestsync.catalogs.datasource import CatalogDataSource
from nestsync.catalogs.lance_dir.options import Access, LanceDirOptions
from nestsync.catalogs.lance_dir.reader import LanceDirReader
from nestsync.catalogs.registry import Room


class LanceDirDataSource(CatalogDataSource):
    """``spark.read.format("nestsync.lance_dir").option("root", "s3://bucket/tables")``."""

    system = "lance_dir"
    options_model = LanceDirOptions

    @classmethod
    def open(cls, options: CatalogOptions, source: str) -> LanceDirReader:
        """A reader with its secrets resolved. Raises `ConfigurationError` for an environment variable not set."""
        own = cast("LanceDirOptions", options)
        return LanceDirReader(source, Access.of(own, source), own.check_files)


ROOM = Room(
    system="lance_dir",
    dialect="lance",
    capabilities="lance-dir",
    options=LanceDirOptions,
    data_source=LanceDirDataSource,
)

__all__ = ["ROOM", "LanceDirDataSource", "LanceDirOptions", "LanceDirReader"]
