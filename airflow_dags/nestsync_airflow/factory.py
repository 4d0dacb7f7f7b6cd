"""One sync and one assessment for each configuration: the DAGs, made of file names and schedule blocks alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any

from airflow.providers.standard.operators.empty import EmptyOperator
from airflow.sdk import DAG, Asset, BaseOperator, Context, CronTriggerTimetable, Param, TriggerRule

from nestsync_airflow.alerts import Alert, TimeoutAlert
from nestsync_airflow.gate import Gate
from nestsync_airflow.jobs import (
    READS_CONFIGURATION,
    Assess,
    Check,
    NestsyncJob,
    Place,
    Plan,
    ReadConfiguration,
    Report,
    Reported,
    Verify,
)
from nestsync_airflow.outcomes import RetryWhereItHelps, Stopped, nestsync_run_id
from nestsync_airflow.settings import Settings, configurations, read_settings
from nestsync_airflow.texts import ASSESSMENT, BROKEN, sync_text

SYNC, ASSESSMENT_OF = "nestsync", "nestsync_assess"
"""What the ids of DAGs begin with; the configuration's name follows."""
LONGEST_WAIT = timedelta(hours=1)
"""How long the wait for another try grows, where it is not longer from the first."""
LONGEST_ID = 250
"""How many characters Airflow keeps of the id of a DAG."""
_BEGAN = datetime(2025, 1, 1, tzinfo=UTC)


def dags_of(folder: Path, jobs: Path, package: str) -> dict[str, DAG]:
    """The DAGs of the configurations in `folder`, by id.

    `jobs` is the folder of nestsync's jobs, `package` their zip, which is empty where their Python has it installed.
    Raises `Refused` where `folder` has no configurations.
    """
    files: dict[str, list[Path]] = {}
    for name, file in configurations(folder):
        files.setdefault(name, []).append(file)
    return {dag.dag_id: dag for name, of_name in files.items() for dag in _dags(name, of_name, jobs, package)}


def _dags(name: str, files: Sequence[Path], jobs: Path, package: str) -> list[DAG]:
    file = files[0]
    if len(files) > 1:
        problem = f"{' and '.join(map(str, files))} are both called {name}: a DAG has one configuration"
        return [broken(name, file, problem, Settings())]
    settings, problems = read_settings(file)
    if problems:
        return [broken(name, file, _told(file, problems), settings)]
    place = Place(file.absolute(), jobs.absolute(), package, settings)
    try:
        return [sync(name, place), assessment(name, place)]
    except Exception as error:  # what Airflow refuses of one DAG must not take away all others
        kept = Settings(schedule=settings.schedule, timezone=settings.timezone, alert=settings.alert)
        return [broken(name, file, f"Airflow makes no DAG of {file}: {error}", kept)]


def _told(file: Path, problems: Sequence[str]) -> str:
    if len(problems) == 1:
        return f"{file}: {problems[0]}"
    return "\n".join([f"{file}: {len(problems)} problems", *(f"- {problem}" for problem in problems)])


def sync(name: str, place: Place) -> DAG:
    """The nightly sync of one configuration."""
    settings = place.settings
    asset = Asset(name=f"{SYNC}.{name}", uri=f"{SYNC}://verified/{name}")
    with _dag(
        f"{SYNC}.{name}",
        settings,
        settings.schedule,
        description=f"Reconciles the namespaces of {place.configuration.name} into the target",
        params=_params(settings),
        doc_md=sync_text(place.configuration, settings.approve_above, settings.approval_hours, asset.name),
    ) as dag:
        run = _run(name)
        job: dict[str, Any] = {"place": place, "nestsync_run": run}
        configuration = ReadConfiguration(task_id=READS_CONFIGURATION, command="validate", place=place)
        inventory = NestsyncJob.partial(
            task_id="inventory",
            command="inventory",
            map_index_template="{{ task.catalog }}",
            max_active_tis_per_dag=settings.parallel_reads,
            **job,
        ).expand(catalog=configuration.output)
        check = Check(task_id="check", command="check", **job)
        plan = Plan(task_id="plan", command="plan", **job)
        gate = Gate(task_id="gate", nestsync_run=run, settings=settings, alert=_alert(settings))
        apply = Reported(task_id="apply", command="apply", **job)
        # What was written is verified although something else failed or was blocked, as `nestsync run` does.
        verify = Verify(task_id="verify", command="verify", outlets=[asset], trigger_rule=TriggerRule.ALL_DONE, **job)
        report = Report(task_id="report", command="report", trigger_rule=TriggerRule.ALL_DONE, **job)
        # A run is as its last tasks are, and the two before this one come to their end whatever happened.
        done = EmptyOperator(task_id="done")
        configuration >> inventory >> check >> plan >> gate >> apply >> verify >> report >> done
        [apply, verify] >> done
    return dag


def assessment(name: str, place: Place) -> DAG:
    """The readiness assessment of one configuration."""
    settings = place.settings
    with _dag(
        f"{ASSESSMENT_OF}.{name}",
        settings,
        settings.assess,
        description=f"What stands in the way of nested namespaces in {place.configuration.name}",
        doc_md=ASSESSMENT.format(file=place.configuration),
    ) as dag:
        configuration = ReadConfiguration(task_id=READS_CONFIGURATION, command="validate", place=place)
        assess = Assess(task_id="assess", command="assess", place=place, nestsync_run=_run(name, "assess"))
        configuration >> assess
    return dag


def _run(name: str, kind: str = "") -> str:
    """The template of a run's id: what Airflow calls the DAG run is known when a task runs."""
    return f"{{{{ run_id | nestsync_run_id({name!r}, {kind!r}) }}}}"


class CannotBeScheduled(BaseOperator):
    """Says what is wrong with the block ``airflow:`` of a configuration."""

    def __init__(self, *, problem: str, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.problem = problem

    def execute(self, context: Context) -> None:
        self.log.error(self.problem)
        raise Stopped(self.problem, 2)


def broken(name: str, file: Path, problem: str, settings: Settings) -> DAG:
    """The DAG of a configuration that cannot be scheduled: it fails with the reason, every night or when it was to run.

    What of `settings` is right is in force, so that those hear of it who were to hear of the sync.
    """
    with _dag(
        _short(f"{SYNC}.{name}"),
        replace(settings, tags=("cannot-be-scheduled", *settings.tags)),
        settings.schedule or "@daily",
        description=f"{file.name} cannot be scheduled",
        doc_md=BROKEN.format(problem=problem),
    ) as dag:
        CannotBeScheduled(task_id=READS_CONFIGURATION, problem=problem)
    return dag


def _short(dag_id: str) -> str:
    """`dag_id`, or where Airflow keeps no id so long, its beginning and a hash of it."""
    if len(dag_id) <= LONGEST_ID:
        return dag_id
    return f"{dag_id[:200]}-{sha256(dag_id.encode()).hexdigest()[:12]}"


def _dag(dag_id: str, settings: Settings, schedule: str | None, **parts: Any) -> DAG:
    alert = _alert(settings)
    longest = timedelta(hours=settings.timeout_hours)
    first_wait = timedelta(seconds=settings.retry_seconds)
    return DAG(
        dag_id,
        schedule=None if schedule is None else CronTriggerTimetable(schedule, timezone=settings.timezone),
        start_date=_BEGAN,
        catchup=False,
        max_active_runs=1,
        tags={"nestsync", *settings.tags},
        user_defined_filters={"nestsync_run_id": nestsync_run_id},
        default_args={
            "owner": settings.owner,
            "retries": settings.retries,
            "retry_delay": first_wait,
            "retry_exponential_backoff": 2.0,
            "max_retry_delay": max(first_wait, LONGEST_WAIT),
            "retry_policy": RetryWhereItHelps(),
            "on_failure_callback": [alert] if alert else None,
            "execution_timeout": longest,
        },
        # A task that is stopped by its own time-out is reported on; this is for what adds up beyond it. The hours in
        # which a person may answer do not count.
        dagrun_timeout=longest + timedelta(hours=settings.approval_hours),
        on_failure_callback=None if settings.alert is None else TimeoutAlert(settings.alert),
        **parts,
    )


def _alert(settings: Settings) -> Alert | None:
    return None if settings.alert is None else Alert(settings.alert)


def _params(settings: Settings) -> dict[str, Param]:
    return {
        "approve_above": Param(
            settings.approve_above,
            type="integer",
            minimum=0,
            title="Approve above",
            description="A plan that creates more namespaces than this waits for a person, even if it changes none.",
        ),
        "always_ask": Param(
            False,
            type="boolean",
            title="Always ask",
            description="Wait for a person whatever the plan would write.",
        ),
        "dry_run": Param(
            False,
            type="boolean",
            title="Dry run",
            description="Stop after the plan and the report; write nothing.",
        ),
    }


__all__ = ["ASSESSMENT_OF", "SYNC", "assessment", "broken", "dags_of", "sync"]
