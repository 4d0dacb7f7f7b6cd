"""The commands themselves: their options, and how the workspace is found."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from nestsync.completion import complete_runs
from nestsync.history.choosing import choose_two
from nestsync.history.records import read_history
from nestsync.history.retention import Retention, outdated
from nestsync.names.commands import ConfigFile, Debug, Json, Quiet, WorkspaceFolder, workspace_files
from nestsync.past.comparison import Comparison
from nestsync.past.listing import History, read_listing
from nestsync.past.pruned import Pruned
from nestsync.shell import Manner, carry_out
from nestsync.ui import Confirm, Ui

SHOWN = 50


def history(
    config: ConfigFile = None,
    workspace: WorkspaceFolder = None,
    limit: Annotated[int, typer.Option("--limit", "-n", metavar="N", min=1, help="How many runs to show.")] = 20,
    json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """The runs of a workspace: when, how long, what they counted and what they ended with."""

    def work(_ui: Ui, _confirm: Confirm) -> History:
        return read_listing(workspace_files(config, workspace), limit)

    carry_out("history", Manner(json=json, quiet=quiet, debug=debug), work, config_file=config)


def diff(
    before: Annotated[
        str,
        typer.Argument(
            metavar="BEFORE",
            help="A run: its id, the beginning of it that no other has, `latest`, or `previous`: the latest before the "
            "other one that has a source in common with it.",
            autocompletion=complete_runs,
        ),
    ] = "previous",
    after: Annotated[
        str, typer.Argument(metavar="AFTER", help="The run to compare with it.", autocompletion=complete_runs)
    ] = "latest",
    config: ConfigFile = None,
    workspace: WorkspaceFolder = None,
    limit: Annotated[
        int, typer.Option("--limit", "-n", metavar="N", min=0, help="How many changes to show; a file has all of them.")
    ] = SHOWN,
    json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """What appeared, vanished, moved or changed between two runs."""

    def work(ui: Ui, _confirm: Confirm) -> Comparison:
        files = workspace_files(config, workspace)
        records = read_history(files)
        one, other = choose_two(files, before, after, records)

        from nestsync.config import HistoryConfig, SparkConfig, load
        from nestsync.runner.comparing import demand_rows, diff

        demand_rows(files.root, one, other)  # before Spark starts, which takes seconds
        loaded = None if config is None else load(config)
        spark = SparkConfig() if loaded is None else loaded.spark
        ignored = (HistoryConfig() if loaded is None else loaded.history).ignored_properties
        return Comparison(
            diff(files.root, one, other, ignored=ignored, shown=limit, ui=ui, master=spark.master, conf=spark.conf)
        )

    carry_out("diff", Manner(json=json, quiet=quiet, debug=debug), work, config_file=config)


def prune(
    config: Annotated[Path, typer.Option("-c", "--config", metavar="FILE", help="The configuration file (YAML).")],
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would go, and remove nothing.")] = False,
    json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Remove the rows and files of runs that the configuration's retention lets go."""

    def work(ui: Ui, _confirm: Confirm) -> Pruned:
        from nestsync.config import load

        loaded = load(config)
        retention = Retention(loaded.retention.keep_runs, loaded.retention.keep_days)
        files = workspace_files(config, None)
        goes, kept = outdated(files, read_history(files), retention, datetime.now(UTC))
        if dry_run or not goes:
            return Pruned([run.run_id for run in goes], kept, dry_run, limited=loaded.retention.limits)

        from nestsync.runner.pruning import prune
        from nestsync.session import open_session
        from nestsync.workspace import Workspace

        ui.stage_started("prune", "starting Spark")
        spark = open_session(loaded.spark.master, loaded.spark.conf, log=files.root / "logs" / "spark.log")
        ui.progress(0, len(goes), "runs removed")
        return Pruned(prune(Workspace(spark, files.root), retention, loaded.report_folder), kept, dry_run)

    carry_out("prune", Manner(json=json, quiet=quiet, debug=debug), work, config_file=config)


__all__ = ["diff", "history", "prune"]
