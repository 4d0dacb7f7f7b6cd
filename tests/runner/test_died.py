"""Runs that did not go as a run should, asked for through the command line: killed, missing, empty."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result
from pyiceberg.catalog.rest import RestCatalog
from pyspark.sql import SparkSession
from typer.testing import CliRunner

from nestsync.cli import app
from nestsync.embedded.servers import IcebergRest
from nestsync.errors import RunNotFound
from nestsync.history.attempts import attempt
from nestsync.history.records import read_record
from nestsync.runfiles import RunFiles
from nestsync.runner.choosing import run_to_take
from tests.faults import HoldingProxy
from tests.history.runs import died, ended
from tests.reports.pages import Page
from tests.runner.configurations import flat_to_nested

pytestmark = [pytest.mark.spark, pytest.mark.servers, pytest.mark.timeout(600)]

OF_AIRFLOW = "lake:manual__2026-11-29T02:00:00.123456+00:00"
"""A run's id as the DAGs make it: its colons mean something to Spark's readers of files."""
HELD_AT = 4
"""The write request in the middle of which apply is killed; one is sent at a time."""
NAMES = [f"n{number}" for number in range(6)]


@pytest.fixture
def door(target: IcebergRest) -> Iterator[HoldingProxy]:
    with HoldingProxy(target.uri, HELD_AT) as proxy:
        yield proxy
        proxy.release()


@pytest.fixture
def config(tmp_path: Path, source: IcebergRest, door: HoldingProxy) -> Path:
    return flat_to_nested(tmp_path, source, door, "apply: {concurrency: 1}")


def typed(*words: str | Path, ends_with: int = 0) -> Result:
    done = CliRunner().invoke(app, [str(word) for word in words])
    assert done.exit_code == ends_with, done.output
    return done


def kill_in_apply(config: Path, door: HoldingProxy) -> None:
    """Apply in a process of its own, and kill it while its request is at the target's door."""
    command = [Path(sys.prefix) / "bin" / "nestsync", "apply", "-c", config, "--run-id", "torn", "--yes"]
    process = subprocess.Popen(command, start_new_session=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        assert door.held.wait(240), "apply never came to its writes"
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        door.release()


@pytest.mark.proves("exit-4")
def test_a_run_that_was_killed_half_way_says_so_and_never_claims_success(
    spark: SparkSession, source: IcebergRest, door: HoldingProxy, config: Path
) -> None:
    for name in NAMES:
        RestCatalog("plain", uri=source.uri).create_namespace((name,))
    typed("inventory", "-c", config, "--run-id", "torn")
    for stage in ("check", "plan"):
        typed(stage, "-c", config, "--run-id", "torn")
    kill_in_apply(config, door)
    assert "it began, and its process ended without a word, in apply" in typed("history", "-c", config).stdout

    said = typed("report", "-c", config, "--run-id", "torn", ends_with=4)
    verdict = (
        "The run died half way, in apply. 3 of 6 changes are in the target, "
        "1 was sent and nobody knows what came of it, 2 were not sent."
    )
    assert verdict in said.stdout
    again = [f"nestsync {stage} -c {config} --run-id torn" for stage in ("apply", "verify", "report")]
    assert [line.strip() for line in said.stdout.splitlines() if line.startswith("  nestsync ")] == again
    folder = config.parent / "workspace" / "reports" / "torn"
    text = Page.read(folder / "index.html").text
    for told in (verdict, *again, "its process ended without a word", "unknown", "to create"):
        assert told in text
    for never in ("reconciled:", "Done"):
        assert never not in text
    summary = json.loads((folder / "summary.json").read_text())
    assert (summary["exit_code"], summary["verdict"]) == (4, verdict)
    assert {each["outcome"]: each["count"] for each in summary["plan"]["actions"]} == {
        "applied": 3,
        "unknown": 1,
        "pending": 2,
    }
    (missed,) = [each for each in summary["expectations"] if each["name"] == "actions-succeeded"]
    assert (missed["success"], missed["unexpected"]) == (False, 3)
    assert 'testcase classname="nestsync.stages" name="apply"' in (folder / "junit.xml").read_text()
    record = read_record(RunFiles(config.parent / "workspace"), "torn")
    assert (record.exit_code, record.verdict) == (4, verdict)

    for stage in ("apply", "verify", "report"):
        said = typed(stage, "-c", config, "--run-id", "torn")
    assert "The target is reconciled: " in said.stdout
    assert "6 namespaces verified" in Page.read(folder / "index.html").text
    assert told_by(folder)["target-equals-plan"]["success"]
    assert datetime.fromisoformat(json.loads((folder / "summary.json").read_text())["started_at"]) == record.started_at

    RestCatalog("plain", uri=door.uri).drop_namespace((NAMES[2],))
    for stage in ("verify", "report"):
        typed(stage, "-c", config, "--run-id", "torn", ends_with=4)
    missed = told_by(folder)["target-equals-plan"]
    assert (missed["success"], missed["unexpected"]) == (False, 1)
    assert NAMES[2] in missed["examples"][0]


def test_a_scheduler_that_ends_apply_is_told_the_run_and_how_to_go_on(
    spark: SparkSession, source: IcebergRest, door: HoldingProxy, config: Path
) -> None:
    for name in NAMES:
        RestCatalog("plain", uri=source.uri).create_namespace((name,))
    command = [Path(sys.prefix) / "bin" / "nestsync", "run", "-c", config, "--run-id", OF_AIRFLOW, "--yes", "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert door.held.wait(240), "apply never came to its writes"
        process.terminate()
        door.release()
        said, told = process.communicate(timeout=120)
    document = json.loads(said)
    again = f"nestsync run -c {config} --run-id {OF_AIRFLOW}"
    assert process.returncode == document["exit_code"] == 128 + signal.SIGTERM
    assert (document["run_id"], document["next_steps"]) == (OF_AIRFLOW, [again])
    assert [each["stage"] for each in document["stages"]] == ["inventory", "check", "plan", "apply"]
    assert told.rstrip().endswith(f"error [terminated] ended by a signal\n  go on with: {again}")
    written = HELD_AT  # its answer was waited for
    assert len(door.writes) == written
    typed(*again.split()[1:])
    assert len(door.writes) == len(NAMES)


def told_by(folder: Path) -> dict[str, dict[str, Any]]:
    """The expectations of a report, by name."""
    return {each["name"]: each for each in json.loads((folder / "summary.json").read_text())["expectations"]}


def test_an_empty_inventory_is_said_to_be_empty(spark: SparkSession, config: Path) -> None:
    said = typed("assess", "-c", config, "--run-id", "empty")
    empty = "No source holds a namespace, a table or a view."
    assert empty in said.stdout
    assert "see whether the sources' addresses, warehouses and folders are the right ones" in said.stdout
    text = Page.read(config.parent / "workspace" / "reports" / "empty" / "index.html").text
    assert empty in text
    assert "it holds no namespace, table or view" in text
    assert "No namespace was read" in text
    with attempt(RunFiles(config.parent / "workspace"), "empty", command="apply", stages=["apply"]):
        said = typed("report", "-c", config, "--run-id", "empty", ends_with=5)
    assert "run empty is under way" in said.stderr


def test_what_has_no_rows_is_no_run_to_report_on(tmp_path: Path) -> None:
    files = RunFiles(tmp_path)
    ended(files, "night-1")
    died(files, "torn")
    ended(files, "unreachable", exit_code=5, inventory={})
    (tmp_path / "runs-json" / "unreachable.json").unlink()
    ended(files, "gone")
    (tmp_path / "runs-json" / "gone.json").unlink()
    for run_id, what, hint in (
        ("nope", "there is no run 'nope'", "the latest runs are: night-1"),
        (
            "torn",
            "run torn died before its inventory was read, so there is nothing to go on with",
            "`nestsync history`",
        ),
        ("unreachable", "nothing to go on with; it ended so: It ended with 5.", "`nestsync history`"),
        ("gone", "run gone was removed, and only its line in the history is left", "retention says"),
    ):
        with pytest.raises(RunNotFound) as caught:
            run_to_take(files, run_id, new=False)
        assert what in caught.value.what
        assert caught.value.hint.startswith(hint)


@pytest.mark.parametrize("command", ["report", "check", "plan", "apply", "verify"])
@pytest.mark.proves("exit-2")
def test_a_run_that_is_not_there_is_named_with_those_that_are(command: str, tmp_path: Path) -> None:
    file = tmp_path / "nestsync.yaml"
    file.write_text("workspace: space\nsources: [{name: files, system: lance_dir, root: lance}]\n")
    ended(RunFiles(tmp_path / "space"), "night-1")
    done = typed(command, "-c", file, "--run-id", "nope", ends_with=2)
    assert "there is no run 'nope'" in done.stderr
    assert "the latest runs are: night-1" in done.stderr
