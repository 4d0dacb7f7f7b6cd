"""What the report of 100,000 identifiers with 2,000 findings costs beside writing its rows down, in one Spark session.

    python benchmarks/report_cost.py [--identifiers 100000] [--findings 2000]

Prints the report step's seconds, the page's size, and how long its filters take to answer in Chromium (the median of
nine keys), where one is installed. The last line is ``ratio N``: the report step against writing the same rows as CSV.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from nestsync.outcome import RunOutcome, StageOutcome
from nestsync.reports.facts import CatalogFacts, ReportFacts
from nestsync.schemas import TABLES
from nestsync.session import open_session
from nestsync.stages.columns import as_declared
from nestsync.stages.report import write_reports

TABLES_OF_A_NAMESPACE = 9
CATALOGS = (
    CatalogFacts("hms", "hms", "source", "thrift://127.0.0.1:9083"),
    CatalogFacts("lake", "iceberg_rest", "target", "http://127.0.0.1:8181"),
)
KEYS = ("t", "te", "tea", "team", "team_", "team_1", "team_17", "team_17 n", "team_17 ns_1")
"""What somebody types, key by key."""
_FILTER = """([field, text]) => new Promise((done) => {
    const began = performance.now();
    field.value = text;
    field.dispatchEvent(new Event("input", { bubbles: true }));
    requestAnimationFrame(() => setTimeout(() => done(performance.now() - began)));
})"""


def facts(spark: SparkSession, identifiers: int, findings: int) -> ReportFacts:
    """A run that wrote every namespace, as the stages hand it over."""
    places = identifiers // (1 + TABLES_OF_A_NAMESPACE)
    team = F.concat(F.lit("team_"), (F.col("id") % 97).cast("string"))
    name = F.concat(F.lit("ns_"), F.col("id").cast("string"))
    flat, nested = F.array(F.lit("hive"), F.concat_ws("__", team, name)), F.array(team, name)
    read = {"role": F.lit("source"), "source": F.lit("hms"), "system": F.lit("hms"), "status": F.lit("ok")}
    of_action = {"action_id": F.concat(F.lit("a"), F.col("id").cast("string")), "kind": F.lit("create_namespace")}
    claimant = F.struct(F.lit("hms").alias("source"), flat.alias("levels"))
    wrong = {
        "rule": F.when(F.col("id") % 2 == 0, "separator-conflict").otherwise("missing-parent"),
        "severity": F.when(F.col("id") % 2 == 0, "blocking").otherwise("warning"),
        "message": F.concat(F.lit("the level "), name, F.lit(" holds ':', which the target reads as hierarchy")),
        "hint": F.lit("choose ';', which no name holds, or rename it in the mapping file"),
    }
    namespace, table = {"object": F.lit("namespace"), "levels": flat}, {"object": F.lit("table"), "levels": flat}
    return ReportFacts(
        outcome=RunOutcome("run", "run", 0, f"{places:,} namespaces.", (StageOutcome("inventory", "ok", 1.0, {}),)),
        started_at=datetime.now(UTC),
        catalogs=CATALOGS,
        namespaces=_frame(spark, "namespaces", places, read | namespace),
        tables=_frame(spark, "tables", identifiers - places, read | table | {"name": F.concat(F.lit("t_"), name)}),
        findings=_frame(spark, "findings", findings, read | namespace | wrong | {"target_levels": nested}),
        actions=_frame(
            spark,
            "actions",
            places,
            of_action | {"levels": nested, "reason": F.lit("it is not there"), "claimants": F.array(claimant)},
        ),
        ledger=_frame(
            spark,
            "ledger",
            places,
            of_action | {"levels": nested, "event": F.lit("applied"), "at": F.current_timestamp()},
        ),
    )


def _frame(spark: SparkSession, table: str, rows: int, columns: dict[str, Column]) -> DataFrame:
    schema = StructType([field for field in TABLES[table] if field.name != "run_id"])
    empty = {field.name: F.lit(None).cast(field.dataType) for field in schema}
    declared = {name: column for name, column in (empty | columns).items() if name in schema.names}
    return as_declared(spark.range(rows), schema.fields, declared).localCheckpoint()


def plain(of: ReportFacts, folder: Path) -> None:
    """The same rows into CSV files, one after the other."""
    for name in ("namespaces", "tables", "findings", "actions"):
        frame: DataFrame = getattr(of, name)
        text = (F.to_json(F.struct(column)).alias(column) for column in frame.columns)
        frame.select(*text).write.csv(str(folder / name), mode="overwrite")


def seconds(work: Callable[[], object]) -> float:
    """How long `work` takes."""
    began = time.monotonic()
    work()
    return time.monotonic() - began


def answers_within(page: Path) -> dict[str, float]:
    """The median of the milliseconds that each filter takes in Chromium, by its label."""
    from playwright.sync_api import sync_playwright

    sys.path.append(str(Path(__file__).parents[1]))  # started as a script, it is not there
    from tools.browser import arguments, chromium

    program, took = chromium(), {}
    if program is None:
        return {}
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=arguments())
        tab = browser.new_page()
        tab.goto(page.as_uri())
        for label in ("Filter findings", "Find a namespace"):
            field = tab.get_by_label(label).element_handle()
            took[label] = statistics.median(tab.evaluate(_FILTER, [field, text]) for text in KEYS)
        browser.close()
    return took


def main() -> None:
    """Measure, and print the figure last."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--identifiers", type=int, default=100_000)
    parser.add_argument("--findings", type=int, default=2_000)
    options = parser.parse_args()
    spark = open_session("local[2]", {"spark.driver.memory": "4g"})
    of = facts(spark, options.identifiers, options.findings)
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "report"
        pairs = [
            (seconds(lambda: write_reports(of, folder)), seconds(lambda: plain(of, Path(scratch)))) for _ in range(3)
        ][1:]
        report, rows = (statistics.median(each) for each in zip(*pairs, strict=True))
        page = folder / "index.html"
        print(f"report of {options.identifiers:,} identifiers, {options.findings:,} findings: {report:.2f} s")
        print(f"the same rows as CSV: {rows:.2f} s")
        print(f"page: {page.stat().st_size / 1e6:.2f} MB")
        for label, took in answers_within(page).items():
            print(f"{label}: {took:.0f} ms in Chromium")
    print(f"ratio {report / rows:.2f}")


if __name__ == "__main__":
    main()
