"""Removing runs that the retention lets go: their rows, then their files."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path

from nestsync.history.attempts import kept_from_others
from nestsync.history.records import RunRecord, read_history
from nestsync.history.retention import Retention, outdated, remove_files
from nestsync.workspace import Workspace

TABLES = ("namespaces", "tables", "mapped", "findings", "finding_members", "actions", "differences")
"""The tables whose rows go. `ledger` and `runs` say who made what, and are never shortened."""

AT_ONCE = 200
"""How many runs are locked at a time: each takes an open file."""


def prune(workspace: Workspace, retention: Retention, report_folder: Path) -> list[str]:
    """Remove what `retention` lets go; the ids of the runs that went, oldest first.

    A run that somebody begins to work on meanwhile stays. What is interrupted is taken up by the next one.
    """
    goes, _ = outdated(workspace, read_history(workspace), retention, datetime.now(UTC))
    gone: list[str] = []
    for first in range(0, len(goes), AT_ONCE):
        with ExitStack() as locks:
            portion = goes[first : first + AT_ONCE]
            free = [run for run in portion if locks.enter_context(kept_from_others(workspace, run.run_id))]
            if free:
                _remove_rows(workspace, free)
            for run in free:
                remove_files(workspace, run.run_id, report_folder)
            gone += (run.run_id for run in free)
    return gone


def _remove_rows(workspace: Workspace, runs: Sequence[RunRecord]) -> None:
    for name in TABLES:
        if workspace.holds(name):
            workspace.forget(name, [run.run_id for run in runs])


__all__ = ["TABLES", "prune"]
