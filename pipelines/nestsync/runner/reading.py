"""The stages that only read: inventory and check."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from nestsync.catalogs import room
from nestsync.commands import command
from nestsync.core.checking.fates import FateRow
from nestsync.core.findings import Severity
from nestsync.errors import ConfigurationError
from nestsync.reports.text import subject_text
from nestsync.runner.context import RunContext
from nestsync.runner.progress import reading
from nestsync.schemas import TARGET_FIELDS
from nestsync.session import our_errors
from nestsync.stages.check import adjusted, check, map_sources
from nestsync.stages.check.fates import fates
from nestsync.stages.inventory import CatalogRef, counts_by_source, read_catalogs
from nestsync.stages.wanted import ABOUT, wanted

KINDS = ("namespaces", "tables", "views")
ROWS_PER_PARTITION = 50_000
"""How many objects a task of the stages after the inventory takes: many small tasks cost more than they do."""


def inventory(context: RunContext, sources: Sequence[str] | None = None) -> dict[str, int]:
    """Read every catalog of the run, or those called `sources` alone, into the workspace.

    Raises `CatalogUnreachable` for the first that does not answer; nothing of this inventory is kept then.
    """
    catalogs = context.catalogs(sources)
    separators = {catalog.name: _advertised(catalog) for catalog in catalogs}
    frame = context.keep("objects", read_catalogs(context.spark, catalogs))
    with our_errors(), reading(context.spark):
        counts = counts_by_source(frame)
    read = sum(number for kinds in counts.values() for kind, number in kinds.items() if kind in KINDS)
    frame = context.frames["objects"] = frame.coalesce(1 + read // ROWS_PER_PARTITION)
    listing = _store(context, frame, [catalog.name for catalog in catalogs])
    before = {facts.get("listing") for facts in context.facts("inventory").values()}
    facts = {
        catalog.name: {
            "role": catalog.role,
            "system": catalog.system,
            "separator": separators[catalog.name],
            "counts": counts.get(catalog.name, {}),
            "listing": listing,
        }
        for catalog in catalogs
    }
    context.note("inventory", **facts)
    context.note("naming", **_naming(context))
    context.workspace.drop_listings(context.run_id, {name for name in before if name is not None})
    if sources is not None:  # the run may hold more than was read just now
        context.drop("objects")
    return _summed(counts.values())


def _store(context: RunContext, frame: DataFrame, names: Sequence[str]) -> str:
    """Both tables and the listing at once, since a commit of few rows is mostly waiting; the listing's name."""
    parts = {"namespaces": ["namespace"], "tables": ["table", "view"]}

    def replace(table: str) -> None:
        rows = frame.where(F.col("object").isin(parts[table]))
        context.workspace.replace(table, rows, run_id=context.run_id, sources=names)

    with ThreadPoolExecutor(len(parts) + 1) as pool:
        listing = pool.submit(context.workspace.write_listing, frame, run_id=context.run_id)
        list(pool.map(replace, parts))
        return listing.result()


def _naming(context: RunContext) -> dict[str, object]:
    """What the configuration says of the separator, for who ranks the candidates before the check did."""
    said = context.config.separator
    return {
        "separator": said.value,
        "candidates": said.candidates,
        "policy": said.policy,
        "allowed": said.allowed,
    }


def _advertised(catalog: CatalogRef) -> str | None:
    ask = room(catalog.system).separator
    return None if ask is None else ask(catalog.options, catalog.name)


def _summed(counts: Iterable[Mapping[str, int]]) -> dict[str, int]:
    total: dict[str, int] = {}
    for each in counts:
        for key, number in each.items():
            total[key] = total.get(key, 0) + number
    return dict(sorted(total.items(), key=lambda item: (item[0] not in KINDS, item[0])))


def checked(context: RunContext) -> dict[str, int]:
    """Map every object, look for what is wrong with it, and put the wanted tree together."""
    demand_read(context)
    mapped = context.keep("mapped", map_sources(context.objects(), context.check_context))
    targets = mapped.select(*(field.name for field in TARGET_FIELDS))
    with ThreadPoolExecutor(1) as aside:
        rows = aside.submit(fates, mapped, context.check_context)
        findings = context.keep("findings", found(context))
        matrix = [_told(row) for row in rows.result()]
        tables = {"findings": findings, "finding_members": context.finding_members(), "mapped": targets}
        with ThreadPoolExecutor(len(tables)) as pool:  # a commit of few rows is mostly waiting
            stored = [
                pool.submit(context.workspace.replace, table, frame, run_id=context.run_id)
                for table, frame in tables.items()
            ]
            counts, blocking = _counted(context, findings)
            for each in stored:
                each.result()
    ranking = _ranking(context)
    context.note(
        "check",
        counts=counts,
        blocking=blocking,
        separators=ranking,
        matrix=matrix,
        mapped=True,
        **context.standing_on,
    )
    return counts


def demand_read(context: RunContext) -> None:
    """Raise `ConfigurationError` where a catalog of the run is not in its inventory: an assessment reads no target."""
    known = context.demand("inventory")
    missing = [catalog for catalog in context.catalogs() if catalog.name not in known]
    if missing:
        raise ConfigurationError(
            f"{missing[0].name} is not in the inventory of run {context.run_id}",
            where=str(context.config.path),
            hint=command("inventory", context.config.path, context.run_id, "--source", missing[0].name),
        )


def _counted(context: RunContext, findings: DataFrame) -> tuple[dict[str, int], dict[str, int]]:
    """How many `findings` there are of each severity, and of those that block, of each rule, with its first shown."""
    first = F.min(F.struct("source", "levels", "name", "message", "hint")).alias("first")
    # a row for each rule that found something
    rows = findings.groupBy("severity", "rule").agg(F.count("*").alias("number"), first).orderBy("rule").collect()
    counts = dict.fromkeys(map(str, (Severity.BLOCKING, Severity.WARNING, Severity.INFO)), 0)
    blocking = {}
    for row in rows:
        counts[row["severity"]] += row["number"]
        if row["severity"] == Severity.BLOCKING:
            blocking[row["rule"]] = row["number"]
            example = row["first"]
            subject = subject_text(example["source"], tuple(example["levels"]), example["name"])
            context.ui.note(f"{row['rule']} ({row['number']:,}), the first is {subject}: {example['message']}")
            context.ui.note(f"  {example['hint']}")
    return counts, blocking


def found(context: RunContext) -> DataFrame:
    """Every finding of the check and of the wanted tree; keeps the frames that the plan stands on."""
    mapped = context.frame("mapped", lambda: map_sources(context.objects(), context.check_context))
    with ThreadPoolExecutor(1) as aside:
        checks = aside.submit(_checks, context, mapped)
        tree, about_tree = wanted(
            mapped,
            lambda: _concerned(context, checks.result()),
            context.wanted_settings,
            adjust=lambda frame: adjusted(frame, context.check_context),
            keep=context.keep,
        )
    context.keep("wanted", tree)
    return checks.result().unionByName(about_tree)


def _checks(context: RunContext, mapped: DataFrame) -> DataFrame:
    result = check(context.objects(), context.check_context, mapped, keep=context.keep)
    context.keep("separators", result.separators)
    context.keep("finding_members", result.members)
    return context.keep("check-findings", result.findings)


def _concerned(context: RunContext, findings: DataFrame) -> DataFrame:
    """What `findings` of the check are about, also those of them that are about several objects, in `ABOUT`."""
    of_sources = context.finding_members().where(F.col("role") == "source")
    return findings.select(*ABOUT).unionByName(of_sources.select(*ABOUT))


def _told(row: FateRow) -> dict[str, object]:
    """A row of the matrix, for whoever reads it without Spark."""
    told = {
        "source": row.source,
        "side": row.way.side,
        "way": row.way.name,
        "hop": row.way.hops[row.ending.hop].dialect.name,
        "fate": str(row.ending.fate),
        "count": row.count,
    }
    if row.example is None:
        return told
    levels, became = row.example
    return told | {
        "example": {
            "levels": levels,
            "seen_as": became.levels,
            "text": became.text,
            "comes_back_as": became.read_back,
            "first_difference": became.first_difference,
            "reason": None if became.refusal is None else became.refusal.reason,
        }
    }


def _ranking(context: RunContext) -> list[dict[str, object]]:
    """The ranked separators, for whoever asks without Spark: as many rows as there are candidates."""
    configured = context.config.separator.value
    rows = context.frames["separators"].orderBy("rank").collect()
    return [
        {
            "separator": row["separator"],
            "configured": row["separator"] == configured,
            "conflicts": row["conflicts"],
            "examples": [{"source": each["source"], "levels": list(each["levels"])} for each in row["examples"]],
            "allowed": row["allowed"],
            "reason": row["reason"],
            "rank": row["rank"],
            "suggested": row["suggested"],
        }
        for row in rows
    ]


__all__ = ["checked", "found", "inventory"]
