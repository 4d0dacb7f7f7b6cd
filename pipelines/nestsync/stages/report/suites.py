"""The suites of Great Expectations: a suite a stage that ran, over the run's own frames.

What is unexpected stands in a column of its own, called as the expectation, that is null where all is well: so
Data Docs name the objects, and nothing is collected but the first of them. Under those columns is one narrow frame a
suite, of the name of an expectation and the text, which is persisted: the catalog is scanned, and a text put together,
once a suite, and not once an expectation.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
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
    Expected,
    Settings,
    of_suite,
    unsteady,
)
from nestsync.core.findings import Severity
from nestsync.core.plan import ActionKind
from nestsync.history.records import RunRecord
from nestsync.reports.expectations import ABOUT, Held, Suite
from nestsync.reports.facts import CatalogRow, ReportFacts
from nestsync.session import cut_off
from nestsync.stages.columns import depth, quoted, shown, upto
from nestsync.stages.report.frames import ROWS_AT_ONCE, Frames

CATALOG, NAMESPACE, TABLE = "catalog", "namespace", "table"
OF_NAMESPACES, OF_TABLES = "count of namespaces", "count of tables"
_ABOUT = {
    "catalogs-answered": CATALOG,
    "namespaces-readable": NAMESPACE,
    "tables-readable": TABLE,
    "namespaces-steady": OF_NAMESPACES,
    "tables-steady": OF_TABLES,
}
Part = tuple[DataFrame, Collection[str]]
"""A suite's frame, persisted later, and the names of the expectations that it can be held to."""
_KINDS = {"namespaces-steady": ("namespace",), "tables-steady": ("table", "view")}
"""What is counted together."""


def suites_of(facts: ReportFacts, frames: Frames, catalogs: Sequence[CatalogRow], cleanup: ExitStack) -> list[Suite]:
    """The suites of the stages that ran, their frames persisted until `cleanup`."""
    parts = {INVENTORY: _inventory(facts, frames, catalogs)}
    if frames.findings is not None:
        parts[NAMES] = _names(frames.findings)
    if frames.findings is not None or frames.actions is not None:
        parts[HIERARCHY] = _hierarchy(frames)
    if frames.actions is not None and facts.ledger is not None:
        parts[RECONCILIATION] = _reconciliation(frames.actions, frames.findings, facts.differences)
    tasks = 1 + sum(frames.sizes.values()) // ROWS_AT_ONCE
    suites = []
    for suite, (frame, names) in parts.items():
        rows, give_back = cut_off(frame.coalesce(tasks))
        cleanup.callback(give_back)
        suites.append(_suite(suite, rows, names, facts.expected))
    return suites


def _suite(suite: str, frame: DataFrame, names: Collection[str], settings: Mapping[str, Settings]) -> Suite:
    """The expectations of `suite` in `names`: what no stage looked at is not passed.

    `frame` has the texts in columns called so, or the names and the texts, of which columns are made.
    """
    held = tuple(
        Held(expected, settings[expected.name], _ABOUT.get(expected.name))
        for expected in of_suite(suite)
        if expected.name in names
    )
    if "name" in frame.columns:
        kinds = [ABOUT] if ABOUT in frame.columns else []
        frame = frame.select(*kinds, *_spread(part.expected.name for part in held))
    return Suite(suite, frame, held)


# ---- inventory


def _inventory(facts: ReportFacts, frames: Frames, catalogs: Sequence[CatalogRow]) -> Part:
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
        return frame, tuple(_ABOUT)
    is_namespace = F.col("object") == "namespace"
    unreadable = F.when(is_namespace, "namespaces-readable").otherwise("tables-readable")
    name = F.when(F.col("status") == "unreadable", unreadable)
    about = F.when(is_namespace, NAMESPACE).otherwise(TABLE).alias(ABOUT)
    rows = _texts(frames.objects, about, name=name, text=F.concat_ws(": ", _subject_text(), "error"))
    return frame.unionAll(rows), tuple(_ABOUT)


def _told(frames: Frames, told: Iterable[tuple[str, str | None]]) -> DataFrame:
    """A row for each (expectation, what is unexpected) that is known without Spark."""
    rows = F.array(*(F.struct(F.lit(_ABOUT[name]), F.lit(name), F.lit(text).cast("string")) for name, text in told))
    kind = f"array<struct<{ABOUT}:string,name:string,text:string>>"
    each = frames.spark.range(1).select(F.explode(rows.cast(kind)).alias("told"))
    return _texts(each, F.col(f"told.{ABOUT}").alias(ABOUT), name=F.col("told.name"), text=F.col("told.text"))


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


def _names(findings: DataFrame) -> Part:
    """A row for each finding; one that blocks is unexpected to the expectation that its rule belongs to."""
    expected = of_suite(NAMES)
    rest = next(each.name for each in expected if not each.rules)
    name = F.when(F.col("severity") == str(Severity.BLOCKING), F.coalesce(_of_rule(*expected), F.lit(rest)))
    return _texts(findings, name=name, text=_finding_text()), [each.name for each in expected]


# ---- hierarchy, and reconciliation: a row for each namespace of the target


def _hierarchy(frames: Frames) -> Part:
    parts, names = [], []
    if frames.actions is not None:
        parts.append(_orphans(frames.actions, frames.objects))
        names.append("parents-planned")
    if frames.findings is not None:
        found = ("parents-in-sources", "first-parts-unambiguous")
        parts.append(_found(frames.findings, *found))
        names += found
    return _by_levels(parts, names), names


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
    missing = F.col("parent").isNotNull() & F.col("there").isNull()
    said = (F.lit(": its parent "), shown(F.col("parent")), F.lit(" is neither there nor planned"))
    return _texts(
        children.join(there, "parent", "left"),
        "levels",
        name=F.when(missing, "parents-planned"),
        text=F.concat(_action_text(), *said),
    )


def _reconciliation(actions: DataFrame, findings: DataFrame | None, differences: DataFrame | None) -> Part:
    parts, names = [_done(actions)], ["actions-succeeded", "nothing-left-out"]
    if differences is not None:
        text = F.concat_ws(": ", shown(F.col("levels")), "detail")
        parts.append(_texts(differences, "levels", name=F.lit("target-equals-plan"), text=text))
        names.append("target-equals-plan")
    if findings is not None:
        parts.append(_found(findings, "existing-as-wanted"))
        names.append("existing-as-wanted")
    return _by_levels(parts, names), names


def _done(actions: DataFrame) -> DataFrame:
    unsuccessful = F.col("outcome").isin("failed", "unknown", "pending")
    name = F.when(unsuccessful, "actions-succeeded").when(
        F.col("kind") == str(ActionKind.BLOCKED), F.lit("nothing-left-out")
    )
    why = F.when(unsuccessful, F.concat_ws(": ", "outcome", "detail")).otherwise(F.col("reason"))
    return _texts(
        actions,
        "levels",
        name=name,
        text=F.concat_ws(": ", F.concat_ws(" ", F.when(unsuccessful, F.col("kind")), _action_text()), why),
    )


def _found(findings: DataFrame, *names: str) -> DataFrame:
    """The findings that the expectations `names` stand for, but for those that are accepted (`info`)."""
    name = _of_rule(*(EXPECTATIONS[each] for each in names))
    counts = (F.col("severity") != str(Severity.INFO)) & F.col("target_levels").isNotNull()
    rows = findings.where(name.isNotNull() & counts)
    return _texts(rows, F.col("target_levels").alias("levels"), name=name, text=_finding_text())


def _by_levels(parts: Sequence[DataFrame], names: Iterable[str]) -> DataFrame:
    """One row a namespace out of `parts`, with a column for each of `names`."""
    rows = reduce(DataFrame.unionAll, parts)
    return rows.groupBy("levels").agg(*(F.max(text).alias(name) for name, text in _by_name(names))).drop("levels")


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


def _of_rule(*expected: Expected) -> Column:
    """The name of the one among `expected` that a finding's rule belongs to; null where there is none."""
    return F.coalesce(*(F.when(F.col("rule").isin(*each.rules), each.name) for each in expected if each.rules))


def _texts(frame: DataFrame, *kept: Column | str, name: Column, text: Column) -> DataFrame:
    """`kept`, the ``name`` of the expectation to which a row is unexpected, and the ``text`` that says so, or nulls.

    What means something in HTML is escaped: Data Docs write values into their tables as they are.
    """
    return frame.select(*kept, name.alias("name"), F.when(name.isNotNull(), _plain(text)).alias("text"))


def _by_name(names: Iterable[str]) -> Iterator[tuple[str, Column]]:
    """Each of `names` with its texts."""
    for name in names:
        yield name, F.when(F.col("name") == name, F.col("text"))


def _spread(names: Iterable[str]) -> list[Column]:
    return [text.alias(name) for name, text in _by_name(names)]


def _plain(text: Column) -> Column:
    for character in "&<>":
        text = F.replace(text, F.lit(character), F.lit(f"\\u{ord(character):04X}"))
    return text


__all__ = ["suites_of"]
