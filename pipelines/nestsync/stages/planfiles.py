"""The plan as people read it: ``plan.csv`` and ``plan.json`` beside the Delta table, and whether they were edited."""

from __future__ import annotations

import csv
import hashlib
import json
from collections.abc import Mapping
from pathlib import Path

from pyspark.sql import DataFrame, Row
from pyspark.sql import functions as F

from nestsync.errors import PlanOutdated
from nestsync.stages.plan import plan_hash, recomputed

COLUMNS = ("kind", "levels", "properties", "reason", "claimants", "action_id")
EDIT_HINT = "what people edit is the mapping file or the configuration; then make a new plan with `nestsync run`"


def write_plan_files(actions: DataFrame, folder: Path) -> dict[str, str]:
    """Write the plan, parents first, into `folder`; what comes back are the files' SHA-256, by name.

    Rows are streamed: neither file is ever in memory as a whole. Levels and properties are JSON in the CSV.
    """
    ordered = actions.select(*COLUMNS).orderBy(F.size("levels"), "levels").toLocalIterator(prefetchPartitions=True)
    with (
        (folder / "plan.csv").open("w", encoding="utf-8", newline="") as table,
        (folder / "plan.json").open("w", encoding="utf-8") as document,
    ):
        writer = csv.writer(table)
        writer.writerow(COLUMNS)
        document.write("[")
        for index, row in enumerate(ordered):
            action = _plain(row)
            writer.writerow([held if isinstance(held, str) else _json(held) for held in action.values()])
            document.write(("," if index else "") + "\n" + _json(action))
        document.write("\n]\n")
    return digests(folder)


def _plain(row: Row) -> dict[str, object]:
    action = row.asDict(recursive=True)
    return action | {"properties": dict(sorted(action["properties"].items()))}


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def digests(folder: Path) -> dict[str, str]:
    """SHA-256, in hex, of the plan's files in `folder`; a file that is not there has none."""
    return {
        file.name: hashlib.file_digest(file.open("rb"), "sha256").hexdigest()
        for file in (folder / "plan.csv", folder / "plan.json")
        if file.exists()
    }


def check_unedited(actions: DataFrame, folder: Path, *, recorded_hash: str, recorded_files: Mapping[str, str]) -> None:
    """Raise `PlanOutdated` where the plan's rows or its files are no longer what was planned."""
    if plan_hash(recomputed(actions)) != recorded_hash or plan_hash(actions) != recorded_hash:
        raise PlanOutdated("the plan in the workspace was edited after it was made", where=str(folder), hint=EDIT_HINT)
    now = digests(folder)
    for name, digest in recorded_files.items():
        if now.get(name) != digest:
            what = "was edited" if name in now else "is gone"
            raise PlanOutdated(f"{name} {what} since the plan was made", where=str(folder / name), hint=EDIT_HINT)


__all__ = ["check_unedited", "digests", "write_plan_files"]
