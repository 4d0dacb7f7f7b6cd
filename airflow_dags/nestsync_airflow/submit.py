"""How a job is run: ``spark-submit`` by the Spark connection, with secrets in its environment and nowhere else."""

from __future__ import annotations

import json
import logging
import os
import re
import shutil
import signal
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from airflow.sdk import BaseHook, Connection

from nestsync_airflow.outcomes import Outcome, Stopped
from nestsync_airflow.settings import Secret

if TYPE_CHECKING:
    from airflow.providers.apache.spark.hooks.spark_submit import SparkSubmitHook

OUTCOME_FILE = "NESTSYNC_OUTCOME_FILE"
"""The environment variable by which nestsync is told where to leave its outcome."""
CANNOT_BEGIN = 2
GRACE_SECONDS = 30.0
"""How long a job that is stopped has for giving back what it holds."""
_MASTER = re.compile(r"local(\[.+\])?|local-cluster\[.+\]|yarn|spark://.+|k8s://.+|mesos://.+")


@dataclass
class Submission:
    """One run of one of nestsync's jobs."""

    job: Path
    arguments: Sequence[str]
    spark: str
    package: str
    secrets: Sequence[Secret] = ()
    _hook: SparkSubmitHook | None = field(default=None, init=False)

    def run(self, log: Any) -> tuple[Outcome, str]:
        """Run it to its end: its outcome, and the last line that it printed.

        Raises `Stopped` where it cannot even begin: a connection that is not there or none of Spark's, no
        ``spark-submit``, a file that is missing.
        """
        hook = self._hook = self._prepared()
        secrets = {secret.name: _value(secret) for secret in self.secrets}
        with TemporaryDirectory(prefix="nestsync-") as folder:
            file = Path(folder) / "outcome.json"
            environment = _inherited() | secrets | {OUTCOME_FILE: str(file)}
            try:
                # A process group of its own, so that all of it can be ended: spark-submit, its JVM and Python.
                hook.submit(str(self.job), env=environment, start_new_session=True)
            except Exception as error:  # the hook raises for any exit code, with the whole log as its text
                process = hook._submit_sp
                if process is None or process.poll() is None:
                    self.end()
                    raise
                log.debug("spark-submit: %s", error)
            return Outcome.read(file, self._exit_code()), _last_line(hook)

    def end(self) -> None:
        """End what runs, as a scheduler does: nestsync answers SIGTERM by giving back what it holds."""
        process = self._process()
        if process is not None and process.poll() is None:
            _signal(process, signal.SIGTERM)

    def end_surely(self) -> None:
        """End what runs, and wait for it: what is stuck may be deaf to SIGTERM, and is killed then."""
        self.end()
        process = self._process()
        if process is not None:
            with suppress(subprocess.TimeoutExpired):
                process.wait(GRACE_SECONDS)
            _signal(process, signal.SIGKILL)  # its JVM or Python may be what is stuck
            process.wait()

    def _process(self) -> subprocess.Popen[str] | None:
        found: subprocess.Popen[str] | None = None if self._hook is None else self._hook._submit_sp
        return found

    def _exit_code(self) -> int:
        process = self._process()
        return 1 if process is None or process.returncode is None else int(process.returncode)

    def _prepared(self) -> SparkSubmitHook:
        from airflow.providers.apache.spark.hooks.spark_submit import SparkSubmitHook

        connection(self.spark, "It says where Spark is: type spark, host local[2], spark://HOST:PORT, k8s://..., yarn.")
        try:
            hook = SparkSubmitHook(
                conn_id=self.spark,
                application_args=list(self.arguments),
                py_files=self.package or None,
                name=f"nestsync-{self.job.stem}",
            )
        except ValueError as error:
            raise Stopped(f"The connection {self.spark!r} cannot be used: {error}", CANNOT_BEGIN) from None
        self._demand(hook._connection)
        hook._connection["deploy_mode"] = "client"  # spark-defaults.conf could have another
        return hook

    def _demand(self, said: dict[str, Any]) -> None:
        """Raise `Stopped` for what ``spark-submit`` would end in a stack trace about."""
        if not _MASTER.fullmatch(said["master"]):
            raise Stopped(
                f"The connection {self.spark!r} leads to {said['master']!r}, which is no Spark master.\n"
                "hint: its type is spark and its host local[2], spark://HOST:PORT, k8s://https://HOST:PORT or yarn",
                CANNOT_BEGIN,
            )
        if said["deploy_mode"] == "cluster":
            raise Stopped(
                f"The connection {self.spark!r} has deploy-mode cluster, and the driver must run here: the workspace "
                "is a folder, and secrets are handed on in the driver's environment.\nhint: set deploy-mode to client",
                CANNOT_BEGIN,
            )
        binary = said["spark_binary"]
        if shutil.which(binary) is None:
            raise Stopped(
                f"{binary} is not on the PATH of this Airflow worker.\nhint: put the bin folder of an environment with "
                "what requirements/run.txt pins first on the worker's PATH (and PYSPARK_PYTHON to its python)",
                CANNOT_BEGIN,
            )
        if not self.job.is_file():
            raise Stopped(f"{self.job} is not there.\nhint: NESTSYNC_PROJECT names the folder with jobs/", CANNOT_BEGIN)
        if self.package and not Path(self.package).is_file():
            raise Stopped(
                f"{self.package} is not there.\nhint: `make dist` builds it; NESTSYNC_PACKAGE names it, and is empty "
                "where the jobs' Python has nestsync installed",
                CANNOT_BEGIN,
            )


def _signal(process: subprocess.Popen[str], number: signal.Signals) -> None:
    """Send a signal to the whole process group that `process` leads, if any of it is left."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, number)


def connection(name: str, needed_for: str) -> Connection:
    """The Airflow connection `name`. Raises `Stopped` where there is none."""
    from airflow.sdk.exceptions import AirflowNotFoundException

    try:
        with _silenced("airflow.sdk.definitions.connection"):  # it logs a stack trace for what is told here
            found = BaseHook.get_connection(name)
    except AirflowNotFoundException:
        raise Stopped(
            f"There is no connection {name!r} in Airflow. {needed_for}\n"
            f"hint: Admin > Connections in the UI, or: airflow connections add {name} ... "
            f"(an AIRFLOW_CONN_{name.upper()} that cannot be read counts as none)",
            CANNOT_BEGIN,
        ) from None
    _demand_extra(found)
    return found


def _demand_extra(found: Connection) -> None:
    problem = "it is no group of keys"
    try:
        if isinstance(json.loads(found.extra or "{}"), dict):
            return
    except ValueError as error:
        problem = f"it is not JSON, {error.args[0].partition(':')[0].lower()}"
    raise Stopped(
        f"The extra of the connection {found.conn_id!r} cannot be used: {problem}.\n"
        'hint: Admin > Connections in the UI; the extra looks like {"spark-binary": "spark-submit"}',
        CANNOT_BEGIN,
    )


@contextmanager
def _silenced(logger: str) -> Iterator[None]:
    log = logging.getLogger(logger)
    was, log.disabled = log.disabled, True
    try:
        yield
    finally:
        log.disabled = was


def _inherited() -> dict[str, str]:
    """The worker's environment but for Airflow's own part of it: keys, connections and variables are not the job's."""
    return {name: value for name, value in os.environ.items() if not name.lstrip("_").startswith("AIRFLOW")}


def _value(secret: Secret) -> str:
    """What the environment variable of `secret` is to hold; masked in logs from here on."""
    from airflow.sdk.log import mask_secret

    found = connection(secret.connection, f"The configuration takes {secret.name} from it (airflow.environment).")
    names = [secret.field] if secret.field.startswith("extra.") else secret.field.split(":")
    parts = [_field(found, name) for name in names]
    if not all(parts):
        missing = names[parts.index(next(part for part in parts if not part))]
        raise Stopped(
            f"The connection {secret.connection!r} has no {missing}, and the configuration takes {secret.name} from it "
            "(airflow.environment).",
            CANNOT_BEGIN,
        )
    value = ":".join(part if isinstance(part, str) else json.dumps(part) for part in parts)  # an extra may be a group
    for each in (value, *value.splitlines()):  # a log is masked line by line
        mask_secret(each)
    return value


def _field(found: Connection, name: str) -> object:
    if name.startswith("extra."):
        return found.extra_dejson.get(name.removeprefix("extra."))
    return getattr(found, name)


def _last_line(hook: SparkSubmitHook) -> str:
    lines = [line for line in getattr(hook, "_last_submit_log_lines", ()) if line.strip()]
    return lines[-1] if lines else "(none)"


__all__ = ["Submission", "connection"]
