"""Inventory: every configured catalog into one DataFrame, an object a row."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import reduce

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from nestsync.catalogs.base import CatalogOptions
from nestsync.catalogs.records import SCHEMAS

TASKS_PER_CORE = 2
"""How many shares of a catalog's reading there are for each core: enough to even out, few enough to start quickly."""


@dataclass(frozen=True, slots=True)
class CatalogRef:
    """A configured catalog as the stages need it: its name, its system, its options and its role in this run."""

    name: str
    system: str
    options: CatalogOptions
    role: str
    """``source`` or ``target``."""


def read_catalog(spark: SparkSession, catalog: CatalogRef, *, objects: str = "all") -> DataFrame:
    """The objects of one catalog, in ``SCHEMAS["all"]`` plus ``role``. Lazy: nothing is read yet.

    `objects` is the data source's own option (`namespaces`, `tables`, `all`). An action on the frame raises, in
    Spark's wrapping (see `session.our_errors`), `CatalogUnreachable` when the catalog does not answer.
    """
    reader = spark.read.format(f"nestsync.{catalog.system}").options(**catalog.options.to_spark())
    tasks = TASKS_PER_CORE * spark.sparkContext.defaultParallelism
    frame = reader.options(source=catalog.name, object=objects, partitions=str(tasks)).load()
    held = set(frame.columns)
    columns = [
        (F.col(field.name) if field.name in held else F.lit(None).cast(field.dataType)).alias(field.name)
        for field in SCHEMAS["all"]
    ]
    return frame.select(F.lit(catalog.role).alias("role"), *columns)


def read_catalogs(spark: SparkSession, catalogs: Iterable[CatalogRef], *, objects: str = "all") -> DataFrame:
    """The objects of all `catalogs`, one after the other. Of a target, only the namespaces: no table is written."""
    frames = [
        read_catalog(spark, catalog, objects="namespaces" if catalog.role == "target" else objects)
        for catalog in catalogs
    ]
    return reduce(DataFrame.unionByName, frames)


def counts_by_source(objects: DataFrame) -> dict[str, dict[str, int]]:
    """How many objects of each kind and status each source answered with.

    One row a source, kind and status: what comes to the driver does not grow with the catalog.
    """
    counted = objects.groupBy("source", "object", "status").count().collect()
    result: dict[str, dict[str, int]] = {}
    for row in counted:
        counts = result.setdefault(row["source"], {})
        plural = f"{row['object']}s"
        counts[plural] = counts.get(plural, 0) + row["count"]
        if row["status"] != "ok":
            counts[row["status"]] = counts.get(row["status"], 0) + row["count"]
    return result
