"""What holding a run of 100,000 identifiers with 2,000 findings to its expectations costs, in one Spark session.

    python benchmarks/expectations_cost.py [--identifiers 100000] [--findings 2000] [--against scan]
    python benchmarks/expectations_cost.py --against growth

Prints the seconds, the number of Spark jobs and that of the expectations. The last line is ``ratio N``: against one
plain pass over the same rows (`scan`), or ten times the identifiers against them (`growth`, for each of them).
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

from pyspark.sql import SparkSession
from pyspark.sql import functions as F
from report_cost import facts

from nestsync.reports.expectations import validate
from nestsync.reports.facts import ReportFacts
from nestsync.reports.settled import ExpectationResult
from nestsync.session import open_session, planned_once
from nestsync.stages.report.digest import catalogs_of
from nestsync.stages.report.frames import Frames
from nestsync.stages.report.suites import suites_of

ROUNDS = 3
GROWTH = 10


def expectations(of: ReportFacts, folder: Path) -> tuple[ExpectationResult, ...]:
    """Every expectation, and its Data Docs, over frames that the report has at hand."""
    with ExitStack() as cleanup:
        cleanup.enter_context(planned_once(SparkSession.active()))
        frames = Frames.of(of, cleanup)
        return validate(suites_of(of, frames, catalogs_of(of.catalogs, frames.objects), cleanup), folder)


def scan(of: ReportFacts) -> None:
    """One pass over the same frames: how many rows there are of what status, severity and kind."""
    for name, column in (("namespaces", "status"), ("tables", "status"), ("findings", "severity"), ("actions", "kind")):
        getattr(of, name).groupBy(column).agg(F.count("*"), F.max("levels")).collect()


def seconds(work: Callable[[], object]) -> float:
    """The median of how long `work` takes in `ROUNDS`, after one to warm up."""
    taken = []
    for _ in range(1 + ROUNDS):
        began = time.monotonic()
        work()
        taken.append(time.monotonic() - began)
    return statistics.median(taken[1:])


def main() -> None:
    """Measure, and print the figure last."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--identifiers", type=int, default=100_000)
    parser.add_argument("--findings", type=int, default=2_000)
    parser.add_argument("--against", choices=("scan", "growth"), default="scan")
    options = parser.parse_args()
    spark = open_session("local[2]", {"spark.driver.memory": "4g"})
    of = facts(spark, options.identifiers, options.findings)
    with tempfile.TemporaryDirectory() as scratch:
        spark.sparkContext.setJobGroup("expectations", "held once, to count the jobs")
        results = expectations(of, Path(scratch))
        jobs = len(spark.sparkContext.statusTracker().getJobIdsForGroup("expectations"))
        print(f"{len(results)} expectations in {len({result.suite for result in results})} suites: {jobs} Spark jobs")
        first = seconds(lambda: expectations(of, Path(scratch)))
        print(f"{options.identifiers:,} identifiers, {options.findings:,} findings: {first:.2f} s")
        if options.against == "scan":
            other = seconds(lambda: scan(of))
            print(f"one pass over the same rows: {other:.2f} s")
            print(f"ratio {first / other:.2f}")
        else:
            more = facts(spark, GROWTH * options.identifiers, options.findings)
            other = seconds(lambda: expectations(more, Path(scratch)))
            print(f"{GROWTH} times as many identifiers: {other:.2f} s")
            print(f"ratio {other / first / GROWTH:.2f}")


if __name__ == "__main__":
    main()
