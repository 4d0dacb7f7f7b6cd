"""A real Airflow (scheduler, api-server, dag processor) over real catalog servers, triggered over its REST API."""

from __future__ import annotations

import json
from concurrent.futures import Future, wait
from pathlib import Path

import pytest

from tests.airflow.live.conftest import Up, interrupt
from tests.airflow.live.estate import HELD_AT, NAMESPACES, SECRET, Estate
from tests.airflow.live.rest import Airflow
from tests.airflow.live.scenarios import Seen

pytestmark = [pytest.mark.spark, pytest.mark.servers, pytest.mark.timeout(1800)]

ALL_DONE = {
    "configuration": "success",
    "inventory[0]": "success",
    "inventory[1]": "success",
    "check": "success",
    "plan": "success",
    "gate": "success",
    "apply": "success",
    "verify": "success",
    "report": "success",
    "done": "success",
}


STOPPED = {"gate": "failed", "apply": "upstream_failed", "verify": "skipped", "done": "upstream_failed"}


def told_of(seen: Seen, up: Up) -> list[tuple[str, str]]:
    """The tasks of the scenario's DAG about which somebody was told, and what was said."""
    told = [json.loads(line) for line in up.told.read_text().splitlines()]
    return [(each["task"], each["said"]) for each in told if each["dag"] == seen.run.dag_id]


def of(name: str) -> pytest.MarkDecorator:
    """The scenario that the test looks at."""
    return pytest.mark.parametrize("seen", [name], indirect=True, ids=[name])


# ---- an eventful night


@of("eventful")
def test_a_source_that_is_down_for_two_tries_is_read_at_the_third(seen: Seen) -> None:
    task = seen.run.tasks()[("inventory", 0)]
    assert (task["try_number"], task["state"]) == (3, "success")
    for tries in (1, 2):
        said = seen.run.log("inventory", index=0, tries=tries)
        assert "ended with exit 5 (a source or the target cannot be reached" in said
        assert "Traceback" not in said
    assert seen.run.tasks()[("inventory", 1)]["try_number"] == 1  # each source is retried on its own


@of("eventful")
def test_a_person_sees_what_would_be_done(seen: Seen) -> None:
    asked = seen.noted["asked"]
    assert asked["subject"] == "Write to the target? It creates 10 namespaces, more than 9."
    assert asked["options"] == ["Approve", "Reject"]
    assert asked["defaults"] == ["Reject"]  # what a time-out answers
    assert "10 to create" in asked["body"]
    assert '&#91;"eventful", "n0"&#93;' in asked["body"]


@of("eventful")
def test_a_person_rejects_and_nothing_is_written(seen: Seen) -> None:
    state, states, writes = seen.noted["rejected"]
    skipped = dict.fromkeys(("apply", "verify", "done"), "skipped")
    assert (state, states, writes) == ("success", ALL_DONE | skipped, 0)


@of("eventful")
def test_an_apply_that_was_killed_says_so(seen: Seen) -> None:
    said, writes = seen.noted["killed"]
    assert "was ended by signal 9" in said
    assert "Traceback" not in said
    assert writes == HELD_AT  # half of what was planned


@of("eventful")
def test_approved_and_cleared_it_goes_on_with_its_run_and_writes_nothing_twice(seen: Seen, estate: Estate) -> None:
    assert (seen.noted["state"], seen.run.states()) == ("success", ALL_DONE)
    assert estate.held_by("eventful") == dict.fromkeys(NAMESPACES["eventful"], "gold")  # exactly as planned
    assert len(estate.targets["eventful"].writes) == len(NAMESPACES["eventful"])  # counted at the server's side
    assert seen.run.xcom("apply")["run_id"] == seen.run.nestsync_run
    assert seen.run.tasks()[("plan", -1)]["try_number"] == 1


# ---- a clean run


@of("clean")
def test_a_clean_run_writes_what_is_planned(seen: Seen, estate: Estate) -> None:
    assert (seen.noted["state"], seen.run.states()) == ("success", ALL_DONE)
    assert estate.held_by("clean") == dict.fromkeys(NAMESPACES["clean"], "gold")
    assert seen.noted["writes"] == len(NAMESPACES["clean"])
    assert "No person has to be asked" in seen.run.log("gate")


@of("clean")
def test_counts_and_the_report_are_on_the_task(seen: Seen, estate: Estate) -> None:
    report = estate.workspace("clean") / "reports" / seen.run.nestsync_run / "index.html"
    assert report.is_file()
    assert seen.run.xcom("apply")["counts"]["apply"]["applied"] == 3
    assert seen.run.xcom("report")["report"] == str(report)
    assert seen.run.xcom("inventory", index=0)["counts"]["inventory"]["namespaces"] >= 3
    assert seen.run.links("report") == {"Report": report.as_uri()}
    assert seen.run.links("check") == {"Findings": f"{report.as_uri()}#findings"}
    assert seen.run.links("gate")["Plan"] == f"{report.as_uri()}#plan"
    assert seen.run.tasks()[("inventory", 0)]["rendered_map_index"] == "lake"


@of("clean")
def test_a_verified_sync_schedules_what_waits_for_it(seen: Seen) -> None:
    airflow = seen.run.airflow
    runs = airflow.until(lambda: airflow.ask("GET", "/dags/downstream/dagRuns")["dag_runs"])
    assert [run["run_type"] for run in runs] == ["asset_triggered"]
    downstream = type(seen.run)(airflow, "downstream", runs[0]["dag_run_id"])
    assert downstream.ended() == "success"
    told = downstream.xcom("told")
    assert (told["run_id"], told["applied"], told["verified"]) == (seen.run.nestsync_run, 3, 3)


@of("clean")
def test_the_sync_under_airflow_dags_test_finds_nothing_left_to_write(seen: Seen) -> None:
    tested = seen.noted["tested"]
    assert tested.returncode == 0, tested.stdout[-4000:] + tested.stderr[-4000:]
    assert "The target is reconciled: " in tested.stdout + tested.stderr
    assert seen.noted["writes in all"] == seen.noted["writes"]


# ---- findings


@of("conflict")
def test_findings_stop_the_run_at_the_gate_without_a_retry(seen: Seen, estate: Estate) -> None:
    assert (seen.noted["state"], seen.run.states()) == ("failed", ALL_DONE | STOPPED)
    assert seen.run.tasks()[("gate", -1)]["try_number"] == 1
    said = seen.run.log("gate")
    report = estate.workspace("conflict") / "reports" / seen.run.nestsync_run / "index.html"
    assert "1 blocking finding must be resolved first. Nothing was written." in said
    assert "set separator.value to ';'" in said
    assert "Traceback" not in said
    assert report.is_file()  # written although the run was stopped
    assert seen.run.links("gate")["Findings"] == f"{report.as_uri()}#findings"
    assert not estate.catalog("clean").namespace_exists(("conflict",))


@of("conflict")
def test_whom_the_configuration_names_is_told(seen: Seen, up: Up) -> None:
    assert seen.noted["state"] == "failed"
    ((task, said),) = told_of(seen, up)
    assert task == "gate"
    assert "1 blocking finding must be resolved first" in said


@of("conflict")
def test_the_assessment_under_airflow_dags_test_has_findings_for_an_answer(seen: Seen, estate: Estate) -> None:
    tested = seen.noted["tested"]
    assert tested.returncode == 0, tested.stdout[-4000:] + tested.stderr[-4000:]
    assert list((estate.workspace("conflict") / "reports").glob("conflict+assess:*/index.html"))


# ---- mistakes


@of("wrong")
@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("no-connection", "There is no connection 'spark_of_yesterday' in Airflow."),
        ("no-spark-submit", "spark2-submit is not on the PATH of this Airflow worker."),
        ("no-master", "leads to 'http://127.0.0.1:80', which is no Spark master."),
        ("no-secret", "There is no connection 'lakehouse_of_yesterday' in Airflow."),
        ("typo", "'strategy'?"),
        ("no-yaml", "this is not YAML"),
        ("no-schedule", "airflow.schedule must be a cron expression"),
    ],
)
def test_a_mistake_is_a_message_and_no_stack_trace(seen: Seen, name: str, said: str) -> None:
    state, states, log = seen.noted[name]
    assert (state, states["configuration"]) == ("failed", "failed")
    assert said in log
    assert "Traceback" not in log
    assert "exc_type" not in log


# ---- what is nowhere, and what is left


@of("clean")
def test_the_secret_is_in_no_log_template_command_or_database(seen: Seen, up: Up) -> None:
    assert seen.noted["state"] == "success"
    files = [file for file in up.home.rglob("*") if file.is_file() and not file.is_symlink()]
    assert any(file.name == "airflow.db" for file in files)
    assert [file for file in files if SECRET.encode() in file.read_bytes()] == []
    assert seen.run.rendered("apply")["arguments"][-1] == seen.run.nestsync_run


def test_ctrl_c_stops_all_that_was_started_a_running_job_too(
    up: Up, estate: Estate, under_way: dict[str, Future[Seen]]
) -> None:
    wait(under_way.values())
    Airflow(up.url).run("nestsync.clean").until_task("inventory", "running", index=0)
    interrupt(up)
    assert up.output.read_text().endswith("stopped\n")
    left = [file for file in Path("/proc").glob("[0-9]*/environ") if _works_for(estate.conf, file)]
    assert left == []


def _works_for(conf: Path, environ: Path) -> bool:
    """Whether it is Airflow with those configurations, or a job of it."""
    try:
        return f"NESTSYNC_CONF={conf}\0".encode() in environ.read_bytes()
    except OSError:
        return False
