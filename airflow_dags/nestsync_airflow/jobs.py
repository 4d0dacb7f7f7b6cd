"""The tasks that run one of nestsync's jobs each."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from airflow.sdk import BaseOperator, BaseOperatorLink, Context, TaskInstanceState
from airflow.sdk.exceptions import AirflowSkipException, AirflowTaskTimeout

from nestsync_airflow.links import FindingsLink, PlanLink, ReportLink, page_of
from nestsync_airflow.outcomes import BLOCKING, DONE, MEANING, PARTLY, Outcome, Stopped
from nestsync_airflow.settings import Settings
from nestsync_airflow.submit import Submission

READS_CONFIGURATION = "configuration"
"""The task that reads the configuration: its XCom names the catalogs and the folders."""
SUCCESS, FAILED = TaskInstanceState.SUCCESS.value, TaskInstanceState.FAILED.value


@dataclass(frozen=True)
class Place:
    """Where the jobs, and the configuration that they take, are."""

    configuration: Path
    jobs: Path
    package: str
    settings: Settings


class NestsyncJob(BaseOperator):
    """Runs ``jobs/<command>.py`` under ``spark-submit``, and pushes its outcome as XCom, however it ended.

    Ends with `Stopped` for any exit code but those that it `_accepts`.
    """

    template_fields: Sequence[str] = ("arguments", "nestsync_run")
    operator_extra_links: Collection[BaseOperatorLink] = ()
    ui_color = "#dcebf7"

    def __init__(
        self, *, command: str, place: Place, nestsync_run: str = "", catalog: str | None = None, **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        self.command = command
        self.place = place
        self.nestsync_run = nestsync_run
        self.catalog = catalog
        self.arguments = ["-c", str(place.configuration)]
        self.arguments += ["--run-id", nestsync_run] if nestsync_run else []
        self.arguments += ["--source", catalog] if catalog else []
        self.report_page: str | None = None
        self._submission: Submission | None = None

    def execute(self, context: Context) -> Any:
        outcome = self._submit()
        context["ti"].xcom_push(key="return_value", value=outcome.as_xcom())
        self.report_page = self._page(context, outcome)
        if outcome.exit_code not in self._accepts(context):
            raise self._stopped(outcome)
        self.log.info(outcome.said.get("verdict") or f"nestsync {self.command} is done")
        self._succeeded(context, outcome)

    def on_kill(self) -> None:
        if self._submission is not None:
            self._submission.end()

    def _submit(self) -> Outcome:
        place = self.place
        self._submission = Submission(
            job=place.jobs / f"{self.command}.py",
            arguments=self.arguments,
            spark=place.settings.spark,
            package=place.package,
            secrets=place.settings.environment,
        )
        try:
            outcome, self._last_line = self._submission.run(self.log)
        except AirflowTaskTimeout:
            self._submission.end_surely()
            stopped = Stopped(
                f"nestsync {self.command} did not end within {place.settings.timeout_hours:g} hours, and was stopped.\n"
                "hint: clear the task to go on with its run; airflow.timeout_hours in the configuration gives more time"
            )
            self.log.error(str(stopped))
            raise stopped from None
        except Stopped as stopped:
            self.log.error(str(stopped))
            raise
        return outcome.demanded(self.command)

    def _stopped(self, outcome: Outcome) -> Stopped:
        message = outcome.message(self.command, self._last_line)
        if self.report_page:
            message = f"{message}\nreport: {self.report_page}"
        self.log.error(message)
        return Stopped(message, outcome.exit_code, again=outcome.can_be_tried_again)

    def _page(self, context: Context, outcome: Outcome) -> str | None:
        return None if outcome.report is None else page_of(Path(outcome.report), self.place.settings.reports_url)

    def _accepts(self, context: Context) -> Collection[int]:
        return (DONE,)

    def _succeeded(self, context: Context, outcome: Outcome) -> None:
        """What else is to be told of a job that ended well."""


class ReadConfiguration(NestsyncJob):
    """Validates the configuration, so that a mistake in it is told once, and returns the names of its catalogs."""

    def execute(self, context: Context) -> list[str]:
        outcome = self._submit()
        if outcome.exit_code != DONE:
            raise self._stopped(outcome)
        for folder in ("workspace", "reports"):
            context["ti"].xcom_push(key=folder, value=outcome.said[folder])
        return [catalog["name"] for catalog in outcome.said["catalogs"]]


class Reported(NestsyncJob):
    """What the report of the run will show, whatever happens from here on."""

    operator_extra_links = (ReportLink(),)

    def _page(self, context: Context, outcome: Outcome) -> str | None:
        return page_to_come(context, self.nestsync_run, self.place.settings.reports_url)


class Check(Reported):
    """Checks every name. Blocking findings are an answer here; the gate is where they stop the run."""

    operator_extra_links = (FindingsLink(),)

    def _accepts(self, context: Context) -> Collection[int]:
        return (DONE, BLOCKING)


class Plan(Reported):
    """Decides what would be written, whatever was found: the report shows it."""

    operator_extra_links = (PlanLink(),)


class Verify(Reported):
    """Reads the target again, wherever apply came to its end, be it with some actions blocked or failed.

    The success of a sync that was wholly applied is the event that other DAGs wait for: the asset, with what was done.
    """

    def execute(self, context: Context) -> Any:
        ended = _state_of("apply", context)
        if ended != SUCCESS and not (ended == FAILED and _exit_code("apply", context) == PARTLY):
            raise AirflowSkipException("apply did not come to an end that could be verified")
        if ended != SUCCESS:
            self.log.warning("Not all of the plan is applied: what is gets verified, and the asset is not updated.")
            self.outlets = []  # what Airflow looks at when the task has succeeded
        return super().execute(context)

    def _succeeded(self, context: Context, outcome: Outcome) -> None:
        applied = context["ti"].xcom_pull(task_ids="apply") or {}
        for asset in self.outlets:
            context["outlet_events"][asset].extra = {
                "run_id": self.nestsync_run,
                "plan_hash": outcome.said.get("plan_hash"),
                "applied": (applied.get("counts") or {}).get("apply", {}).get("applied", 0),
                "verified": outcome.counts.get("verify", {}).get("verified", 0),
                "report": self.report_page,
            }


class Report(NestsyncJob):
    """Writes the report of whatever happened; skipped where not even the check came to an end."""

    operator_extra_links = (ReportLink(),)

    def execute(self, context: Context) -> Any:
        if context["ti"].xcom_pull(task_ids="check") is None:
            raise AirflowSkipException("there is nothing to report on: the run did not get to the check's end")
        return super().execute(context)

    def _accepts(self, context: Context) -> Collection[int]:
        # A report ends with what its run came to, and with what its own expectations say. A task that stopped the run
        # has said so already; after one that was wholly applied and verified, only an expectation is left to fail.
        whole = _state_of("apply", context) == _state_of("verify", context) == SUCCESS
        return (DONE, *MEANING) if self.report_page is not None and not whole else (DONE,)


class Assess(NestsyncJob):
    """Inventory, check and report without a target. Findings are its answer, and no failure."""

    operator_extra_links = (ReportLink(), FindingsLink())

    def _accepts(self, context: Context) -> Collection[int]:
        return (DONE, BLOCKING)


def _state_of(task: str, context: Context) -> str | None:
    """What Airflow says of another task of this run; its XCom could be of an earlier try, before the gate's no."""
    ti = context["ti"]
    states = ti.get_task_states(dag_id=ti.dag_id, task_ids=[task], run_ids=[ti.run_id])
    found: str | None = states[ti.run_id][task]
    return found


def _exit_code(task: str, context: Context) -> int | None:
    """What the job of `task` ended with; None where it did not come so far."""
    return (context["ti"].xcom_pull(task_ids=task) or {}).get("exit_code")


def page_to_come(context: Context, run: str, reports_url: str | None) -> str | None:
    """The address that the report of `run` has once the task `report` wrote it."""
    folder = context["ti"].xcom_pull(task_ids=READS_CONFIGURATION, key="reports")
    return page_of(Path(folder) / run / "index.html", reports_url) if folder else None


__all__ = [
    "READS_CONFIGURATION",
    "Assess",
    "Check",
    "NestsyncJob",
    "Place",
    "Plan",
    "ReadConfiguration",
    "Report",
    "Reported",
    "Verify",
    "page_to_come",
]
