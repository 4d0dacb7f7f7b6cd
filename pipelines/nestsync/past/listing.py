"""``nestsync history`` as a person and as a machine reads it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TextIO

from nestsync.errors import RunNotFound
from nestsync.history.endings import WITHOUT_A_WORD
from nestsync.history.records import DIED, FINISHED, SEVERITIES, UNDER_WAY, RunRecord, read_history
from nestsync.printing import print_table, visible, write_line
from nestsync.runfiles import RunFiles

COLUMNS = (
    "run", "began (UTC)", "took", "exit", "namespaces", "tables", *SEVERITIES, "written", "by", "configuration",
)  # fmt: skip


NOT_TOLD = "unknown"


@dataclass(frozen=True, slots=True)
class History:
    """The answer of ``nestsync history``: the latest runs, oldest first."""

    runs: tuple[RunRecord, ...]
    total: int

    def write(self, stream: TextIO) -> None:
        """A line a run, then the verdict of the latest."""
        print_table(stream, "", COLUMNS, [_row(run) for run in self.runs])
        if self.total > len(self.runs):
            write_line(stream, f"{self.total - len(self.runs):,} earlier runs: --limit N shows more")
        latest = self.runs[-1]
        write_line(stream, visible(f"the latest, {latest.run_id}: {_said(latest)}"))

    def as_json(self) -> dict[str, Any]:
        """The runs, oldest first."""
        return {"total": self.total, "runs": [run.as_json() for run in self.runs]}


def read_listing(files: RunFiles, limit: int, configuration: str | None = None) -> History:
    """The latest `limit` runs, or the latest of those made with `configuration` alone.

    Raises `RunNotFound` where there is none.
    """
    known = read_history(files)
    found = [run for run in known if configuration is None or run.configuration == configuration]
    if not found:
        what = "there is no run yet" if files.root.is_dir() else "there is no workspace"
        if known:
            what = f"no run was made with {configuration}"
        raise RunNotFound(what, where=str(files.root), hint="`nestsync run -c FILE` makes one")
    return History(tuple(found[-limit:]), len(found))


def _row(run: RunRecord) -> Sequence[str]:
    return (
        run.run_id,
        f"{run.started_at:%Y-%m-%d %H:%M}",
        "" if run.seconds is None else took(run.seconds),
        _ending(run),
        _number(run.objects("namespaces")),
        _number(run.objects("tables")),
        *(_number(run.findings(severity)) for severity in SEVERITIES),
        _number(run.written),
        ", ".join(map(str, run.actors)),
        run.configuration or "",
    )


def _said(run: RunRecord) -> str:
    """What the run came to; what its earlier commands said is no word on one that is under way, or died."""
    if run.state == UNDER_WAY:
        return "under way"
    if run.state == DIED:
        return f"it began, and {WITHOUT_A_WORD}" + ("" if run.died_in is None else f", in {run.died_in}")
    return run.verdict or "an older version did not keep what it ended with"


def _ending(run: RunRecord) -> str:
    if run.state in (UNDER_WAY, DIED):
        return run.state
    code = NOT_TOLD if run.exit_code is None else str(run.exit_code)
    if run.state == FINISHED and run.pruned:
        return f"{code}, pruned"
    return code


def took(seconds: float) -> str:
    """`seconds` as a person says it: ``48 s``, ``3 min 20 s``, ``2 h 05 min``."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    return f"{whole // 60} min {whole % 60:02} s" if whole < 3600 else f"{whole // 3600} h {whole % 3600 // 60:02} min"


def _number(count: int | None) -> str:
    return "" if count is None else f"{count:,}"


__all__ = ["History", "read_listing", "took"]
