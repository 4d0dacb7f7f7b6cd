"""Workspaces with a past, made as runs make them: the journal of the commands, and their summaries."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from nestsync.history.attempts import attempt, history_file
from nestsync.outcome import RunOutcome, StageOutcome
from nestsync.runfiles import RunFiles

INVENTORY: dict[str, dict[str, Any]] = {
    "hms": {"role": "source", "system": "hms", "counts": {"namespaces": 7, "tables": 20, "views": 1}},
    "lance": {"role": "source", "system": "lance_dir", "counts": {"namespaces": 1, "tables": 5, "unreadable": 1}},
    "lake": {"role": "target", "system": "iceberg_rest", "counts": {"namespaces": 100}},
}
VERIFIED = (
    StageOutcome("inventory", "ok", 4.0, {"namespaces": 108, "tables": 25}),
    StageOutcome("check", "ok", 2.0, {"blocking": 0, "warning": 3, "info": 1}),
    StageOutcome("apply", "ok", 1.0, {"applied": 4, "skipped": 2}),
    StageOutcome("verify", "ok", 1.0, {"verified": 6, "differences": 0}),
)
BLOCKED = (*VERIFIED[:1], StageOutcome("check", "blocked", 2.0, {"blocking": 2, "warning": 3, "info": 1}))
NOW = datetime(2026, 11, 28, 12, tzinfo=UTC)


def ended(
    files: RunFiles,
    run_id: str,
    *,
    exit_code: int = 0,
    stages: tuple[StageOutcome, ...] = VERIFIED,
    inventory: Mapping[str, Mapping[str, Any]] = INVENTORY,
    configuration: str = "/conf/a.yaml",
    command: str = "run",
    days_ago: int = 0,
) -> None:
    """A run whose command came to an end."""
    files.update_summary(run_id, "inventory", inventory)
    outcome = RunOutcome(run_id, command, exit_code, f"It ended with {exit_code}.", stages)
    with attempt(files, run_id, command=command, stages=["inventory"], configuration=configuration) as begun:
        begun.tell(outcome, inventory)
    backdated(files, run_id, NOW - timedelta(days=days_ago))


def unreachable(files: RunFiles, run_id: str, *, days_ago: int = 0) -> None:
    """A run that ended before it had an inventory."""
    with attempt(files, run_id, command="run", stages=["inventory"], configuration="/conf/a.yaml") as begun:
        begun.tell(RunOutcome(run_id, "run", 5, "hms did not answer."), {})
    backdated(files, run_id, NOW - timedelta(days=days_ago))


def died(files: RunFiles, run_id: str, *, inventory: Mapping[str, Mapping[str, Any]] | None = None) -> None:
    """A run whose process was gone before it could say so."""
    if inventory is not None:
        files.update_summary(run_id, "inventory", inventory)
    with attempt(files, run_id, command="run", configuration="/conf/a.yaml"):
        pass
    file = history_file(files, run_id)
    file.write_text(file.read_text().splitlines(keepends=True)[0] + '{"event": "ended", "se')  # torn, as it can be


def backdated(files: RunFiles, run_id: str, at: datetime) -> None:
    """Let `run_id` have begun at `at`."""
    file = history_file(files, run_id)
    lines = file.read_text().splitlines(keepends=True)
    whole = [json.dumps(json.loads(line) | {"at": at.isoformat()}) + "\n" for line in lines if line.endswith("\n")]
    file.write_text("".join([*whole, *(line for line in lines if not line.endswith("\n"))]))
