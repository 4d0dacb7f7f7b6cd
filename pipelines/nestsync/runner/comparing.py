"""Two runs of a workspace side by side, for the report and for ``nestsync diff``."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

from pyspark.sql import DataFrame

from nestsync.catalogs.records import SCHEMAS
from nestsync.errors import ConfigurationError
from nestsync.history.choosing import demand_inventory
from nestsync.history.records import RunRecord
from nestsync.reports.changes import Changes, catalogs, settings_notes
from nestsync.reports.facts import Compared
from nestsync.runfiles import RunFiles
from nestsync.session import open_session, our_errors
from nestsync.stages.compare import Side, compare
from nestsync.stages.report.changes import changes_of
from nestsync.ui import Ui
from nestsync.workspace import Workspace

FOLDER = "diffs"


def compared(
    workspace: Workspace,
    before: RunRecord,
    after: RunRecord,
    *,
    ignored: Collection[str],
    after_side: Side | None = None,
    keep: Callable[[DataFrame], DataFrame] = lambda frame: frame,
) -> Compared:
    """What is another in `after` than in `before`; lazy. `after_side` spares reading frames that are at hand."""
    one, other = side(workspace, before), after_side or side(workspace, after)
    frame = compare(
        one, other, catalogs(before) & catalogs(after), ignored=ignored, unread=_unread(before, after), keep=keep
    )
    return Compared(before, after, frame, (*settings_notes(before, after), *_unknown(before, after, one, other)))


def side(workspace: Workspace, run: RunRecord) -> Side:
    """What the workspace holds of `run`."""
    names = ("namespaces", "tables", "mapped", "findings")
    with ThreadPoolExecutor(len(names)) as pool:  # finding out what a Delta table holds is mostly waiting
        read = dict(zip(names, pool.map(lambda name: workspace.read(name, run_id=run.run_id), names), strict=True))
    columns = ["role", *SCHEMAS["all"].names]
    objects = read["tables"].unionByName(read["namespaces"], allowMissingColumns=True).select(*columns)
    check = workspace.summary(run.run_id).get("check", {})
    mapped = read["mapped"] if check.get("mapped") else None  # an older version kept no targets
    return Side(objects, mapped, read["findings"] if check else None)


def _unread(*runs: RunRecord) -> bool:
    """Whether a namespace may have been unreadable in one of `runs`."""
    counts = [facts.get("counts") for run in runs for facts in run.catalogs.values()]
    return any(not isinstance(found, Mapping) or found.get("unreadable") for found in counts)


def _unknown(before: RunRecord, after: RunRecord, one: Side, other: Side) -> list[str]:
    found = []
    for run, held in ((before, one), (after, other)):
        if held.findings is None:
            found.append(f"run {run.run_id} was not checked: findings are not compared")
        elif held.mapped is None:
            found.append(f"run {run.run_id} left no targets of its names: what moved is not told")
    return found


def diff(
    root: Path,
    before: RunRecord,
    after: RunRecord,
    *,
    ignored: Collection[str],
    shown: int,
    ui: Ui,
    master: str | None = None,
    conf: Mapping[str, str] | None = None,
) -> Changes:
    """What is another in `after` than in `before`: the first `shown` rows, and all of them in a CSV file.

    Raises `RunNotFound` for a run without rows, and `ConfigurationError` for two that have no catalog in common.
    """
    demand_rows(root, before, after)
    ui.stage_started("diff", "starting Spark")
    workspace = Workspace(open_session(master, conf, log=root / "logs" / "spark.log"), root)
    ui.progress(0, None, f"comparing {before.run_id} with {after.run_id}")
    file = root / FOLDER / f"{before.run_id}..{after.run_id}.csv"
    file.parent.mkdir(parents=True, exist_ok=True)
    with ExitStack() as cleanup, our_errors():

        def keep(frame: DataFrame) -> DataFrame:
            cleanup.callback(frame.persist().unpersist)
            return frame

        found = compared(workspace, before, after, ignored=ignored, keep=keep)
        return changes_of(keep(found.frame), before, after, file, notes=found.notes, shown=shown)


def demand_rows(root: Path, before: RunRecord, after: RunRecord) -> None:
    """Raise as `diff` does for two runs that cannot be compared."""
    for run in (before, after):
        demand_inventory(RunFiles(root), run, "compare")
    if not catalogs(before) & catalogs(after):
        raise ConfigurationError(
            f"runs {before.run_id} and {after.run_id} have no catalog in common",
            where=str(root),
            hint="`nestsync history --json` says which catalogs each run read",
        )


__all__ = ["FOLDER", "compared", "demand_rows", "diff", "side"]
