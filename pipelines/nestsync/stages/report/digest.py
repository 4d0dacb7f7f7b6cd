"""From frames to the digest: every frame read once and in order, all rows into CSV files, the first ones kept."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC
from functools import partial, reduce
from operator import itemgetter
from pathlib import Path

from pyspark.sql import Column, DataFrame, Row
from pyspark.sql import functions as F
from pyspark.sql.types import ArrayType

from nestsync.core.findings import Severity
from nestsync.core.identifiers import json_text
from nestsync.history.actors import Actor
from nestsync.reports.changes import Changes
from nestsync.reports.facts import (
    ActionRow,
    Capped,
    CatalogFacts,
    CatalogRow,
    Digest,
    FindingRow,
    ReportFacts,
    RuleCase,
    SeparatorRow,
    Subject,
    TreeRow,
)
from nestsync.reports.text import csv_cell
from nestsync.reports.tree import state
from nestsync.schemas import CLAIMANT, LEVELS
from nestsync.stages.report.changes import FILE as CHANGES_FILE
from nestsync.stages.report.changes import changes_of
from nestsync.stages.report.frames import Frames, in_order, stream
from nestsync.stages.report.members import FILE as MEMBERS_FILE
from nestsync.stages.report.members import members_of

FINDINGS_FILE, ACTIONS_FILE, NAMESPACES_FILE = ("findings.csv", "actions.csv", "namespaces.csv")
FILES = (FINDINGS_FILE, ACTIONS_FILE, NAMESPACES_FILE, CHANGES_FILE, MEMBERS_FILE)
FINDINGS_SHOWN = 5_000
ACTIONS_SHOWN = 1_000
NAMESPACES_SHOWN = 10_000
"""What the page shows of each; with 2,000 findings and 10,000 namespaces it stays below 5 MB."""
_OF_FINDINGS = {"blocking": "long", "warnings": "long", "rule": "string"}
"""What a finding adds to the line of its namespace in the tree."""
EXAMPLES = 20
"""How many subjects a JUnit case names."""


def digest_of(facts: ReportFacts, frames: Frames, catalogs: tuple[CatalogRow, ...], folder: Path) -> Digest:
    """The digest of a run, and its CSV files in `folder`."""
    with ThreadPoolExecutor(1) as aside:  # small jobs, which leave a core to each other
        tree = aside.submit(_tree, frames, folder)
        findings, cases = _findings(frames, folder)
        actions, counts = _actions(frames, folder)
    return Digest(
        outcome=facts.outcome,
        started_at=facts.started_at,
        actors=facts.actors,
        configuration=facts.configuration,
        configuration_changed=facts.configuration_changed,
        catalogs=catalogs,
        findings=findings,
        cases=cases,
        members=members_of(frames.members, frames.sizes.get("members", 0), folder),
        separators=_separators(facts.separators),
        separator=facts.separator,
        actions=actions,
        action_counts=counts,
        tree=tree.result(),
        matrix=facts.matrix,
        purpose=facts.purpose,
        past=facts.past,
        changes=_changes(facts, frames, folder),
    )


def catalogs_of(catalogs: Sequence[CatalogFacts], objects: DataFrame | None) -> tuple[CatalogRow, ...]:
    """What each of `catalogs` answered with, and each that is in `objects` alone."""
    # One row a source, kind and status: what comes to the driver does not grow with the catalog.
    counted = [] if objects is None else objects.groupBy("source", "role", "object", "status").count().collect()
    named = {catalog.name for catalog in catalogs}
    strangers = sorted({(row["source"], row["role"]) for row in counted if row["source"] not in named})
    rows = []
    for catalog in (*catalogs, *(CatalogFacts(name, "", role, "") for name, role in strangers)):
        mine = [row for row in counted if row["source"] == catalog.name]
        kinds: Counter[str] = Counter()
        unread: Counter[str] = Counter()
        for row in mine:
            kinds[row["object"]] += row["count"]
            if row["status"] != "ok":
                unread[row["status"]] += row["count"]
        # A catalog that answered with nothing at all has answered, when the inventory came to its end.
        rows.append(CatalogRow(catalog, catalog.error is None and objects is not None, kinds, unread))
    return tuple(rows)


def _findings(frames: Frames, folder: Path) -> tuple[Capped[FindingRow] | None, tuple[RuleCase, ...]]:
    frame = frames.findings
    if frame is None:
        return None, ()
    counts: Counter[tuple[str, str, str]] = Counter()
    examples: dict[tuple[str, str, str], list[FindingRow]] = {}

    def rows() -> Iterator[tuple[list[str], FindingRow]]:
        severity = F.array_position(F.lit([str(part) for part in Severity]), F.col("severity"))
        for row in in_order(frame, frames.sizes["findings"], severity, "rule", "source", "levels", "name"):
            finding = _finding(row)
            key = (finding.rule, finding.subject.source, finding.severity)
            counts[key] += 1
            if counts[key] <= EXAMPLES:
                examples.setdefault(key, []).append(finding)
            yield _finding_cells(finding), finding

    header = ("severity", "rule", "source", "system", "object", "levels", "name", "target_levels", "message", "hint")
    capped = stream(rows(), folder / FINDINGS_FILE, header, FINDINGS_SHOWN)
    cases = (RuleCase(*key, count=count, examples=tuple(examples[key])) for key, count in counts.items())
    return capped, tuple(sorted(cases, key=lambda case: (case.rule, case.source, case.severity)))


def _finding(row: Row) -> FindingRow:
    return FindingRow(
        subject=Subject(row["source"], tuple(row["levels"]), row["name"], row["object"]),
        system=row["system"],
        rule=row["rule"],
        severity=row["severity"],
        target_levels=None if row["target_levels"] is None else tuple(row["target_levels"]),
        message=row["message"],
        hint=row["hint"],
    )


def _finding_cells(row: FindingRow) -> list[str]:
    subject, target = row.subject, row.target_levels
    return [
        row.severity,
        row.rule,
        csv_cell(subject.source),
        row.system,
        subject.object,
        json_text(subject.levels),
        "" if subject.name is None else json_text(subject.name),
        "" if target is None else json_text(target),
        csv_cell(row.message),
        csv_cell(row.hint),
    ]


def _changes(facts: ReportFacts, frames: Frames, folder: Path) -> Changes | None:
    compared = facts.compared
    if compared is None or frames.changes is None:
        return None
    return changes_of(frames.changes, compared.before, compared.after, folder / CHANGES_FILE, notes=compared.notes)


def _separators(frame: DataFrame | None) -> tuple[SeparatorRow, ...] | None:
    if frame is None:
        return None
    # One row a candidate of the configuration.
    return tuple(
        SeparatorRow(
            separator=row["separator"],
            conflicts=row["conflicts"],
            examples=_subjects(row["examples"]),
            allowed=row["allowed"],
            reason=row["reason"],
            suggested=row["suggested"],
        )
        for row in sorted(frame.collect(), key=itemgetter("rank"))
    )


def _subjects(rows: Sequence[Row] | None) -> tuple[Subject, ...]:
    return tuple(Subject(row["source"], tuple(row["levels"])) for row in rows or ())


def _actions(frames: Frames, folder: Path) -> tuple[Capped[ActionRow] | None, dict[tuple[str, str], int]]:
    frame = frames.actions
    if frame is None:
        return None, {}
    counts: Counter[tuple[str, str]] = Counter()

    def rows() -> Iterator[tuple[list[str], ActionRow]]:
        # What was done or has to be comes first, what stays as it is last.
        for row in in_order(
            frame, frames.sizes["actions"], F.col("kind") == "noop", F.col("outcome") != "failed", "levels"
        ):
            counts[row["kind"], row["outcome"]] += 1
            action = ActionRow(
                row["kind"],
                tuple(row["levels"]),
                row["outcome"],
                row["reason"],
                row["detail"],
                _subjects(row["claimants"]),
                None if row["at"] is None else row["at"].astimezone(UTC),
                None if row["user"] is None else Actor(row["user"], row["host"]),
            )
            cells = [
                row["action_id"],
                action.kind,
                json_text(action.levels),
                action.outcome,
                csv_cell(action.reason),
                csv_cell(action.detail),
                _claimants_cell(action.claimants),
                "" if action.at is None else action.at.isoformat(),
                csv_cell(row["user"]),
                csv_cell(row["host"]),
            ]
            yield cells, action

    header = ("action_id", "kind", "levels", "outcome", "reason", "detail", "claimants", "at", "user", "host")
    return stream(rows(), folder / ACTIONS_FILE, header, ACTIONS_SHOWN), counts


def _tree(frames: Frames, folder: Path) -> Capped[TreeRow] | None:
    """The namespaces of the target, wanted and there; where nothing is planned, those of the sources."""
    if frames.actions is not None:
        parts, place = _target_parts(frames.actions, frames.objects), F.col("target_levels")
    elif frames.objects is not None:
        parts, place = [_source_part(frames.objects)], F.concat(F.array("source"), "levels")
    else:
        return None
    if frames.findings is None:  # the check did not run
        parts[0] = parts[0].withColumns({name: F.lit(None).cast(kind) for name, kind in _OF_FINDINGS.items()})
    else:
        parts.append(_findings_part(frames.findings, place))
        if frames.members is not None:
            parts.append(_findings_part(_others(frames.members), place))
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
            node = TreeRow(tuple(row["levels"]), word, note, _subjects(row["claimants"]), *counts, rules)
            cells = [json_text(node.levels), word, csv_cell(note), _claimants_cell(node.claimants)]
            yield [*cells, *map(str, counts), " ".join(rules)], node

    header = ("levels", "state", "note", "claimants", "blocking", "warnings", "rules")
    return stream(rows(), folder / NAMESPACES_FILE, header, NAMESPACES_SHOWN)


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


def _others(members: DataFrame) -> DataFrame:
    """What findings about several are about beside the object that they are told of."""
    is_first = F.struct("source", "object", "levels", "name").eqNullSafe(F.col("finding"))
    return members.where((F.col("role") == "source") & ~is_first)


def _findings_part(findings: DataFrame, place: Column) -> DataFrame:
    found = findings.where(place.isNotNull() & (F.col("severity") != Severity.INFO.value))
    blocking = F.col("severity") == Severity.BLOCKING.value
    return found.select(
        place.alias("levels"),
        blocking.cast("long").alias("blocking"),
        (~blocking).cast("long").alias("warnings"),
        "rule",
    )


def _claimants_cell(claimants: Sequence[Subject]) -> str:
    return json.dumps([{"source": c.source, "levels": list(c.levels)} for c in claimants], ensure_ascii=False)


__all__ = ["ACTIONS_SHOWN", "EXAMPLES", "FILES", "FINDINGS_SHOWN", "NAMESPACES_SHOWN", "catalogs_of", "digest_of"]
