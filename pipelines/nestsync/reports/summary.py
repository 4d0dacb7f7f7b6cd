"""`summary.json`: the report for machines, in the shape that `summary.schema.json` declares."""

from __future__ import annotations

import json
from dataclasses import asdict
from importlib import resources
from pathlib import Path
from typing import Any

from nestsync.core.findings import Severity
from nestsync.reports.facts import Capped, CatalogRow, Digest, MatrixRow, SeparatorRow, Subject

FILE = "summary.json"
SCHEMA_VERSION = 1
"""Raised when a reader of an older version could misread a document; a new key alone does not raise it."""


def schema() -> dict[str, Any]:
    """The JSON Schema (draft 2020-12) of the document."""
    text = resources.files("nestsync.reports").joinpath("summary.schema.json").read_text(encoding="utf-8")
    found: dict[str, Any] = json.loads(text)
    return found


def write(digest: Digest, folder: Path) -> Path:
    """Write ``summary.json`` into `folder`: levels are lists, counts are complete, rows are in the CSV files."""
    path = folder / FILE
    # ASCII alone: a name with a direction mark or a lone surrogate must not depend on who reads the file.
    path.write_text(json.dumps(document(digest), indent=1, ensure_ascii=True) + "\n", encoding="ascii")
    return path


def document(digest: Digest) -> dict[str, Any]:
    """The document as JSON types."""
    outcome = digest.outcome
    run = outcome.as_json()
    del run["report"]  # it lies beside this file
    return {
        "schema": "nestsync.summary",
        "schema_version": SCHEMA_VERSION,
        **run,
        "started_at": digest.started_at.isoformat(),
        "actors": [actor.as_json() for actor in digest.actors],
        "configuration": dict(digest.configuration),
        "configuration_changed": digest.configuration_changed,
        "catalogs": [_catalog(row) for row in digest.catalogs],
        "findings": _findings(digest),
        "separators": None if digest.separators is None else [_separator(row, digest) for row in digest.separators],
        "matrix": None if digest.matrix is None else [_matrix_row(row) for row in digest.matrix],
        "plan": _plan(digest),
        "namespaces": _file(digest.tree),
        "changes": _changes(digest),
        "expectations": [
            {
                "suite": result.suite,
                "name": result.name,
                "expectation": result.expectation,
                "severity": str(result.severity),
                "success": result.success,
                "rows": result.rows,
                "unexpected": result.unexpected,
                "examples": list(result.examples),
                "mostly": result.mostly,
                "departures": list(result.departures),
                "reason": result.reason,
            }
            for result in digest.expectations
        ],
    }


def _catalog(row: CatalogRow) -> dict[str, Any]:
    catalog = row.catalog
    return {
        "name": catalog.name,
        "system": catalog.system,
        "role": catalog.role,
        "address": catalog.address,
        "answered": row.answered,
        "error": catalog.error,
        "objects": dict(row.objects),
        "unread": dict(row.unread),
    }


def _findings(digest: Digest) -> dict[str, Any] | None:
    if digest.findings is None:
        return None
    severities = digest.severities()
    return {
        "total": digest.findings.total,
        "file": digest.findings.file,
        "by_severity": {str(severity): severities[severity] for severity in Severity},
        "by_rule": [
            {"rule": case.rule, "source": case.source, "severity": case.severity, "count": case.count}
            for case in digest.cases
        ],
    }


def _separator(row: SeparatorRow, digest: Digest) -> dict[str, Any]:
    return {
        "separator": row.separator,
        "configured": row.separator == digest.separator,
        "conflicts": row.conflicts,
        "allowed": row.allowed,
        "suggested": row.suggested,
        "reason": row.reason,
        "examples": [_subject(example) for example in row.examples],
    }


def _matrix_row(row: MatrixRow) -> dict[str, Any]:
    told = asdict(row)
    if row.example is None:
        del told["example"]
    return told


def _subject(subject: Subject) -> dict[str, Any]:
    return {"source": subject.source, "levels": list(subject.levels)}


def _plan(digest: Digest) -> dict[str, Any] | None:
    if digest.actions is None:
        return None
    counts = [
        {"kind": kind, "outcome": outcome, "count": count}
        for (kind, outcome), count in sorted(digest.action_counts.items())
    ]
    return {"total": digest.actions.total, "file": digest.actions.file, "actions": counts}


def _changes(digest: Digest) -> dict[str, Any] | None:
    found = digest.changes
    if found is None:
        return None
    return {
        "since": found.before.run_id,
        "sentence": found.sentence,
        "notes": list(found.notes),
        "total": found.total,
        "file": Path(found.file).name,
        "counts": list(found.counts_json()),
    }


def _file(capped: Capped[Any] | None) -> dict[str, Any] | None:
    return None if capped is None else {"total": capped.total, "file": capped.file}


__all__ = ["FILE", "SCHEMA_VERSION", "document", "schema", "write"]
