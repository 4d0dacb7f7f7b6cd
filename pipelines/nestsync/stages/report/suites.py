"""The suites of Great Expectations: a suite a stage that ran, over the run's own frames.

What is unexpected stands in a column of its own, called as the expectation, that is null where all is well: so
Data Docs name the objects, and nothing is collected but the first of them. A suite has one narrow frame, which is
persisted: the catalog is scanned once a suite, and not once an expectation.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from functools import reduce

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from nestsync.core.expectations import (
    EXPECTATIONS,
    HIERARCHY,
    INVENTORY,
    NAMES,
    RECONCILIATION,
    Settings,
    of_suite,
    unsteady,
)
from nestsync.core.findings import Severity
from nestsync.core.plan import ActionKind
from nestsync.history.records import RunRecord
from nestsync.reports.expectations import ABOUT, Held, Suite
from nestsync.reports.facts import CatalogRow, ReportFacts
from nestsync.stages.columns import depth, quoted, shown, upto
from nestsync.stages.report.frames import Frames

CATALOG, NAMESPACE, TABLE = "catalog", "namespace", "table"
OF_NAMESPACES, OF_TABLES = "count of namespaces", "count of tables"
_ABOUT = {
    "catalogs-answered": CATALOG,
    "namespaces-readable": NAMESPACE,
    "tables-readable": TABLE,
    "namespaces-steady": OF_NAMESPACES,
    "tables-steady": OF_TABLES,
}
_KINDS = {"namespaces-steady": ("namespace",), "tables-steady": ("table", "view")}
"""What is counted together."""

Texts = Mapping[str, Column]
"""What is unexpected in a row, by expectation; null where nothing is."""


def suites_of(facts: ReportFacts, frames: Frames, catalogs: Sequence[CatalogRow], cleanup: ExitStack) -> list[Suite]:
    """The suites of the stages that ran, their frames persisted until `cleanup`."""
    parts = {INVENTORY: _inventory(facts, frames, catalogs)}
    if frames.findings is not None:
        parts[NAMES] = _names(frames.findings)
    if frames.findings is not None or frames.actions is not None:
        parts[HIERARCHY] = _hierarchy(frames)
    if frames.actions is not None and facts.ledger is not None:
        parts[RECONCILIATION] = _reconciliation(frames, facts.differences)
    for frame in parts.values():
        cleanup.callback(frame.persist().unpersist)
    return [Suite(name, frame, _held(name, frame, facts.expected)) for name, frame in parts.items()]


def _held(suite: str, frame: DataFrame, settings: Mapping[str, Settings]) -> tuple[Held, ...]:
    """The expectations of `suite` that `frame` has a column for: what no stage looked at is not passed."""
    return tuple(
        Held(expected, settings[expected.name], _ABOUT.get(expected.name))
        for expected in of_suite(suite)
        if expected.name in frame.columns
    )


# ---- inventory


def _inventory(facts: ReportFacts, frames: Frames, catalogs: Sequence[CatalogRow]) -> DataFrame:
    """A row for each catalog, each count of a source, and each object that was read."""
    told = [("catalogs-answered", _silence(row)) for row in catalogs]
    told += [
        (name, _unsteady(name, row, facts.past.runs, facts.expected[name]))
        for name in _KINDS
        for row in catalogs
        if row.answered and row.catalog.role == "source"
    ]
    frame = _told(frames, told)
    if frames.objects is None:
        return frame
    is_namespace = F.col("object") == "namespace"
    error = F.when(F.col("status") == "unreadable", F.concat_ws(": ", _subject_text(), "error"))
    texts = {"namespaces-readable": F.when(is_namespace, error), "tables-readable": F.when(~is_namespace, error)}
    about = F.when(is_namespace, NAMESPACE).otherwise(TABLE).alias(ABOUT)
    return frame.unionAll(frames.objects.select(about, *_columns(_ABOUT, texts)))


def _told(frames: Frames, told: Iterable[tuple[str, str | None]]) -> DataFrame:
    """A row for each (expectation, what is unexpected) that is known without Spark."""
    rows = F.array(*(F.struct(F.lit(name), F.lit(text).cast("string")) for name, text in told))
    each = frames.spark.range(1).select(F.explode(rows.cast("array<struct<name:string,text:string>>")).alias("told"))
    texts = {name: F.when(F.col("told.name") == name, F.col("told.text")) for name in _ABOUT}
    about = F.coalesce(*(F.when(F.col("told.name") == name, kind) for name, kind in _ABOUT.items()))
    return each.select(about.alias(ABOUT), *_columns(_ABOUT, texts))


def _silence(row: CatalogRow) -> str | None:
    return None if row.answered else f"{row.catalog.name}: {row.catalog.error or 'not asked in this run'}"


def _unsteady(name: str, row: CatalogRow, past: Sequence[RunRecord], settings: Settings) -> str | None:
    """How far a source's count is from that of the latest run that read it; None where it is not, or none did."""
    source, kinds = row.catalog, _KINDS[name]
    for run in reversed(past):
        known = run.catalogs.get(source.name, {})
        counts = known.get("counts")
        if (known.get("role"), known.get("system")) == ("source", source.system) and isinstance(counts, Mapping):
            before = sum(counts.get(f"{kind}s", 0) for kind in kinds)
            found = unsteady(sum(row.objects.get(kind, 0) for kind in kinds), before, settings)
            return None if found is None else f"{source.name}: {found} (since run {run.run_id})"
    return None


# ---- names


def _names(findings: DataFrame) -> DataFrame:
    """A row for each finding; one that blocks is unexpected to the expectation that its rule belongs to."""
    expected = of_suite(NAMES)
    named = [rule for each in expected for rule in each.rules]
    text = F.when(F.col("severity") == str(Severity.BLOCKING), _finding_text())
    texts = {
        each.name: F.when(F.col("rule").isin(*each.rules) if each.rules else ~F.col("rule").isin(named), text)
        for each in expected
    }
    return findings.select(*_columns(texts, texts))


# ---- hierarchy, and reconciliation: a row for each namespace of the target


def _hierarchy(frames: Frames) -> DataFrame:
    parts = []
    if frames.actions is not None:
        parts.append(_orphans(frames.actions, frames.objects))
    if frames.findings is not None:
        parts.append(_found(frames.findings, "parents-in-sources", "first-parts-unambiguous"))
    return _by_levels(parts)


def _orphans(actions: DataFrame, objects: DataFrame | None) -> DataFrame:
    """What is planned, and what of it would stand below a namespace that is neither planned nor there."""
    planned = actions.where(F.col("kind") != str(ActionKind.BLOCKED))
    there = planned.select("levels")
    if objects is not None:
        held = (F.col("role") == "target") & (F.col("object") == "namespace")
        there = there.unionAll(objects.where(held).select("levels"))
    there = there.distinct().select(F.col("levels").alias("parent"), F.lit(True).alias("there"))
    above = upto(F.col("levels"), depth(F.col("levels")) - 1)
    children = planned.select("levels", "claimants", F.when(depth(F.col("levels")) > 1, above).alias("parent"))
    orphan = F.concat(
        _action_text(), F.lit(": its parent "), shown(F.col("parent")), F.lit(" is neither there nor planned")
    )
    missing = F.col("parent").isNotNull() & F.col("there").isNull()
    return children.join(there, "parent", "left").select(
        "levels", *_columns(["parents-planned"], {"parents-planned": F.when(missing, orphan)})
    )


def _reconciliation(frames: Frames, differences: DataFrame | None) -> DataFrame:
    assert frames.actions is not None  # noqa: S101  # there is nothing to reconcile without a plan
    parts = [_done(frames.actions)]
    if differences is not None:
        text = F.concat_ws(": ", shown(F.col("levels")), "detail")
        parts.append(differences.select("levels", *_columns(["target-equals-plan"], {"target-equals-plan": text})))
    if frames.findings is not None:
        parts.append(_found(frames.findings, "existing-as-wanted"))
    return _by_levels(parts)


def _done(actions: DataFrame) -> DataFrame:
    unsuccessful = F.col("outcome").isin("failed", "unknown", "pending")
    said = F.concat_ws(": ", F.concat_ws(" ", "kind", _action_text()), "outcome", "detail")
    left_out = F.concat_ws(": ", _action_text(), "reason")
    texts = {
        "actions-succeeded": F.when(unsuccessful, said),
        "nothing-left-out": F.when(F.col("kind") == str(ActionKind.BLOCKED), left_out),
    }
    return actions.select("levels", *_columns(texts, texts))


def _found(findings: DataFrame, *names: str) -> DataFrame:
    """The findings that the expectations `names` stand for, but for those that are accepted (`info`)."""
    rules = {name: EXPECTATIONS[name].rules for name in names}
    counts = F.col("severity") != str(Severity.INFO)
    texts = {name: F.when(F.col("rule").isin(*of), _finding_text()) for name, of in rules.items()}
    wanted = F.col("rule").isin(*(rule for of in rules.values() for rule in of))
    rows = findings.where(wanted & counts & F.col("target_levels").isNotNull())
    return rows.select(F.col("target_levels").alias("levels"), *_columns(texts, texts))


def _by_levels(parts: Sequence[DataFrame]) -> DataFrame:
    """One row a namespace out of `parts`, with the columns of all of them."""
    rows = reduce(lambda one, other: one.unionByName(other, allowMissingColumns=True), parts)
    columns = [name for name in rows.columns if name != "levels"]
    return rows.groupBy("levels").agg(*(F.max(f"`{name}`").alias(name) for name in columns)).drop("levels")


# ---- texts


def _action_text() -> Column:
    """A namespace of the plan, and the source namespace that it is for."""
    first = F.get("claimants", 0)
    claimed = F.concat(F.lit("for "), first["source"], F.lit(" "), shown(first["levels"]))
    return F.concat_ws(" ", shown(F.col("levels")), F.when(first.isNotNull(), claimed))


def _finding_text() -> Column:
    return F.concat_ws(" ", "rule", _subject_text())


def _subject_text() -> Column:
    """`reports.text.subject_text` as a column."""
    name = F.when(F.col("name").isNotNull(), quoted(F.col("name")))
    return F.concat_ws(" ", "source", shown(F.col("levels")), name)


def _columns(names: Iterable[str], texts: Texts) -> list[Column]:
    """A column for each of `names`, null where there is no text for it.

    What means something in HTML is escaped: Data Docs write values into their tables as they are.
    """
    return [_plain(texts[name]).alias(name) if name in texts else _null().alias(name) for name in names]


def _plain(text: Column) -> Column:
    for character in "&<>":
        text = F.replace(text, F.lit(character), F.lit(f"\\u{ord(character):04X}"))
    return text


def _null() -> Column:
    return F.lit(None).cast("string")


__all__ = ["suites_of"]
