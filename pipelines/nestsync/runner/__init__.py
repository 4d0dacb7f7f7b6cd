"""Which stage follows which, what a run remembers, and what it ends with.

A run is one pass through the stages with a run id. Stages can be taken by one process or by several: each leaves
its rows in the workspace's Delta tables and its facts in the run's summary, and the next one finds them there.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

from nestsync import __version__
from nestsync.config import Config
from nestsync.errors import LeaseHeld, NestsyncError
from nestsync.history.actors import this_process
from nestsync.history.attempts import Attempt, attempt
from nestsync.history.endings import Ending, read_ending
from nestsync.history.retention import Retention
from nestsync.outcome import RunOutcome, StageOutcome
from nestsync.reports.expectations import load_ahead
from nestsync.runfiles import RunFiles
from nestsync.runner.choosing import run_to_take
from nestsync.runner.context import RunContext, demand, demand_configured, demanded_target
from nestsync.runner.outcomes import next_steps, not_met, verdict
from nestsync.runner.progress import watched
from nestsync.runner.pruning import prune
from nestsync.runner.reading import checked, inventory
from nestsync.runner.reporting import publishing, report, report_stopped
from nestsync.runner.standing import standing
from nestsync.runner.writing import applied, planned, verified
from nestsync.schemas import RUN_FIELDS, contract
from nestsync.session import open_session, our_errors
from nestsync.ui import Confirm, Ui
from nestsync.workspace import Workspace

BEGINS = "inventory"
"""The stage that a new run begins with; every other one goes on with a run."""
STANDS_ON = {"check": "inventory", "plan": "check", "apply": "plan", "verify": "plan"}
"""What must have run before a stage, in this process or another."""
DOING = {
    "inventory": "reading {read}",
    "check": "mapping and checking every name",
    "plan": "comparing with {target}",
    "apply": "writing to {target}",
    "verify": "reading {target} again",
    "report": "writing the report",
}


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
    does not answer.
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
        target = () if config.target is None else (config.target.name,)
        demand_configured(config, sources, [*(source.name for source in config.sources), *target])
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
    try:
        with attempt(files, taken, **facts) as begun:
            outcome = _Pass(context, stages, sources, begun, ending).take()
            begun.tell(outcome, context.facts(BEGINS))
            if outcome.report is not None and outcome.error is None:
                _prune(context)
            return outcome
    finally:
        context.release()


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


class _Pass:
    """One process's way through the stages of a run."""

    def __init__(
        self,
        context: RunContext,
        stages: Sequence[str],
        sources: Sequence[str] | None,
        begun: Attempt,
        ending: Ending | None,
    ) -> None:
        self.context = context
        self.stages = stages
        self.sources = sources
        self.begun = begun
        self.ending = ending
        self.outcomes: list[StageOutcome] = []
        self.exit_code = 0
        self.report: Path | None = None
        self.stopped: NestsyncError | None = None
        self.settled: RunOutcome | None = None
        """What the report says that the run ended with; from then on, nothing else does."""

    def take(self) -> RunOutcome:
        with ThreadPoolExecutor(1) as aside:  # while the first stage waits for others
            begun = aside.submit(self._record, [StageOutcome(self.stages[0], "started", 0.0, {})])
            try:
                for stage in self.stages:
                    if self.stopped is not None:
                        break
                    if stage == "report":
                        self._report()
                    elif self.exit_code == 0 or self._goes_on(stage):
                        self._stage(stage)
            finally:
                begun.result()
                self._record(self.outcomes)
        if self.stopped is not None and "report" in self.stages:
            self.report, problems = report_stopped(self.context, self._outcome())
            self._warn(problems)
        return self._outcome()

    def _goes_on(self, stage: str) -> bool:
        """Whether `stage` still has a point: findings do not keep us from planning, nor failures from verifying."""
        return (stage == "plan" and self.exit_code == 3) or (stage == "verify" and self.exit_code == 4)

    def _stage(self, stage: str) -> None:
        started = time.monotonic()
        self.begun.stage(stage)
        doing = self._doing(stage)
        self.context.ui.stage_started(stage, doing)
        try:
            with watched(self.context.spark, self.context.ui, doing), our_errors():
                counts = self._do(stage)
        except NestsyncError as error:
            self._finished(StageOutcome(stage, "failed", time.monotonic() - started, {}, str(error)))
            self.exit_code = max(self.exit_code, error.exit_code)
            if stage == BEGINS or not self.context.facts(BEGINS):
                self.stopped = error
            return
        code = self._code(stage, counts)
        status = {0: "ok", 3: "blocked"}.get(code, "failed")
        self._finished(StageOutcome(stage, status, time.monotonic() - started, counts))
        self.exit_code = code or self.exit_code

    def _doing(self, stage: str) -> str:
        """What `stage` does, with the catalogs that it does it to."""
        named = self.sources or [catalog.name for catalog in self.context.catalogs()]
        target = self.context.config.target
        return DOING[stage].format(read=", ".join(named), target=target.name if target else "the target")

    def _do(self, stage: str) -> dict[str, int]:
        match stage:
            case "inventory":
                return inventory(self.context, self.sources)
            case "check":
                return checked(self.context)
            case "plan":
                return planned(self.context)
            case "apply":
                return applied(self.context)
            case _:
                return verified(self.context)

    def _code(self, stage: str, counts: dict[str, int]) -> int:
        """What `counts` of `stage` mean for the exit code."""
        if stage == "check" and counts["blocking"] and (self.context.config.on_blocking == "stop"):
            return 3
        if stage == "apply" and (counts.get("failed") or counts.get("blocked")):
            return 4
        if stage == "verify" and counts.get("differences"):
            return 4
        return 0

    def _report(self) -> None:
        started = time.monotonic()
        self.begun.stage("report")
        self.context.ui.stage_started("report", DOING["report"])
        with watched(self.context.spark, self.context.ui, DOING["report"]):
            paths = report(self.context, self._outcome() if self.ending is None else self._as_it_stands(self.ending))
        self.report = paths.html
        self._warn(paths.problems)
        self.settled = paths.outcome
        self.exit_code = paths.outcome.exit_code
        for line in not_met(paths.failed_expectations):
            self.context.ui.note(line)
        counts = {"expectations": len(paths.expectations), "failed": len(paths.failed_expectations)}
        self._finished(StageOutcome("report", "ok", time.monotonic() - started, counts))

    def _warn(self, problems: Sequence[str]) -> None:
        for problem in problems:
            self.context.ui.note(f"warning: {problem}")

    def _finished(self, outcome: StageOutcome) -> None:
        self.outcomes.append(outcome)
        self.context.ui.stage_finished(outcome)

    def _as_it_stands(self, ending: Ending) -> RunOutcome:
        """How the run went that this command only reports on."""
        with our_errors():
            code, said, following = standing(self.context, ending)
        if following is None:
            following = self._next_steps(ending.stages, code)
        return replace(self._outcome(), exit_code=code, verdict=said, stages=ending.stages, next_steps=tuple(following))

    def _outcome(self) -> RunOutcome:
        context = self.context
        if self.settled is not None:
            return replace(self.settled, stages=tuple(self.outcomes), report=self.report)
        return RunOutcome(
            run_id=context.run_id,
            command=context.command,
            exit_code=self.exit_code,
            verdict=verdict(self.outcomes, self.exit_code, empty=context.is_empty),
            stages=tuple(self.outcomes),
            next_steps=self._next_steps(self.outcomes, self.exit_code),
            report=self.report,
            plan_hash=context.facts("plan").get("hash"),
            error=self.stopped,
        )

    def _next_steps(self, stages: Sequence[StageOutcome], exit_code: int) -> tuple[str, ...]:
        context, check = self.context, self.context.facts("check")
        return next_steps(
            exit_code=exit_code,
            run_id=context.run_id,
            config=str(context.config.path),
            stages=stages,
            empty=context.is_empty,
            separators=check.get("separators", ()),
            enabled_with=context.unwanted_change,
            unread=[catalog.name for catalog in context.catalogs() if catalog.name not in context.facts(BEGINS)],
        )

    def _record(self, outcomes: Sequence[StageOutcome]) -> None:
        """Keep `outcomes` in the workspace, in one commit."""
        context = self.context
        hashed, who = context.facts("plan").get("hash"), this_process()
        rows = [
            (
                context.command,
                stage.stage,
                stage.status,
                context.started_at,
                stage.seconds,
                stage.counts,
                hashed,
                stage.error,
                who.user,
                who.host,
            )
            for stage in outcomes
        ]
        if rows:
            frame = _frame(context.spark, rows)
            context.workspace.append("runs", frame, run_id=context.run_id)


def _frame(spark: SparkSession, rows: Sequence[tuple[object, ...]]) -> DataFrame:
    return spark.createDataFrame(list(rows), contract(*RUN_FIELDS))


__all__ = ["prepare", "run"]
