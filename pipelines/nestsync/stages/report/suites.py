"""The suites of Great Expectations: a suite a stage that ran, over the run's own frames.

What is unexpected stands in a column of its own that is null where all is well, so that Data Docs name the
objects and nothing is collected but the first of them.
"""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from nestsync.core.findings import Severity
from nestsync.reports.expectations import Expectation, Suite
from nestsync.reports.facts import CatalogRow, ReportFacts
from nestsync.stages.columns import quoted, shown
from nestsync.stages.report.frames import Frames


def suites_of(facts: ReportFacts, frames: Frames, catalogs: Sequence[CatalogRow]) -> list[Suite]:
    """The suites of the stages that ran."""
    suites = [_inventory(frames, catalogs)]
    if frames.findings is not None:
        suites.append(_names(frames.findings))
    if frames.actions is not None and facts.ledger is not None:
        suites.append(_reconciliation(frames.actions, facts.differences))
    return suites


def _inventory(frames: Frames, catalogs: Sequence[CatalogRow]) -> Suite:
    silent = Expectation("catalog without an answer", "every catalog answered", Severity.BLOCKING)
    unreadable = Expectation("unreadable object", "every object could be read", Severity.WARNING)
    answers = F.array(*(F.lit(_silence(row)).cast("string") for row in catalogs)).cast("array<string>")
    frame = frames.spark.range(1).select(F.explode(answers).alias(silent.column), _null(unreadable.column))
    if frames.objects is not None:
        error = F.when(F.col("status") == "unreadable", F.concat_ws(": ", _subject_text(), "error"))
        frame = frame.unionAll(frames.objects.select(_null(silent.column), _plain(error, unreadable.column)))
    return Suite("inventory", frame, (silent, unreadable))


def _silence(row: CatalogRow) -> str | None:
    return None if row.answered else f"{row.catalog.name}: {row.catalog.error or 'not asked in this run'}"


def _names(findings: DataFrame) -> Suite:
    blocking = Expectation("blocking finding", "no name has a blocking finding", Severity.BLOCKING)
    found = F.when(F.col("severity") == Severity.BLOCKING.value, F.concat_ws(" ", "rule", _subject_text()))
    return Suite("names", findings.select(_plain(found, blocking.column)), (blocking,))


def _reconciliation(actions: DataFrame, differences: DataFrame | None) -> Suite:
    missed = Expectation("action without success", "every action succeeded", Severity.BLOCKING)
    different = Expectation("difference", "the target holds what was planned", Severity.BLOCKING)
    unsuccessful = F.col("outcome").isin("failed", "unknown", "pending")
    text = F.when(unsuccessful, F.concat_ws(" ", "kind", shown(F.col("levels")), "outcome"))
    frame = actions.select(_plain(text, missed.column), _null(different.column))
    if differences is None:
        return Suite("reconciliation", frame, (missed,))
    found = F.concat_ws(": ", shown(F.col("levels")), "detail")
    frame = frame.unionAll(differences.select(_null(missed.column), _plain(found, different.column)))
    return Suite("reconciliation", frame, (missed, different))


def _subject_text() -> Column:
    """`reports.text.subject_text` as a column."""
    name = F.when(F.col("name").isNotNull(), quoted(F.col("name")))
    return F.concat_ws(" ", "source", shown(F.col("levels")), name)


def _plain(text: Column, name: str) -> Column:
    """`text` with what means something in HTML escaped: Data Docs write values into their tables as they are."""
    for character in "&<>":
        text = F.replace(text, F.lit(character), F.lit(f"\\u{ord(character):04X}"))
    return text.alias(name)


def _null(name: str) -> Column:
    return F.lit(None).cast("string").alias(name)


__all__ = ["suites_of"]
