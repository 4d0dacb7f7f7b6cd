"""Workspaces as an inventory and a check leave them, made without Spark."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nestsync.core.identifiers import Levels
from nestsync.runfiles import RunFiles

SYSTEMS = {"warehouse": "hms", "lakehouse": "iceberg_rest", "platform": "iceberg_rest"}
NAMING = {"separator": ":", "candidates": [":", ";", "$"], "policy": "restricted", "allowed": [":", ";", "$"]}


@dataclass(frozen=True)
class Namespace:
    """One row of a listing."""

    levels: Levels
    status: str = "ok"
    error: str | None = None


def inventoried(
    root: Path,
    catalogs: dict[str, Iterable[Namespace | Levels]],
    *,
    run_id: str = "r1",
    listing: str = "one",
    naming: dict[str, Any] | None = None,
) -> RunFiles:
    """A workspace in which a run read `catalogs`; the one called ``platform`` is the target."""
    files = RunFiles(root)
    folder = files.listing_folder(run_id, listing)
    folder.mkdir(parents=True)
    facts = {}
    for number, (name, rows) in enumerate(catalogs.items()):
        role = "target" if name == "platform" else "source"
        namespaces = [row if isinstance(row, Namespace) else Namespace(row) for row in rows]
        lines = (
            {"source": name, "role": role, "levels": row.levels, "status": row.status}
            | ({} if row.error is None else {"error": row.error})
            for row in namespaces
        )
        text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
        (folder / f"part-{number:05d}.json").write_text(text, encoding="utf-8")
        facts[name] = {
            "role": role,
            "system": SYSTEMS[name],
            "separator": None,
            "counts": {"namespaces": len(namespaces), "tables": 7},
            "listing": listing,
        }
    files.update_summary(run_id, "inventory", facts)
    files.update_summary(run_id, "naming", NAMING if naming is None else naming)
    return files
