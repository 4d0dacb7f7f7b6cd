"""What the check costs beside a plain pass over the same identifiers, in one Spark session.

    python benchmarks/check_cost.py [--rows 1000000] [--against plain|core|growth]

``plain``: the full check against the sum of the lengths of all levels and names. ``core``: the pure core over the rows
in Python workers against the full check. ``growth``: the check of five times as many rows, per row. Each figure is the
median of a few interleaved rounds, after eight in which Java goes on compiling: in the first ones that takes as much
processor time as the check does. What the check took the first time in the session is printed beside it. The last line
is ``ratio N``.
"""

from __future__ import annotations

import argparse
import resource
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from nestsync.catalogs.records import SCHEMAS
from nestsync.core.checking import CheckContext, DialectUse, Subject, Target
from nestsync.core.checking import check as check_core
from nestsync.core.mapping import Mapping, MappingRule
from nestsync.schemas import ROLE
from nestsync.session import cut_off, open_session
from nestsync.stages.check import check, map_sources
from nestsync.stages.check.fates import fates
from nestsync.stages.columns import as_declared

OBJECTS = StructType([ROLE, *SCHEMAS["all"].fields])
WARM_UP = 8
ROUNDS = {"plain": 5, "core": 1, "growth": 3}
"""The core takes minutes a round."""
GROWTH = 5
HOSTILE = ("a:b", "a.b", "a b", "%1F", "é", "e\u0301", "Sales", "`q`", "x" * 300, "", ".", "日本")
"""One identifier in a hundred has one of these for a level."""

CONTEXT = CheckContext(
    mapping=Mapping(rules=(MappingRule("hms", drop=1, split="__"),)),
    target=Target("lake", "iceberg_rest", DialectUse("iceberg-rest"), "lakekeeper"),
    separator=":",
    candidates=(":", ";", "$", "|", "~", "^", "!", "+"),
    engines=("spark", "trino", "gravitino"),
    sources={"hms": DialectUse("hive"), "rest": DialectUse("iceberg-rest")},
)


def identifiers(spark: SparkSession, rows: int) -> DataFrame:
    """`rows` objects of two sources as the inventory hands them over: a namespace for every nine tables."""
    number = F.col("id")
    is_namespace = number % 10 == 0
    place = F.floor(number / 10)
    level = F.concat(F.lit("team_"), (place % 997).cast("string"))
    below = F.concat(F.lit("ns_"), place.cast("string"))
    odd = F.get(F.array(*map(F.lit, HOSTILE)), (number % len(HOSTILE)).cast("int"))
    inner = F.when(place % 100 == 1, odd).otherwise(below)  # an odd place: those of the second source
    in_hms = place % 2 == 0
    flat = F.concat(level, F.lit("__"), below)
    columns = {
        "role": F.lit("source"),
        "source": F.when(in_hms, "hms").otherwise("rest"),
        "system": F.when(in_hms, "hms").otherwise("iceberg_rest"),
        "object": F.when(is_namespace, "namespace").otherwise("table"),
        "levels": F.when(in_hms, F.array(F.lit("hive"), flat)).otherwise(F.array(level, inner)),
        "name": F.when(~is_namespace, F.concat(F.lit("table_"), number.cast("string"))),
        "status": F.lit("ok"),
    }

    nothing = {field.name: F.lit(None).cast(field.dataType) for field in OBJECTS if field.name not in columns}
    numbers = spark.range(rows, numPartitions=max(8, rows // 250_000))
    return as_declared(numbers, OBJECTS.fields, columns | nothing)


def plain(frame: DataFrame) -> None:
    """The pass that everything is compared with."""
    lengths = F.aggregate("levels", F.lit(0), lambda total, level: total + F.length(level))
    frame.agg(F.sum(lengths + F.coalesce(F.length("name"), F.lit(0)))).collect()


def full(frame: DataFrame) -> None:
    """Everything that the check stage works out; like the stage, it keeps the mapped rows."""
    with ExitStack() as kept:

        def keep(_name: str, of: DataFrame) -> DataFrame:
            rows, give_back = cut_off(of)
            kept.callback(give_back)
            return rows

        mapped = keep("mapped", map_sources(frame, CONTEXT))
        aside = kept.enter_context(ThreadPoolExecutor(1))
        matrix = aside.submit(fates, mapped, CONTEXT)
        check(frame, CONTEXT, mapped, keep=keep).findings.write.format("noop").mode("overwrite").save()
        matrix.result()


def core(frame: DataFrame) -> None:
    """The pure core over the rows: what each object has by itself, and collisions within a batch only."""

    def findings(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            subjects = [
                Subject(row["source"], row["object"], tuple(row["levels"]), row["name"]) for row in batch.to_pylist()
            ]
            yield pa.RecordBatch.from_pydict({"number": [len(check_core(subjects, CONTEXT))]})

    narrow = frame.select("source", "object", "levels", "name")
    narrow.mapInArrow(findings, "number long").agg(F.sum("number")).collect()


def seconds(work: Callable[[DataFrame], None], frame: DataFrame) -> float:
    """How long `work` takes over `frame`."""
    began = time.monotonic()
    work(frame)
    return time.monotonic() - began


def stored(spark: SparkSession, rows: int, folder: Path) -> DataFrame:
    """The identifiers from disk, as a stage reads them."""
    path = str(folder / f"rows-{rows}")
    identifiers(spark, rows).write.parquet(path)
    return spark.read.parquet(path)


def main() -> None:
    """Measure, and print the figure last."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--against", choices=("plain", "core", "growth"), default="plain")
    options = parser.parse_args()
    spark = open_session("local[2]", {"spark.driver.memory": "8g"})
    with tempfile.TemporaryDirectory() as scratch:
        frame = stored(spark, options.rows, Path(scratch))
        if options.against == "growth":
            more = stored(spark, GROWTH * options.rows, Path(scratch))
            pairs = [("rows", full, frame), (f"rows x {GROWTH}", full, more)]
        else:
            other = plain if options.against == "plain" else core
            pairs = [("check", full, frame), (options.against, other, frame)]
        warming = []
        for _ in range(WARM_UP):
            warming.append(seconds(full, frame))
            plain(frame)
        rounds = [[seconds(work, on) for _, work, on in pairs] for _ in range(ROUNDS[options.against])]
        counts = [on.count() for _, _, on in pairs]
    first, second = (statistics.median(taken) for taken in zip(*rounds, strict=True))
    for (name, *_), taken, number in zip(pairs, (first, second), counts, strict=True):
        print(f"{name}: {taken:.2f} s for {number:,} rows (median of {len(rounds)})")
    print(f"check: {warming[0]:.2f} s the first time in the session")
    print(f"driver's Python: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MiB at most")
    ratio = {"plain": first / second, "core": second / first, "growth": second / first / GROWTH}[options.against]
    print(f"ratio {ratio:.2f}")


if __name__ == "__main__":
    main()
