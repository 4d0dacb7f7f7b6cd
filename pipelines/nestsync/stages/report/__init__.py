"""Report: the frames of a run, read once each and in order, into what people and machines read.

Everything is bounded: the page shows the first rows up to a cap, the CSV files beside it hold all of them,
streamed. Great Expectations looks at the same frames, natively.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from nestsync.reports import expectations, html, machines
from nestsync.reports.facts import ReportFacts, ReportPaths
from nestsync.reports.machines import Publishing
from nestsync.reports.settled import blocking_failures, settled
from nestsync.session import planned_once
from nestsync.stages.report.digest import FILES, catalogs_of, digest_of
from nestsync.stages.report.frames import Frames
from nestsync.stages.report.suites import suites_of

AT_HOME = Publishing()


def write_reports(facts: ReportFacts, folder: Path, publishing: Publishing = AT_HOME) -> ReportPaths:
    """Write the report of one run into `folder` (made when missing): the page, CSV files, Data Docs, and for machines.

    What is for machines goes where `publishing` says, too. A failed expectation is no error: see
    `ReportPaths.failed_expectations`. Needs a running Spark session, also where `facts` holds no
    frame. Raises `OSError` where the folder cannot be written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for file in FILES:  # of an earlier report: a stage that did not run this time leaves none
        (folder / file).unlink(missing_ok=True)
    with ExitStack() as cleanup, ThreadPoolExecutor(1) as aside:
        cleanup.enter_context(planned_once(SparkSession.active()))
        frames = Frames.of(facts, cleanup)
        catalogs = catalogs_of(facts.catalogs, frames.objects)
        validated = aside.submit(lambda: expectations.validate(suites_of(facts, frames, catalogs, cleanup), folder))
        digest = digest_of(facts, frames, catalogs, folder)
        results = validated.result()
        outcome = facts.outcome
        if blocking_failures(results):
            config = facts.configuration.get("configuration")
            outcome = settled(outcome, results, sent=_sent(facts), config=config)
    digest = replace(digest, expectations=results, outcome=outcome)
    written = machines.write(digest, folder, publishing)
    return ReportPaths(
        html=html.write(digest, folder),
        json=written.json,
        junit=written.junit,
        markdown=written.markdown,
        metrics=written.metrics,
        lineage=written.lineage,
        problems=written.problems,
        data_docs=folder / expectations.FOLDER / "index.html",
        outcome=digest.outcome,
        expectations=results,
    )


def _sent(facts: ReportFacts) -> bool:
    """Whether a write was sent to the target: from then on nothing ends with 3."""
    if facts.ledger is None:
        return False
    return not facts.ledger.where(F.col("event").isin("intent", "applied", "failed")).isEmpty()


__all__ = ["write_reports"]
