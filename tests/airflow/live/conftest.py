"""One Airflow for all scenarios, which are all under way at once: what takes long are Spark's starts, not waiting."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.airflow.live import scenarios
from tests.airflow.live.estate import CONNECTIONS, Estate
from tests.airflow.live.rest import Airflow, given_up
from tests.faults import free_port

ROOT = Path(__file__).parents[3]
UP_SECONDS, STOP_SECONDS = 240.0, 60.0
DOWNSTREAM = '''
"""Scheduled by a verified sync."""

from airflow.sdk import DAG, Asset, task

with DAG("downstream", schedule=[Asset(name="nestsync.clean", uri="nestsync://verified/clean")]):

    @task
    def told(*, triggering_asset_events):
        ((event,),) = triggering_asset_events.values()
        return event.extra

    told()
'''
TOLD = '''
"""Where `airflow.alert` leads."""

import json
import os


def tell(context):
    with open(os.environ["TOLD"], "a") as file:
        told = {"task": context["ti"].task_id, "dag": context["ti"].dag_id, "said": str(context["exception"])}
        file.write(json.dumps(told) + "\\n")
'''


@dataclass
class Up:
    """Airflow as `make airflow-up` started it."""

    process: subprocess.Popen[str]
    home: Path
    url: str
    output: Path
    told: Path


@pytest.fixture(scope="session")
def estate(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Estate]:
    made = Estate(tmp_path_factory.mktemp("estate"))
    made.start()
    archiving = made.archive_classes()
    yield made
    archiving.terminate()
    archiving.wait()
    made.stop()


@pytest.fixture(scope="session")
def up(estate: Estate, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Up]:
    """A running Airflow; the DAGs lie in a folder below Airflow's own, beside somebody else's."""
    home = tmp_path_factory.mktemp("airflow")
    dags, output, told = home / "dags", home / "up.log", home / "told.jsonl"
    shutil.copytree(ROOT / "airflow_dags", dags / "nestsync", ignore=shutil.ignore_patterns("__pycache__"))
    (dags / "downstream.py").write_text(DOWNSTREAM, encoding="utf-8")
    (dags / "told.py").write_text(TOLD, encoding="utf-8")
    port = free_port()
    options = f"--home {home} --conf {estate.conf} --dags {dags} --port {port} --spark {estate.spark}"
    inherited = {key: value for key, value in os.environ.items() if key not in {"MAKEFLAGS", "MAKELEVEL", "MFLAGS"}}
    with output.open("w") as log:
        process = subprocess.Popen(
            ["make", "airflow-up", f"UP={options}"],
            cwd=ROOT,
            stdout=log,
            stderr=subprocess.STDOUT,
            text=True,
            env=inherited | CONNECTIONS | {"TOLD": str(told)},
            start_new_session=True,
        )
    deadline = time.monotonic() + UP_SECONDS
    while "Airflow is up" not in output.read_text():
        assert process.poll() is None, output.read_text()
        assert time.monotonic() < deadline, output.read_text()
        time.sleep(1)
    started = Up(process, home, f"http://127.0.0.1:{port}", output, told)
    yield started
    interrupt(started)


def interrupt(up: Up) -> None:
    """What Ctrl-C does: SIGINT for everything in the terminal's foreground."""
    if up.process.poll() is None:
        os.killpg(up.process.pid, signal.SIGINT)
        up.process.wait(STOP_SECONDS)  # make itself, which does not wait for what it runs
        deadline = time.monotonic() + STOP_SECONDS
        while "stopped" not in up.output.read_text() and time.monotonic() < deadline:
            time.sleep(0.5)


@pytest.fixture(scope="session")
def under_way(request: pytest.FixtureRequest, up: Up, estate: Estate) -> Iterator[dict[str, Future[scenarios.Seen]]]:
    """Every scenario that a test will look at, begun; each ends with what was seen."""
    asked = {item.callspec.params.get("seen") for item in request.session.items if hasattr(item, "callspec")}
    wanted = {name: play for name, play in scenarios.ALL.items() if name in asked}
    pool = ThreadPoolExecutor(len(scenarios.ALL))
    airflows = {name: Airflow(up.url) for name in wanted}
    yield {name: pool.submit(play, airflows[name], estate) for name, play in wanted.items()}
    given_up.set()
    pool.shutdown(cancel_futures=True)


@pytest.fixture
def seen(request: pytest.FixtureRequest, under_way: dict[str, Future[scenarios.Seen]]) -> scenarios.Seen:
    """What was seen of the scenario that the test names, when it is over."""
    return under_way[request.param].result()
