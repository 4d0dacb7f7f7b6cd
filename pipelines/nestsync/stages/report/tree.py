"""The namespaces of a run as one tree: what is wanted and what is there, who asks for it, and what is wrong with it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial, reduce
from pathlib import Path

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import ArrayType

from nestsync.core.findings import Severity
from nestsync.core.identifiers import json_text
from nestsync.reports.facts import Capped, TreeRow
from nestsync.reports.text import csv_cell
from nestsync.reports.tree import state
from nestsync.schemas import CLAIMANT, LEVELS
from nestsync.stages.report.cells import claimants_cell, subjects
from nestsync.stages.report.frames import Frames, in_order, stream

FILE = "namespaces.csv"
SHOWN = 10_000
"""What the page shows; with 2,000 findings beside them it stays below 5 MB."""
_OF_FINDINGS = {"blocking": "long", "warnings": "long", "rule": "string"}
"""What a finding adds to the line of its namespace in the tree."""


def tree_of(frames: Frames, folder: Path) -> Capped[TreeRow] | None:
    """The namespaces of the target, wanted and there; where nothing is planned, those of the sources."""
    if frames.actions is not None:
        parts, place = _target_parts(frames.actions, frames.objects), _in_target
    elif frames.objects is not None:
        parts, place = [_source_part(frames.objects)], _in_sources
    else:
        return None
    if frames.findings is None:  # the check did not run
        parts[0] = parts[0].withColumns({name: F.lit(None).cast(kind) for name, kind in _OF_FINDINGS.items()})
    else:
        parts.append(_findings_part(frames.findings, place()))
        if frames.members is not None:
            parts.append(_findings_part(_elsewhere(frames.members, place), F.col("place")))
    # One shuffle for all: joins would cost one each.
    merged = reduce(partial(DataFrame.unionByName, allowMissingColumns=True), parts).groupBy("levels")
    tree = merged.agg(
        F.max(F.struct("weight", "kind", "outcome", "note", "claimants")).alias("is"),
        *(F.sum(F.coalesce(column, F.lit(0))).alias(column) for column in ("blocking", "warnings")),
        F.sort_array(F.collect_set("rule")).alias("rules"),
    )
    tree = tree.where(F.col("is.kind").isNotNull()).select("levels", "is.*", "blocking", "warnings", "rules")
    most = frames.sizes.get("actions", 0) + frames.sizes.get("objects", 0)

    def rows() -> Iterator[tuple[list[str], TreeRow]]:
        for row in in_order(tree, most, "levels"):
            word, note = state(row["kind"], row["outcome"]), row["note"]
            counts, rules = (row["blocking"], row["warnings"]), tuple(row["rules"])
            node = TreeRow(tuple(row["levels"]), word, note, subjects(row["claimants"]), *counts, rules)
            cells = [json_text(node.levels), word, csv_cell(note), claimants_cell(node.claimants)]
            yield [*cells, *map(str, counts), " ".join(rules)], node

    header = ("levels", "state", "note", "claimants", "blocking", "warnings", "rules")
    return stream(rows(), folder / FILE, header, SHOWN)


def _target_parts(actions: DataFrame, objects: DataFrame | None) -> list[DataFrame]:
    """What is wanted, and, of less weight, what is there."""
    telling = F.col("outcome").isin("failed", "unknown", "skipped")
    note = F.when(telling, F.coalesce("detail", "reason")).when(F.col("kind") == "blocked", F.col("reason"))
    wanted = actions.select(F.lit(2).alias("weight"), "levels", "kind", "outcome", note.alias("note"), "claimants")
    return [wanted] if objects is None else [wanted, _namespaces(objects, "target", F.array(), F.lit("existing"))]


def _source_part(objects: DataFrame) -> DataFrame:
    """The sources' own namespaces, each below its source: nothing is planned yet."""
    read = F.when(F.col("status") == "ok", "source").otherwise("unreadable")
    return _namespaces(objects, "source", F.array("source"), read)


def _namespaces(objects: DataFrame, role: str, above: Column, outcome: Column) -> DataFrame:
    return objects.where((F.col("role") == role) & (F.col("object") == "namespace")).select(
        F.lit(1).alias("weight"),
        F.concat(above.cast(LEVELS), "levels").alias("levels"),
        F.lit(role).alias("kind"),
        outcome.alias("outcome"),
        F.col("error").alias("note"),
        F.lit(None).cast(ArrayType(CLAIMANT)).alias("claimants"),
    )


def _in_target(of: str = "") -> Column:
    return F.col(f"{of}target_levels")


def _in_sources(of: str = "") -> Column:
    return F.concat(F.array(f"{of}source"), f"{of}levels")


def _elsewhere(members: DataFrame, place: Callable[[str], Column]) -> DataFrame:
    """Findings about several once for each place that they are about, beside that of the object they are told of."""
    others = members.where((F.col("role") == "source") & (place("") != place("finding.")))
    return others.select("rule", "severity", "finding", place("").alias("place")).distinct()


def _findings_part(findings: DataFrame, place: Column) -> DataFrame:
    found = findings.where(place.isNotNull() & (F.col("severity") != Severity.INFO.value))
    blocking = F.col("severity") == Severity.BLOCKING.value
    return found.select(
        place.alias("levels"),
        blocking.cast("long").alias("blocking"),
        (~blocking).cast("long").alias("warnings"),
        "rule",
    )


__all__ = ["FILE", "SHOWN", "tree_of"]
