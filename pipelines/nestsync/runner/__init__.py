"""Takes a run through its stages: what each needs before it may begin, and what is remembered of the run.

A run is one pass through the stages with a run id. Stages can be taken by one process or by several: each leaves
its rows in the workspace's Delta tables and its facts in the run's summary, and the next one finds them there.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from datetime import UTC, datetime

from pyspark.sql import SparkSession

from nestsync import __version__
from nestsync.config import Config
from nestsync.errors import ConfigurationError, LeaseHeld, NestsyncError
from nestsync.history.attempts import attempt
from nestsync.history.endings import read_ending
from nestsync.history.retention import Retention
from nestsync.outcome import BrokenOff, RunOutcome
from nestsync.reports.expectations import load_ahead
from nestsync.runfiles import RunFiles
from nestsync.runner.choosing import run_to_take
from nestsync.runner.context import RunContext, demand, demand_configured, demanded_target
from nestsync.runner.passing import BEGINS, Pass
from nestsync.runner.pruning import prune
from nestsync.runner.reporting import publishing
from nestsync.session import open_session
from nestsync.ui import Confirm, Ui
from nestsync.workspace import Workspace

STANDS_ON = {"check": "inventory", "plan": "check", "apply": "plan", "verify": "plan"}
"""What must have run before a stage, in this process or another."""


def run(
    config: Config,
    command: str,
    stages: tuple[str, ...],
    run_id: str | None,
    sources: tuple[str, ...] | None,
    ui: Ui,
    confirm: Confirm,
) -> RunOutcome:
    """Take a run through `stages`, and say how it went.

    `run_id` None is a new run where `stages` begin with the inventory, and the latest one otherwise. `sources`
    restricts the inventory. `confirm` is asked once, before anything is written to the target.

    Raises `NestsyncError` where no run could begin: no configuration to stand on, or no such run. Everything after
    that ends in the outcome, with its exit code; its error is what left nothing to report on, such as a catalog that
    does not answer. `BrokenOff` is raised for a signal, and for what is no error of a stage's.
    """
    files = RunFiles(config.workspace)
    taken = run_to_take(files, run_id, new=stages[0] == BEGINS)
    if "report" in stages:
        publishing(config)  # a key that is not there is said before the work, and not after it
    if stages[0] in STANDS_ON:  # said now, and not after Spark has started
        demand(files, taken, STANDS_ON[stages[0]], config)
    if command != "assess" and not {"plan", "apply", "verify"}.isdisjoint(stages):
        demanded_target(config)
    if sources is not None:
        demand_configured(config, sources, config.catalog_names)
    if stages[0] == BEGINS:
        _demand_workspace(config)
    if SparkSession.getActiveSession() is None:
        prepare(stages)
        ui.stage_started("spark", "starting Spark")
    spark = open_session(config.spark.master, config.spark.conf, log=config.workspace / "logs" / "spark.log")
    context = RunContext(
        spark=spark,
        workspace=Workspace(spark, config.workspace),
        config=config,
        run_id=taken,
        command=command,
        started_at=datetime.now(UTC),
        ui=ui,
        confirm=confirm,
        with_target=config.target is not None and command != "assess",
    )
    ending = read_ending(files, taken) if tuple(stages) == ("report",) else None
    if ending is not None and ending.under_way:
        raise LeaseHeld(f"run {taken} is under way", where=str(files.root), hint="ask for its report when it has ended")
    facts = {"command": command, "stages": stages, "version": __version__}
    facts |= {"configuration": str(config.path), "configuration_hash": config.fingerprint}
    taking = Pass(context, stages, sources, ending)
    try:
        with attempt(files, taken, **facts) as begun:
            outcome = taking.take(begun.stage)
            begun.tell(outcome, context.facts(BEGINS))
            if outcome.report is not None and outcome.error is None:
                _prune(context)
            return outcome
    except BaseException as error:
        raise BrokenOff(taking.so_far()) from error
    finally:
        context.release()


def _demand_workspace(config: Config) -> None:
    """Raise `ConfigurationError` where the workspace is no folder that can be written to, and none can be made."""
    try:
        config.workspace.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=config.workspace):
            pass
    except OSError as error:
        raise ConfigurationError(
            f"workspace: {config.workspace} is no folder that can be written to: {error.strerror}",
            where=str(config.path),
            hint="name another folder, or make room in this one",
        ) from error


def _prune(context: RunContext) -> None:
    """Remove the runs that the retention lets go, and say so; this run ended as it did, whatever comes of it."""
    said = context.config.retention
    try:
        gone = prune(context.workspace, Retention(said.keep_runs, said.keep_days), context.config.report_folder)
    except (NestsyncError, OSError) as error:
        context.ui.note(f"warning: older runs could not be removed: {error}")
        return
    if gone:
        context.ui.note(f"removed, as retention says: {len(gone):,} older {'run' if len(gone) == 1 else 'runs'}")


def prepare(stages: Sequence[str]) -> None:
    """Begin with what `stages` take seconds for and need no session for: it goes on while Spark starts."""
    if "report" in stages:
        load_ahead()


__all__ = ["prepare", "run"]
