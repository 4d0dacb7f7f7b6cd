"""One process's way through the stages of a run, and what each means for the exit code."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

from nestsync.commands import command
from nestsync.errors import ActionsFailed, CatalogUnreachable, NestsyncError
from nestsync.history.actors import this_process
from nestsync.history.endings import Ending
from nestsync.outcome import RunOutcome, StageOutcome
from nestsync.runner.context import RunContext
from nestsync.runner.outcomes import InTheWay, next_steps, not_met, verdict
from nestsync.runner.progress import watched
from nestsync.runner.reading import checked, inventory
from nestsync.runner.reporting import report, report_stopped
from nestsync.runner.standing import standing
from nestsync.runner.writing import applied, planned, verified
from nestsync.schemas import RUN_FIELDS, contract
from nestsync.session import answering, our_errors

BEGINS = "inventory"
"""The stage that a new run begins with; every other one goes on with a run."""
DOING = {
    "inventory": "reading {read}",
    "check": "mapping and checking every name",
    "plan": "comparing with {target}",
    "apply": "writing to {target}",
    "verify": "reading {target} again",
    "report": "writing the report",
}


class Pass:
    """One process's way through the stages of a run."""

    def __init__(
        self,
        context: RunContext,
        stages: Sequence[str],
        sources: Sequence[str] | None,
        ending: Ending | None,
    ) -> None:
        self.context = context
        self.stages = stages
        self.sources = sources
        self.ending = ending
        self._on_stage: Callable[[str], None] = lambda stage: None
        self.outcomes: list[StageOutcome] = []
        self.exit_code = 0
        self.report: Path | None = None
        self.stopped: NestsyncError | None = None
        self.failed: NestsyncError | None = None
        self.settled: RunOutcome | None = None
        """What the report says that the run ended with; from then on, nothing else does."""

    def take(self, on_stage: Callable[[str], None]) -> RunOutcome:
        """All stages, as far as they go; `on_stage` is told the name of each before it begins."""
        self._on_stage = on_stage
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

    def so_far(self) -> RunOutcome:
        """How far it came where `take` was broken off, and the command that goes on with the run."""
        context = self.context
        sources = (word for name in self.sources or () for word in ("--source", name))
        again = command(context.command, context.config.path, context.run_id, *sources)
        return RunOutcome(context.run_id, context.command, 1, "", tuple(self.outcomes), (again,), self.report)

    def _goes_on(self, stage: str) -> bool:
        """Whether `stage` still has a point: findings do not keep us from planning, nor failures from verifying."""
        return (stage == "plan" and self.exit_code == 3) or (stage == "verify" and self.exit_code == 4)

    def _stage(self, stage: str) -> None:
        try:
            with self._under_way(stage, self._doing(stage)) as started, our_errors():
                counts = self._do(stage)
        except NestsyncError as error:
            self.exit_code = max(self.exit_code, self._code_of(error))
            self.failed = error
            if stage == BEGINS or not self.context.facts(BEGINS):
                self.stopped = error
            return
        code = self._code(stage, counts)
        status = {0: "ok", 3: "blocked"}.get(code, "failed")
        self._finished(StageOutcome(stage, status, time.monotonic() - started, counts))
        self.exit_code = code or self.exit_code

    @contextmanager
    def _under_way(self, stage: str, doing: str) -> Iterator[float]:
        """Tell of `stage` until the end of the block, and what broke it off; when it began, in `time.monotonic`."""
        started = time.monotonic()
        self._on_stage(stage)
        try:
            self.context.ui.stage_started(stage, doing)
            with watched(self.context.spark, self.context.ui, doing), answering(self.context.spark):
                yield started
        except BaseException as error:
            said = str(error) if isinstance(error, NestsyncError) else f"broken off by {type(error).__name__}"
            self._finished(StageOutcome(stage, "failed", time.monotonic() - started, {}, said))
            raise

    def _code_of(self, error: NestsyncError) -> int:
        """Once something was sent, a target that is gone leaves a reconciliation in part."""
        return ActionsFailed.exit_code if self._wrote and isinstance(error, CatalogUnreachable) else error.exit_code

    @property
    def _wrote(self) -> bool:
        return self.exit_code == ActionsFailed.exit_code or any(done.counts.get("applied") for done in self.outcomes)

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
        with self._under_way("report", DOING["report"]) as started:
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
            return replace(self.settled, stages=tuple(self.outcomes), report=self.report, failed=self.failed)
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
            failed=self.failed,
        )

    def _next_steps(self, stages: Sequence[StageOutcome], exit_code: int) -> tuple[str, ...]:
        context, check = self.context, self.context.facts("check")
        return next_steps(
            exit_code=exit_code,
            run_id=context.run_id,
            config=str(context.config.path),
            stages=stages,
            empty=context.is_empty,
            found=InTheWay(check.get("separators", ()), check.get("blocking", {}), context.unwanted_change),
            unread=[name for name in context.config.catalog_names if name not in context.facts(BEGINS)],
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


__all__ = ["BEGINS", "Pass"]
