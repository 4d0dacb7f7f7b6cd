"""Which runs may go, and their files. Their rows in the Delta tables are `runner.pruning`'s.

What stays of a run that went: its line in the history, its rows in the tables ``runs`` and ``ledger``, and its
journal: who made what, when, and from which source is never forgotten.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from nestsync.history.attempts import tell_pruned
from nestsync.history.records import UNDER_WAY, RunRecord
from nestsync.runfiles import RunFiles, checked_run_id

GOES = ("listings", "plans")
"""The folders of the workspace that hold a folder for each run, of which nothing is needed any more."""


@dataclass(frozen=True, slots=True)
class Retention:
    """How long runs are kept: one goes when each limit that is set allows it. None sets no limit."""

    keep_runs: int | None = None
    """A run may go once so many later ones have an inventory: nights that failed push out no good ones."""
    keep_days: int | None = None


@dataclass(frozen=True, slots=True)
class Kept:
    """A run that the limits would remove, and why it stays."""

    run_id: str
    reason: str


def outdated(
    files: RunFiles, records: Sequence[RunRecord], retention: Retention, now: datetime
) -> tuple[list[RunRecord], list[Kept]]:
    """The runs in `records` (oldest first) that may go, and those that the limits would take but something needs."""
    if retention.keep_runs is None and retention.keep_days is None:
        return [], []
    there = [record for record in records if not record.pruned]
    latest = set() if retention.keep_runs is None else _latest(there, retention.keep_runs)
    goes: list[RunRecord] = []
    stays: list[Kept] = []
    for record in there:
        young = retention.keep_days is not None and record.started_at > now - timedelta(days=retention.keep_days)
        if record.run_id in latest or young:
            continue
        reason = _needed(files, record, there)
        if reason is None:
            goes.append(record)
        else:
            stays.append(Kept(record.run_id, reason))
    return goes, stays


def _latest(records: Sequence[RunRecord], count: int) -> set[str]:
    """The last `count` runs that have an inventory, and those without one from the oldest of them on."""
    inventoried = [index for index, record in enumerate(records) if record.has_rows]
    first = inventoried[-count] if len(inventoried) >= count else 0
    return {record.run_id for record in records[first:]}


def _needed(files: RunFiles, record: RunRecord, records: Sequence[RunRecord]) -> str | None:
    """Why `record` must stay; None where nothing needs it."""
    if record.state == UNDER_WAY:
        return "it is under way"
    of_target = [each for each in records if each.target == record.target and each.target is not None]
    verified = [each for each in of_target if each.verified]
    if verified and verified[-1].run_id == record.run_id:
        return f"it is the latest that verified {record.target}"
    later = of_target[of_target.index(record) + 1 :] if record in of_target else []
    if _unfinished(files, record) and not any(each.verified for each in later):
        return "its writes are unfinished, and no later run verified them"
    inventoried = [each for each in records if each.has_rows]
    if inventoried and inventoried[-1].run_id == record.run_id:
        return "it is the latest with an inventory"
    return None


def _unfinished(files: RunFiles, record: RunRecord) -> bool:
    """Whether it began to write and did not come to an end, or not to a good one."""
    began = any((files.root / "journal" / record.run_id).glob("*.jsonl"))
    return began and ("apply" not in record.stages or bool(record.stages["apply"].get("failed")))


def remove_files(files: RunFiles, run_id: str, report_folder: Path) -> None:
    """Remove the files of `run_id`; its summary goes last, so that what is interrupted is taken up again.

    Then the history says so: of a run that never had an inventory, nothing else tells that it went.
    """
    name = checked_run_id(run_id)
    for folder in (*(files.root / kind for kind in GOES), report_folder):
        shutil.rmtree(folder / name, ignore_errors=True)
    for comparison in (files.root / "diffs").glob("*.csv"):
        if name in comparison.stem.split(".."):
            comparison.unlink(missing_ok=True)
    (files.root / "locks" / f"summary-{name}.lock").unlink(missing_ok=True)
    (files.root / "runs-json" / f"{name}.json").unlink(missing_ok=True)
    tell_pruned(files, name)


__all__ = ["Kept", "Retention", "outdated", "remove_files"]
