"""From frames to the digest: every frame read once and in order, all rows into CSV files, the first ones kept."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC
from operator import itemgetter
from pathlib import Path

from pyspark.sql import DataFrame, Row
from pyspark.sql import functions as F

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
)
from nestsync.reports.text import csv_cell
from nestsync.stages.report.cells import claimants_cell, subjects
from nestsync.stages.report.changes import FILE as CHANGES_FILE
from nestsync.stages.report.changes import changes_of
from nestsync.stages.report.frames import Frames, in_order, stream
from nestsync.stages.report.members import FILE as MEMBERS_FILE
from nestsync.stages.report.members import members_of
from nestsync.stages.report.tree import FILE as TREE_FILE
from nestsync.stages.report.tree import tree_of

FINDINGS_FILE, ACTIONS_FILE = "findings.csv", "actions.csv"
FILES = (FINDINGS_FILE, ACTIONS_FILE, TREE_FILE, CHANGES_FILE, MEMBERS_FILE)
FINDINGS_SHOWN = 5_000
ACTIONS_SHOWN = 1_000
"""What the page shows of each."""
EXAMPLES = 20
"""How many subjects a JUnit case names."""


def digest_of(facts: ReportFacts, frames: Frames, catalogs: tuple[CatalogRow, ...], folder: Path) -> Digest:
    """The digest of a run, and its CSV files in `folder`."""
    with ThreadPoolExecutor(1) as aside:  # small jobs, which leave a core to each other
        tree = aside.submit(tree_of, frames, folder)
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
            examples=subjects(row["examples"]),
            allowed=row["allowed"],
            reason=row["reason"],
            suggested=row["suggested"],
        )
        for row in sorted(frame.collect(), key=itemgetter("rank"))
    )


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
                subjects(row["claimants"]),
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
                claimants_cell(action.claimants),
                "" if action.at is None else action.at.isoformat(),
                csv_cell(row["user"]),
                csv_cell(row["host"]),
            ]
            yield cells, action

    header = ("action_id", "kind", "levels", "outcome", "reason", "detail", "claimants", "at", "user", "host")
    return stream(rows(), folder / ACTIONS_FILE, header, ACTIONS_SHOWN), counts


__all__ = ["ACTIONS_SHOWN", "EXAMPLES", "FILES", "FINDINGS_SHOWN", "catalogs_of", "digest_of"]
