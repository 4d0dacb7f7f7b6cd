"""What a shell offers for the word that is being typed: runs, catalogs and dialects, without Spark."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import typer

from nestsync.configfile import source_names, workspace_of
from nestsync.core.dialects import DIALECTS
from nestsync.errors import NestsyncError
from nestsync.runfiles import RunFiles


def complete_run_ids(ctx: typer.Context, incomplete: str) -> list[str]:
    """The runs in the workspace that the command line names, latest first."""
    with suppress(NestsyncError, OSError):
        return [run_id for run_id in reversed(_files(ctx).run_ids()) if run_id.startswith(incomplete)]
    return []


def complete_runs(ctx: typer.Context, incomplete: str) -> list[str]:
    """As `complete_run_ids`, and the words for the latest two."""
    words = [word for word in ("latest", "previous") if word.startswith(incomplete)]
    return [*words, *complete_run_ids(ctx, incomplete)]


def complete_sources(ctx: typer.Context, incomplete: str) -> list[str]:
    """The sources of the configuration file that stands on the command line."""
    with suppress(NestsyncError, OSError):
        return [name for name in source_names(_config_file(ctx)) if name.startswith(incomplete)]
    return []


def complete_catalogs(ctx: typer.Context, incomplete: str) -> list[str]:
    """The catalogs in the inventory of the run that the command line names, or of the last one."""
    with suppress(NestsyncError, OSError):
        _, known = _files(ctx).inventory(ctx.params.get("run_id"))
        return [name for name in known if name.startswith(incomplete)]
    return []


def complete_dialects(incomplete: str) -> list[str]:
    """The dialects."""
    return [name for name in DIALECTS if name.startswith(incomplete)]


def _files(ctx: typer.Context) -> RunFiles:
    return RunFiles(Path(ctx.params.get("workspace") or workspace_of(_config_file(ctx))))


def _config_file(ctx: typer.Context) -> Path:
    return Path(ctx.params.get("config") or "")


__all__ = ["complete_catalogs", "complete_dialects", "complete_run_ids", "complete_runs", "complete_sources"]
