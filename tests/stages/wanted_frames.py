"""Records of `core` as the DataFrames that the stages take, and their rows as records again.

The frames are as a workspace gives them back: whatever is declared, everything in them may be null.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql.types import StructType

from nestsync.catalogs.records import NAMESPACE_FIELDS, SCHEMAS
from nestsync.core.claims import Claimant, SourceObject
from nestsync.core.findings import Finding, Member, Severity
from nestsync.core.plan import Action, ActionKind, TargetNamespace
from nestsync.core.wanted import WantedNamespace
from nestsync.schemas import ACTION_FIELDS, FINDING_FIELDS, MAPPED_FIELDS, WANTED_FIELDS, contract
from nestsync.stages.check.local import local_frame
from nestsync.stages.wanted import ABOUT
from nestsync.workspace import as_stored

MAPPED = contract(*NAMESPACE_FIELDS, *MAPPED_FIELDS)


def mapped_frame(spark: SparkSession, objects: Iterable[SourceObject]) -> DataFrame:
    """Source objects as mapped rows."""
    rows = [
        {
            "source": item.source,
            "system": "hms",
            "object": item.object,
            "levels": list(item.levels),
            "name": item.name,
            "properties": list(item.properties.items()),
            "owner": item.owner,
            "comment": item.comment,
            "location": item.location,
            "status": item.status,
            "target_levels": None if item.target_levels is None else list(item.target_levels),
            "target_name": item.name,
            "mapping_rule": "identity",
        }
        for item in objects
    ]
    return local_frame(spark, rows, as_stored(MAPPED))


def finding_frame(spark: SparkSession, findings: Iterable[Finding]) -> DataFrame:
    """Findings as the check hands them over."""
    rows = [
        {
            "source": finding.source,
            "system": "hms",
            "object": finding.object,
            "levels": list(finding.levels),
            "name": finding.name,
            "rule": finding.rule,
            "severity": str(finding.severity),
            "target_levels": None if finding.target_levels is None else list(finding.target_levels),
            "message": finding.message,
            "hint": finding.hint,
        }
        for finding in findings
    ]
    return local_frame(spark, rows, as_stored(contract(*FINDING_FIELDS)))


def about_frame(spark: SparkSession, findings: Iterable[Finding]) -> DataFrame:
    """What `findings` are about, as the wanted tree takes it."""
    each = [replace(finding, **_about(item)) for finding in findings for item in (finding, *finding.of_sources)]
    return finding_frame(spark, each).select(*ABOUT)


def _about(item: Finding | Member) -> dict[str, Any]:
    return {name: getattr(item, name) for name in ABOUT if hasattr(item, name)}


def finding_records(frame: DataFrame) -> list[Finding]:
    """Rows of findings as records."""
    return [
        Finding(
            rule=row["rule"],
            severity=Severity(row["severity"]),
            source=row["source"],
            object=row["object"],
            levels=tuple(row["levels"]),
            name=row["name"],
            target_levels=None if row["target_levels"] is None else tuple(row["target_levels"]),
            message=row["message"],
            hint=row["hint"],
        )
        for row in frame.collect()
    ]


def wanted_frame(spark: SparkSession, namespaces: Iterable[WantedNamespace]) -> DataFrame:
    """Wanted namespaces as the plan takes them."""
    rows = [
        {
            "levels": list(wanted.levels),
            "explicit": wanted.explicit,
            "properties": list(wanted.properties.items()),
            "claimants": _claimant_rows(wanted.claimants),
            "blocked": wanted.blocked,
        }
        for wanted in namespaces
    ]
    return local_frame(spark, rows, as_stored(contract(*WANTED_FIELDS)))


def wanted_records(frame: DataFrame) -> list[WantedNamespace]:
    """Rows of the wanted tree as records, parents first."""
    found = [
        WantedNamespace(
            tuple(row["levels"]), row["explicit"], row["properties"], _claimants(row["claimants"]), row["blocked"]
        )
        for row in frame.collect()
    ]
    return sorted(found, key=lambda wanted: (len(wanted.levels), wanted.levels))


def target_frame(spark: SparkSession, namespaces: Iterable[TargetNamespace]) -> DataFrame:
    """Namespaces of a target as its inventory holds them."""
    rows = [
        {
            "source": target.source,
            "system": "iceberg_rest",
            "object": "namespace",
            "levels": list(target.levels),
            "properties": list(target.properties.items()),
            "owner": target.properties.get("owner"),
            "comment": target.properties.get("comment"),
            "location": target.properties.get("location"),
            "status": target.status,
            "error": None if target.status == "ok" else "403",
        }
        for target in namespaces
    ]
    return local_frame(spark, rows, as_stored(SCHEMAS["namespaces"]))


def action_frame(spark: SparkSession, actions: Iterable[Action]) -> DataFrame:
    """Actions as the plan hands them over."""
    rows = [
        {
            "action_id": action.action_id,
            "kind": str(action.kind),
            "levels": list(action.levels),
            "properties": list(action.properties.items()),
            "reason": action.reason,
            "claimants": _claimant_rows(action.claimants),
        }
        for action in actions
    ]
    return local_frame(spark, rows, as_stored(contract(*ACTION_FIELDS)))


def action_records(frame: DataFrame) -> list[Action]:
    """Rows of actions as records, parents first; each row's id is that of the record."""
    return sorted(map(_action, frame.collect()), key=lambda action: (len(action.levels), action.levels))


def _action(row: Row) -> Action:
    action = Action(
        ActionKind(row["kind"]),
        tuple(row["levels"]),
        row["properties"],
        row["reason"],
        _claimants(row["claimants"]),
    )
    assert action.action_id == row["action_id"]
    return action


def _claimant_rows(claimants: Iterable[Claimant]) -> list[dict[str, object]]:
    return [{"source": claimant.source, "levels": list(claimant.levels)} for claimant in claimants]


def _claimants(rows: Iterable[Row]) -> tuple[Claimant, ...]:
    return tuple(Claimant(row["source"], tuple(row["levels"])) for row in rows)


def names_and_types(schema: StructType) -> list[tuple[str, str]]:
    """What a contract promises, apart from what may be null."""
    return [(field.name, field.dataType.simpleString()) for field in schema]
