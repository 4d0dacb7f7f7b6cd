"""Airflow with the DAGs of this checkout, on loopback, until Ctrl-C: `make airflow-up` calls it.

Without ``--conf`` it brings the sample catalogs along (those of `make run`) and two configurations of them: one that
its findings stop, and one that writes once a person has approved. Needs `make airflow`'s environment.
"""

from __future__ import annotations

import argparse
import json
import os
import secrets
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from pathlib import Path
from string import Template
from types import FrameType

from nestsync.embedded.sample.estate import Estate
from nestsync.errors import NestsyncError

ROOT = Path(__file__).resolve().parents[1]
AIRFLOW = ROOT / ".venv-airflow" / "bin"
COMPONENTS = {
    "api-server": ("api-server",),  # first: tasks report to it
    "dag-processor": ("dag-processor",),
    "scheduler": ("scheduler", "--skip-serve-logs"),  # logs are read from the files here, not from a further port
}
HEALTHY: dict[str, tuple[str, ...]] = {
    "api-server": ("metadatabase",),
    "dag-processor": (),
    "scheduler": ("scheduler", "dag_processor"),
}
"""What has to answer before the next component is started, as the api-server calls it."""
LOCK_SECONDS = {"api-server": 3}
"""How long to wait for SQLite's lock: briefly where one request can wait, in the only thread, for another of the same
process (Airflow's audit log is written there); who asked is told to try again."""
LONGEST_LOCK_SECONDS = 60
START_SECONDS = 180.0
STOP_SECONDS = 20.0
PREFERRED_PORT = 8080
QUICK_JVM = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")
ARCHIVE = "classes.jsa"
FEW_ROWS = {
    "spark.python.daemon.module": "nestsync.daemon",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
}
"""Spark's settings for a few hundred names, where compiling takes longer than running."""
BLOCK = """
airflow:
  schedule: null # by hand here; "0 2 * * *" for every night
  reports_url: {reports}
  approve_above: 20
  tags: [sample]
"""


def main() -> int:
    """Start everything, say where it is, and wait for Ctrl-C; 0 when it was stopped so."""
    options = _options()
    if not (AIRFLOW / "airflow").exists():
        sys.stderr.write("Airflow is not installed: `make airflow` does it\n")
        return 2
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _interrupted)
    home = options.home.absolute()
    try:
        with ExitStack() as stack:
            conf = options.conf.absolute() if options.conf else stack.enter_context(sample(home / "sample"))
            port = options.port or free_port(PREFERRED_PORT)
            up = Up(home, environment(home, conf, options.dags.absolute(), port, options.spark))
            stack.callback(up.stop)
            up.start()
            _say(f"Airflow is up: {up.url} (no login; loopback only). DAGs of {conf}. Ctrl-C stops it.")
            up.wait()
    except KeyboardInterrupt:
        _say("stopped")
        return 0
    except (Failed, NestsyncError) as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 1


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make airflow-up", description=__doc__)
    parser.add_argument("--home", type=Path, default=ROOT / ".cache" / "airflow", help="where Airflow keeps its state")
    parser.add_argument("--conf", type=Path, help="a folder of configurations, instead of the sample catalogs")
    parser.add_argument("--dags", type=Path, default=ROOT / "airflow_dags", help="Airflow's folder of DAGs")
    parser.add_argument("--spark", type=Path, help="the folder of the Spark home to make; by default in the first one")
    parser.add_argument("--port", type=int, help=f"the api-server's; {PREFERRED_PORT}, or a free one, by default")
    return parser.parse_args()


def _interrupted(_number: int, _frame: FrameType | None) -> None:
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    raise KeyboardInterrupt


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def free_port(preferred: int = 0) -> int:
    """`preferred` where nothing listens there, else any free port."""
    for port in (preferred, 0):
        with suppress(OSError), socket.create_server(("127.0.0.1", port)) as unused:
            found: int = unused.getsockname()[1]
            return found
    raise Failed("there is no free port")


class Failed(Exception):
    """Airflow did not start, or ended."""


class Up:
    """The components of one Airflow on SQLite, each a process (group) of its own with a log in `home`."""

    def __init__(self, home: Path, environment: dict[str, str]) -> None:
        self.home = home
        self.environment = environment
        self.url = environment["AIRFLOW__API__BASE_URL"]
        self._processes: dict[str, subprocess.Popen[bytes]] = {}

    def start(self) -> None:
        """Start all, and wait until scheduler and api-server answer. Raises `Failed` with the end of a log."""
        (self.home / "logs").mkdir(parents=True, exist_ok=True)
        prepared = self._spawn("db", "db", "migrate")
        if prepared.wait() != 0:
            raise self._failed("db")
        deadline = time.monotonic() + START_SECONDS
        for name, arguments in COMPONENTS.items():
            self._processes[name] = self._spawn(name, *arguments)
            while not self._healthy(HEALTHY[name]):
                self._demand_all()
                if time.monotonic() > deadline:
                    raise self._failed(name)
                time.sleep(0.5)

    def wait(self) -> None:
        """Wait as long as all run. Raises `Failed` for the first that ends."""
        while True:
            time.sleep(1)
            self._demand_all()

    def stop(self) -> None:
        """End what was started: politely first, by force what does not listen."""
        for number in (signal.SIGTERM, signal.SIGKILL):
            for process in self._processes.values():
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, number)
            deadline = time.monotonic() + STOP_SECONDS
            for process in self._processes.values():
                with suppress(subprocess.TimeoutExpired):
                    process.wait(max(0.1, deadline - time.monotonic()))
        self._processes.clear()

    def _spawn(self, name: str, *arguments: str) -> subprocess.Popen[bytes]:
        database = f"sqlite:///{self.home}/airflow.db?timeout={LOCK_SECONDS.get(name, LONGEST_LOCK_SECONDS)}"
        with self._log(name).open("ab") as log:
            return subprocess.Popen(  # noqa: S603
                [AIRFLOW / "airflow", *arguments],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                env=self.environment | {"AIRFLOW__DATABASE__SQL_ALCHEMY_CONN": database},
                start_new_session=True,  # Ctrl-C is for us: we stop them in order
            )

    def _log(self, name: str) -> Path:
        return self.home / "logs" / f"{name}.log"

    def _demand_all(self) -> None:
        for name, process in self._processes.items():
            if process.poll() is not None:
                raise self._failed(name)

    def _failed(self, name: str) -> Failed:
        log = self._log(name)
        said = log.read_text("utf-8", errors="replace").splitlines()[-5:]
        return Failed(f"Airflow's {name} does not run:\n  " + "\n  ".join(said) + f"\nthe whole log is {log}")

    def _healthy(self, parts: Sequence[str]) -> bool:
        try:
            with urllib.request.urlopen(f"{self.url}/api/v2/monitor/health", timeout=5) as answer:  # noqa: S310
                said = json.load(answer)
        except (OSError, ValueError, urllib.error.URLError):
            return False
        return all(said[part]["status"] == "healthy" for part in parts)


def environment(
    home: Path, conf: Path, dags: Path = ROOT / "airflow_dags", port: int = 0, spark: Path | None = None
) -> dict[str, str]:
    """What Airflow runs with here: one folder, SQLite, loopback, and the job environment's spark-submit on PATH.

    The caller's own variables stay, connections (``AIRFLOW_CONN_...``) among them; PYTHONPATH would be Airflow's too.
    """
    here = {key: value for key, value in os.environ.items() if key not in {"PYTHONPATH", "VIRTUAL_ENV"}}
    url = f"http://127.0.0.1:{port}"
    jobs = Path(sys.prefix) / "bin"
    said = {
        "AIRFLOW_HOME": str(home),
        "AIRFLOW__CORE__DAGS_FOLDER": str(dags),
        "AIRFLOW__CORE__LOAD_EXAMPLES": "False",
        "AIRFLOW__CORE__DAGS_ARE_PAUSED_AT_CREATION": "False",
        "AIRFLOW__CORE__PARALLELISM": str(max(2, os.cpu_count() or 2)),  # each task is a Spark of its own
        "AIRFLOW__CORE__HOSTNAME_CALLABLE": "socket.gethostname",
        "AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_ALL_ADMINS": "True",
        "AIRFLOW__CORE__FERNET_KEY": _kept(home / "fernet.key"),
        "AIRFLOW__CORE__EXECUTION_API_SERVER_URL": f"{url}/execution/",
        "AIRFLOW__API__HOST": "127.0.0.1",
        "AIRFLOW__API__PORT": str(port),
        "AIRFLOW__API__BASE_URL": url,
        "AIRFLOW__API__SECRET_KEY": _kept(home / "api.key"),
        "AIRFLOW__WORKERS__EXECUTION_API_TIMEOUT": "60",
        "AIRFLOW__API_AUTH__JWT_SECRET": _kept(home / "jwt.key"),
        "AIRFLOW__DAG_PROCESSOR__PARSING_PROCESSES": "1",
        "AIRFLOW__DAG_PROCESSOR__REFRESH_INTERVAL": "10",
        "AIRFLOW__DAG_PROCESSOR__MIN_FILE_PROCESS_INTERVAL": "20",
        "AIRFLOW__USAGE_DATA_COLLECTION__ENABLED": "False",
        "NESTSYNC_PROJECT": str(ROOT),
        "NESTSYNC_CONF": str(conf),
        "PATH": f"{jobs}{os.pathsep}{AIRFLOW}{os.pathsep}{here.get('PATH', os.defpath)}",
        "NESTSYNC_PACKAGE": "",  # the jobs' environment has nestsync installed
        "SPARK_HOME": str(spark_home(spark or home / "spark")),
        "SPARK_SUBMIT_OPTS": " ".join(java_options(spark or home / "spark")),
        "PYSPARK_PYTHON": str(jobs / "python"),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "AIRFLOW_CONN_SPARK_DEFAULT": json.dumps(
            {"conn_type": "spark", "host": "local[2]", "extra": {"deploy-mode": "client"}}
        ),
    }
    return here | said


def spark_home(folder: Path) -> Path:
    """A Spark home of links to PySpark's own, but for its zip of itself.

    Each Python process would compile what is in the zip anew, and the environment has the package.
    """
    import pyspark

    folder.mkdir(parents=True, exist_ok=True)
    for part in Path(pyspark.__file__).parent.iterdir():
        link = folder / part.name
        if part.is_dir() and part.name not in ("python", "__pycache__") and not link.is_symlink():
            link.symlink_to(part)
    return folder


def java_options(spark: Path) -> tuple[str, ...]:
    """What a driver's JVM is started with: quick to be up, with `FEW_ROWS`, and with the archive of classes in `spark`.

    Where there is no archive, the JVM loads the classes as ever.
    """
    archive = ("-Xshare:auto", f"-XX:SharedArchiveFile={spark / ARCHIVE}")
    return (*QUICK_JVM, *archive, *(f"-D{name}={value}" for name, value in FEW_ROWS.items()))


def _kept(file: Path) -> str:
    """A secret of this Airflow, made once."""
    if not file.exists():
        import base64

        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch(mode=0o600)
        file.write_text(base64.urlsafe_b64encode(secrets.token_bytes(32)).decode(), encoding="ascii")
    return file.read_text(encoding="ascii")


@contextmanager
def sample(home: Path) -> Iterator[Path]:
    """The running sample catalogs, the folder of their configurations, and their reports served over HTTP."""
    with Estate(home / "catalogs") as estate, _served(home / "workspace" / "reports") as reports:
        addresses = {
            "warehouse": estate.warehouse.uri,
            "lakehouse": estate.lakehouse.uri,
            "target": estate.target.uri,
            "datasets": str(estate.datasets),
        }
        conf = home / "conf"
        conf.mkdir(parents=True, exist_ok=True)
        for name in ("first", "resolved"):
            template = (files("nestsync.embedded.sample") / "conf" / f"{name}.yaml").read_text(encoding="utf-8")
            text = Template(template).substitute(addresses) + BLOCK.format(reports=reports)
            (conf / f"{name}.yaml").write_text(text, encoding="utf-8")
        yield conf


@contextmanager
def _served(folder: Path) -> Iterator[str]:
    """The address on loopback at which the files in `folder` can be read."""
    folder.mkdir(parents=True, exist_ok=True)
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Say nothing: the terminal is for what a person has to know."""


if __name__ == "__main__":
    sys.exit(main())
