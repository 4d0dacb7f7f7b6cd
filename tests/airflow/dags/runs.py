"""Whole DAG runs in this process, with a `spark-submit` that answers from a table: what Airflow makes of each end.

The jobs themselves are run by the tests in `tests/airflow/live`.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from airflow.models import DagRun
from airflow.models.asset import AssetEvent
from airflow.sdk import DAG
from airflow.utils.session import create_session
from sqlalchemy import select

Ends = Mapping[str, tuple[int, Mapping[str, Any]]]
"""By command: the exit code of its job, and what else its outcome says."""

_SPARK_SUBMIT = f"""#!{sys.executable}
import json, os, pathlib, sys
home = pathlib.Path({{home!r}})
job = next(pathlib.Path(part).stem for part in sys.argv if part.endswith(".py"))
(home / f"{{{{job}}}}.json").write_text(json.dumps({{{{"argv": sys.argv, "environment": dict(os.environ)}}}}))
code, said = json.loads((home / "ends.json").read_text()).get(job, (0, {{{{}}}}))
told = {{{{"run_id": sys.argv[-1], "verdict": f"{{{{job}}}} says {{{{code}}}}.", "stages": []}}}} | said
pathlib.Path(os.environ["NESTSYNC_OUTCOME_FILE"]).write_text(json.dumps(told))
sys.exit(code)
"""


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
        binary.write_text(_SPARK_SUBMIT.format(home=str(home)), encoding="utf-8")
        binary.chmod(0o755)

    def run(self, dag: DAG, ends: Ends, **conf: object) -> Ran:
        """Take `dag` to its end, with jobs that end as `ends` say, or else well."""
        folders = {"workspace": str(self.home), "reports": str(self.home / "reports")}
        usual: Ends = {
            "validate": (0, folders | {"catalogs": [{"name": "lake"}, {"name": "platform"}]}),
            "plan": (0, stage("plan", create_namespace=1)),
            "report": (0, {"report": str(self.home / "reports" / "r" / "index.html")}),
        }
        (self.home / "ends.json").write_text(json.dumps({**usual, **ends}), encoding="utf-8")
        return Ran(dag.test(run_conf=dict(conf)), self.home)


def on_path(folder: Path) -> str:
    return f"{folder}{os.pathsep}{os.environ['PATH']}"


__all__ = ["Ends", "Ran", "Spark", "on_path", "stage"]
