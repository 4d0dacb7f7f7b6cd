"""The one Spark Python data source behind every room's ``nestsync.<system>`` format."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any, ClassVar

from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition
from pyspark.sql.types import StructType

from nestsync.catalogs.base import CatalogOptions, CatalogReader
from nestsync.catalogs.records import SCHEMAS, to_batch
from nestsync.errors import ConfigurationError

if TYPE_CHECKING:
    import pyarrow as pa

ROWS_PER_BATCH = 1024
DEFAULT_PARTITIONS = 8


@dataclass(frozen=True)
class UnitPartition(InputPartition):
    """One share of the reading, as Spark hands it to a task."""

    unit: Any


class CatalogDataSource(DataSource):
    """Reads one catalog: ``spark.read.format("nestsync.<system>").option("object", "namespaces")``.

    Options of every system: ``object`` (``namespaces``, ``tables`` or ``all``; default ``all``),
    ``source`` (the name in the ``source`` column; default the system), ``partitions`` (the number of
    tasks to aim for; default 8). The rest are the room's own `CatalogOptions`.
    """

    system: ClassVar[str]
    options_model: ClassVar[type[CatalogOptions]]

    @classmethod
    def name(cls) -> str:
        return f"nestsync.{cls.system}"

    @classmethod
    def open(cls, options: CatalogOptions, source: str) -> CatalogReader[Any]:
        """The room's reader for `options`; secrets are resolved here, on the driver."""
        raise NotImplementedError

    def schema(self) -> StructType:
        return SCHEMAS[self._objects()]

    def reader(self, schema: StructType) -> DataSourceReader:
        common = {"object", "source", "partitions"}
        own = {key: value for key, value in self.options.items() if key not in common}
        source = self.options.get("source", self.system)
        return _Reader(
            catalog=self.open(self.options_model.from_spark(own), source),
            source=source,
            system=self.system,
            objects=self._objects(),
            partitions_wanted=self._partitions(),
        )

    def _objects(self) -> str:
        objects = self.options.get("object", "all")
        if objects not in SCHEMAS:
            raise ConfigurationError(
                f"option 'object' is {objects!r}", where=self.name(), hint="use namespaces, tables or all"
            )
        return objects

    def _partitions(self) -> int:
        text = self.options.get("partitions", str(DEFAULT_PARTITIONS))
        if not text.isascii() or not text.isdigit() or int(text) < 1:
            raise ConfigurationError(
                f"option 'partitions' is {text!r}", where=self.name(), hint="use a whole number from 1"
            )
        return int(text)


class _Reader(DataSourceReader):
    def __init__(
        self, *, catalog: CatalogReader[Any], source: str, system: str, objects: str, partitions_wanted: int
    ) -> None:
        self.catalog = catalog
        self.source = source
        self.system = system
        self.objects = objects
        self.partitions_wanted = partitions_wanted

    def partitions(self) -> Sequence[InputPartition]:
        units = self.catalog.units(tables=self.objects != "namespaces", parallelism=self.partitions_wanted)
        return [UnitPartition(unit) for unit in units] or [UnitPartition(None)]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        unit = partition.unit if isinstance(partition, UnitPartition) else None
        if unit is None:  # an empty catalog: Spark wants one partition at least
            return
        rows = self.catalog.read(unit, namespaces=self.objects != "tables", tables=self.objects != "namespaces")
        while chunk := tuple(islice(rows, ROWS_PER_BATCH)):
            yield to_batch(chunk, source=self.source, system=self.system, schema=SCHEMAS[self.objects])
