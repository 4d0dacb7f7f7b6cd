"""Finds the rooms by their folders."""

from __future__ import annotations

import pkgutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

from nestsync.catalogs.base import CatalogOptions, CatalogReader, CatalogWriter
from nestsync.catalogs.datasource import CatalogDataSource
from nestsync.errors import ConfigurationError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@dataclass(frozen=True)
class Room:
    """What a system's sub-package offers as ``ROOM``; the sub-package is called as the system is."""

    system: str
    dialect: str
    """The dialect (`nestsync.core.dialects`) in which this system writes identifiers."""
    capabilities: str
    """The capabilities (`nestsync.core.capabilities`) of this system unless the configuration says better."""
    options: type[CatalogOptions]
    data_source: type[CatalogDataSource]
    writer: Callable[[Any, str], CatalogWriter] | None = None
    """``writer(options, source)``; None where the system cannot be a target yet."""
    separator: Callable[[Any, str], str | None] | None = None
    """``separator(options, source)``: what the server advertises as the character that joins levels, on the driver."""
    capabilities_by_separator: Mapping[str, str] = field(default_factory=dict)
    """The capabilities of servers that are known by the separator that they advertise."""

    def capabilities_with(self, separator: str | None) -> str:
        """The capabilities of a server that advertises `separator`, or nothing."""
        return self.capabilities_by_separator.get(separator or "", self.capabilities)

    def reader(self, options: CatalogOptions, source: str) -> CatalogReader[Any]:
        """A reader of the catalog behind `options`, called `source` in rows and messages."""
        return self.data_source.open(options, source)


@cache
def systems() -> tuple[str, ...]:
    """The systems that this installation can speak to, sorted."""
    import nestsync.catalogs as rooms

    return tuple(sorted(module.name for module in pkgutil.iter_modules(rooms.__path__) if module.ispkg))


def room(system: str) -> Room:
    """The room of `system`. Raises `ConfigurationError` for one that there is no room for."""
    if system not in systems():
        raise ConfigurationError(f"there is no system {system!r}", hint=f"the systems are {', '.join(systems())}")
    found: Room = import_module(f"nestsync.catalogs.{system}").ROOM
    return found


def register(spark: SparkSession) -> None:
    """Make every ``nestsync.<system>`` format known to `spark`; harmless when done again."""
    for system in systems():
        spark.dataSource.register(room(system).data_source)
