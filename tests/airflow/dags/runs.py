"""Whole DAG runs in this process, with a `spark-submit` that answers from a table: what Airflow makes of each end.

The jobs themselves are run by the tests in `tests/airflow/live`.
"""

from __future__ import annotations

import faulthandler
import json
import os
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from airflow.jobs.job import Job
from airflow.jobs.scheduler_job_runner import SchedulerJobRunner
from airflow.models import DagRun, TaskInstance
from airflow.models.asset import AssetEvent
from airflow.models.trigger import handle_event_submit
from airflow.models.xcom import XComModel
from airflow.sdk import DAG, TaskInstanceState
from airflow.sdk.timezone import utcnow
from airflow.triggers.base import TriggerEvent
from airflow.utils.session import create_session
from sqlalchemy import select
from sqlalchemy.orm import joinedload

DECIDED_SECONDS = 100
Ends = Mapping[str, tuple[int, Mapping[str, Any]]]
"""By command: the exit code of its job, and what else its outcome says."""

_SPARK_SUBMIT = f"""#!{sys.executable}
import json, os, pathlib, signal, sys, time
home = pathlib.Path(__file__).parent
job = next(pathlib.Path(part).stem for part in sys.argv if part.endswith(".py"))
started = dict(pid=os.getpid(), argv=sys.argv, environment=dict(os.environ))
(home / (job + ".json")).write_text(json.dumps(started))
code, said = json.loads((home / "ends.json").read_text()).get(job, (0, dict()))
if said.get("deaf"):
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
time.sleep(said.get("seconds", 0))
told = dict(run_id=sys.argv[-1], verdict=job + " says so.", stages=[], next_steps=[]) | said
pathlib.Path(os.environ["NESTSYNC_OUTCOME_FILE"]).write_text(json.dumps(told))
sys.exit(code)
"""
told: list[tuple[str | None, str | None]] = []
"""Whom `tell` was called about, and what was said."""


def tell(context: Mapping[str, Any]) -> None:
    """Where ``airflow.alert`` leads."""
    ti, said = context.get("ti"), context["exception"]
    told.append((ti and ti.task_id, said and str(said)))


def refuse(context: Mapping[str, Any]) -> None:
    """An alert that cannot reach anybody."""
    raise ConnectionError("nobody answers")


def stage(name: str, error: str | None = None, **counts: int) -> dict[str, Any]:
    """What an outcome says of one stage."""
    return {"stages": [{"stage": name, "status": "ok", "counts": counts, "error": error}]}


@dataclass
class Ran:
    """One DAG run that is over."""

    run: DagRun
    home: Path

    @property
    def state(self) -> str:
        return str(self.run.state)

    @property
    def states(self) -> dict[str, str]:
        """The state of each task, of the mapped one once."""
        return {ti.task_id: str(ti.state) for ti in self.run.get_task_instances()}

    def job(self, command: str) -> dict[str, Any]:
        """What the job of `command` was started with."""
        said: dict[str, Any] = json.loads((self.home / f"{command}.json").read_text(encoding="utf-8"))
        return said

    def links(self) -> dict[str, dict[str, str]]:
        """The links beside each task, by name."""
        with create_session() as session:
            query = select(XComModel).where(XComModel.run_id == self.run.run_id, XComModel.key.startswith("_link_"))
            found: dict[str, dict[str, str]] = {}
            for xcom in session.scalars(query):
                found.setdefault(xcom.task_id, {})[xcom.key.removeprefix("_link_")] = XComModel.deserialize_value(xcom)
            return found

    def assets(self) -> list[dict[str, Any]]:
        """What the run told those who wait for its asset."""
        with create_session() as session:
            query = select(AssetEvent).where(AssetEvent.source_run_id == self.run.run_id)
            return [event.extra for event in session.scalars(query)]


class Spark:
    """A folder with a `spark-submit`, and what was asked of it."""

    def __init__(self, home: Path) -> None:
        self.home = home
        home.mkdir()
        binary = home / "spark-submit"
        binary.write_text(_SPARK_SUBMIT, encoding="utf-8")
        binary.chmod(0o755)

    def run(self, dag: DAG, ends: Ends, marked: str | None = None, **conf: object) -> Ran:
        """Take `dag` to its end, with jobs that end as `ends` say, or else well; `marked` were marked by hand."""
        folders = {"workspace": str(self.home), "reports": str(self.home / "reports")}
        usual: Ends = {
            "validate": (0, folders | {"catalogs": [{"name": "lake"}, {"name": "platform"}]}),
            "plan": (0, stage("plan", create_namespace=1)),
            "report": (0, {"report": str(self.home / "reports" / "r" / "index.html")}),
        }
        (self.home / "ends.json").write_text(json.dumps({**usual, **ends}), encoding="utf-8")
        told.clear()
        return Ran(dag.test(run_conf=dict(conf), mark_success_pattern=marked), self.home)


@contextmanager
def decided(option: str | None) -> Iterator[None]:
    """While a DAG runs, a person answers at the gate; None: nobody does, and the scheduler looks at the clock."""
    # A run waits for ever where nobody decides, and tasks in this process have the signal of pytest's own time-outs.
    faulthandler.dump_traceback_later(DECIDED_SECONDS, exit=True)
    over = threading.Event()
    scheduler = SchedulerJobRunner(job=Job())

    def decide() -> None:
        while not over.wait(0.2):
            if option is None:
                scheduler.check_awaiting_input_timeouts()
            else:
                _answer(option)

    deciding = threading.Thread(target=decide)
    deciding.start()
    try:
        yield
    finally:
        over.set()
        deciding.join()
        faulthandler.cancel_dump_traceback_later()


def _answer(option: str) -> None:
    """What the api-server does with a person's answer."""
    with create_session() as session:
        waits = TaskInstance.state == TaskInstanceState.AWAITING_INPUT
        for ti in session.scalars(select(TaskInstance).where(waits).options(joinedload(TaskInstance.hitl_detail))):
            asked = ti.hitl_detail
            asked.chosen_options, asked.params_input, asked.responded_at = [option], {}, utcnow()
            asked.responded_by = {"id": "ada", "name": "Ada"}
            handle_event_submit(TriggerEvent(asked.as_resume_event_payload()), task_instance=ti, session=session)


def on_path(folder: Path) -> str:
    """PATH with `folder` first."""
    return f"{folder}{os.pathsep}{os.environ['PATH']}"


__all__ = ["Ends", "Ran", "Spark", "decided", "on_path", "refuse", "stage", "tell", "told"]
