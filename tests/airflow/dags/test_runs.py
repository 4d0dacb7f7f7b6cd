"""What becomes of a DAG run when a job ends so or so."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import runs
from airflow.sdk import DAG
from airflow.sdk.log import redact
from conftest import Bag
from runs import Ends, Spark, decided, stage

GOES_WELL = dict.fromkeys(
    ("configuration", "inventory", "check", "plan", "gate", "apply", "verify", "report", "done"), "success"
)
NOT_WRITTEN = dict.fromkeys(("apply", "done"), "upstream_failed") | {"verify": "skipped"}


@pytest.fixture
def dag(bag: Bag) -> DAG:
    """A sync that tries nothing again."""
    return bag(sales="airflow: {retries: 0, alert: runs.tell}\n").dags["nestsync.sales"]


@pytest.mark.parametrize(
    ("ends", "state", "states", "told"),
    [
        pytest.param({"apply": (0, stage("apply", applied=3))}, "success", {}, [3], id="wholly-applied"),
        pytest.param(
            {"apply": (4, stage("apply", applied=3, blocked=1)), "report": (4, {"report": "/r/index.html"})},
            "failed",
            {"apply": "failed", "done": "upstream_failed"},
            [],
            id="findings-block-a-part",
        ),
        pytest.param(
            {"apply": (4, stage("apply", applied=3, failed=1)), "verify": (4, stage("verify", differences=1))},
            "failed",
            {"apply": "failed", "verify": "failed", "done": "upstream_failed"},
            [],
            id="the-target-refuses-a-part",
        ),
        pytest.param(
            {"apply": (6, {})},
            "failed",
            {"apply": "failed", "verify": "skipped", "done": "upstream_failed"},
            [],
            id="drift",
        ),
        pytest.param({"check": (3, {})}, "failed", NOT_WRITTEN | {"gate": "failed"}, [], id="findings-stop-it"),
        pytest.param(
            {"verify": (4, stage("verify", differences=1))},
            "failed",
            {"verify": "failed", "done": "upstream_failed"},
            [],
            id="does-not-verify",
        ),
        pytest.param(
            {"report": (4, {"report": "/r/index.html"})},
            "failed",
            {"report": "failed", "done": "upstream_failed"},
            [0],
            id="an-expectation-is-not-met",
        ),
    ],
)
def test_a_run_ends_as_its_jobs_do(
    spark: Spark, dag: DAG, ends: Ends, state: str, states: dict[str, str], told: list[int]
) -> None:
    ran = spark.run(dag, ends)
    failed = [task for task, ended in ran.states.items() if ended == "failed"]
    assert sorted(each for each, _ in runs.told) == sorted(failed)
    assert (ran.state, ran.states) == (state, GOES_WELL | states)
    assert [event["applied"] for event in ran.assets()] == told


def test_a_dry_run_is_reported_and_writes_nothing(spark: Spark, dag: DAG) -> None:
    ran = spark.run(dag, {}, dry_run=True)
    assert (ran.state, ran.states) == ("success", GOES_WELL | dict.fromkeys(("apply", "verify", "done"), "skipped"))
    assert ran.assets() == []


@pytest.mark.parametrize(
    ("option", "hours", "state", "states", "said"),
    [
        pytest.param("Approve", 1, "success", {}, [], id="approved"),
        pytest.param(
            "Reject",
            1,
            "success",
            dict.fromkeys(("apply", "verify", "done"), "skipped"),
            ["The plan was rejected by Ada. Nothing was written."],
            id="rejected",
        ),
        pytest.param(
            None,
            0.0003,
            "failed",
            NOT_WRITTEN | {"gate": "failed"},
            ["Nobody answered within 0.0003 hours, which is a no. Nothing was written."],
            id="nobody-answered",
        ),
    ],
)
def test_those_who_are_to_hear_of_it_hear_of_the_question_and_of_a_no(
    spark: Spark, bag: Bag, option: str | None, hours: float, state: str, states: dict[str, str], said: list[str]
) -> None:
    block = f"airflow: {{retries: 0, alert: runs.tell, approve_above: 0, approval_hours: {hours}}}\n"
    with decided(option):
        ran = spark.run(bag(sales=block).dags["nestsync.sales"], {})
    assert (ran.state, ran.states) == (state, GOES_WELL | states)
    assert [(task, told and told.partition("\n")[0]) for task, told in runs.told] == [
        ("gate", each) for each in (None, *said)
    ]


@pytest.mark.parametrize("alert", ["runs.refuse", "runs.nowhere", "nowhere.tell"])
def test_an_alert_that_fails_takes_no_decision_and_is_told_of(
    spark: Spark, bag: Bag, capfd: pytest.CaptureFixture[str], alert: str
) -> None:
    with decided("Approve"):
        ran = spark.run(bag(sales=f"airflow: {{alert: {alert}, approve_above: 0}}\n").dags["nestsync.sales"], {})
    assert (ran.state, ran.states) == ("success", GOES_WELL)
    out = capfd.readouterr()
    assert f"Nobody was told: airflow.alert ({alert}) ended with " in out.out + out.err
    assert "Traceback" not in out.out + out.err


@pytest.mark.parametrize("task", ["check", "plan"])
def test_a_job_that_did_not_end_well_is_nothing_to_decide_on(spark: Spark, bag: Bag, task: str) -> None:
    gate = bag(sales="airflow: {retries: 0, alert: runs.tell}\n").dags["nestsync.sales"]
    gate.get_task(task)._accepts = lambda _: (0, 1)  # as a person does who marks it a success
    ran = spark.run(gate, {task: (1, {})})
    assert ran.states["gate"] == "failed"
    ((_, said),) = runs.told
    assert f"The task {task} left nothing to decide on: its job ended with exit 1. Was it marked" in (said or "")
    assert f"next: clear the task {task}" in (said or "")


def test_a_check_that_was_marked_by_hand_is_nothing_to_decide_on(spark: Spark, dag: DAG) -> None:
    ran = spark.run(dag, {}, marked="check")
    assert ran.states["gate"] == "failed"
    ((_, said),) = runs.told
    assert "The task check left nothing to decide on" in (said or "")
    assert "next: clear the task check" in (said or "")


@pytest.mark.parametrize("deaf", [False, True])
def test_a_job_that_is_stuck_is_stopped_and_told_of(
    spark: Spark, bag: Bag, monkeypatch: pytest.MonkeyPatch, deaf: bool
) -> None:
    block = "airflow: {retries: 2, alert: runs.tell, timeout_hours: 0.001}\n"
    dag = bag(sales=block).dags["nestsync.sales"]
    monkeypatch.setattr("nestsync_airflow.submit.GRACE_SECONDS", 1.0)
    ran = spark.run(dag, {"validate": (0, {"seconds": 60, "deaf": deaf})})
    assert ran.states["configuration"] == "failed"  # and not tried again: it had all the time there is
    ((_, said),) = runs.told
    assert "nestsync validate did not end within 0.001 hours, and was stopped" in (said or "")
    assert not Path(f"/proc/{ran.job('validate')['pid']}").exists()


def test_links_are_where_they_lead_somewhere(spark: Spark, dag: DAG) -> None:
    ran = spark.run(dag, {})
    written = (spark.home / "reports" / "r" / "index.html").as_uri()
    (run,) = {Path(ran.job(each)["argv"][-1]).name for each in ("check", "apply", "verify", "report")}
    page = (spark.home / "reports" / run / "index.html").as_uri()
    assert ran.links() == {
        "check": {"FindingsLink": f"{page}#findings"},
        "plan": {"PlanLink": f"{page}#plan"},
        "gate": {"FindingsLink": f"{page}#findings", "PlanLink": f"{page}#plan"},
        "apply": {"ReportLink": page},
        "verify": {"ReportLink": page},
        "report": {"ReportLink": written},
    }


def test_a_job_has_its_secrets_and_nothing_of_airflow_s(
    spark: Spark, bag: Bag, monkeypatch: pytest.MonkeyPatch
) -> None:
    fields = {"TOKEN": "extra.token", "KEYFILE": "extra.keyfile", "BOTH": "login:password"}
    named = ", ".join(f"{{name: {name}, connection: lakehouse, field: '{field}'}}" for name, field in fields.items())
    block = f"airflow: {{retries: 0, environment: [{named}]}}\n"
    lakehouse = {"login": "ada", "password": "p4ssword", "extra": {"token": "s3cr3t", "keyfile": {"key": "k3y"}}}
    monkeypatch.setenv("AIRFLOW_CONN_LAKEHOUSE", json.dumps({"conn_type": "http"} | lakehouse))
    monkeypatch.setenv("AIRFLOW_VAR_OTHER", "other-s3cr3t")
    monkeypatch.setenv("_AIRFLOW__INTERNAL", "x")
    started = spark.run(bag(sales=block).dags["nestsync.sales"], {}).job("apply")
    handed_on = {name: started["environment"][name] for name in fields}
    assert handed_on == {"TOKEN": "s3cr3t", "KEYFILE": '{"key": "k3y"}', "BOTH": "ada:p4ssword"}
    assert started["environment"]["HOME"]  # what is not Airflow's own is inherited
    assert [name for name in started["environment"] if "AIRFLOW" in name] == []
    assert "s3cr3t" not in str(started["argv"])


def test_a_secret_of_several_lines_is_masked_in_each(spark: Spark, bag: Bag, monkeypatch: pytest.MonkeyPatch) -> None:
    block = "airflow: {retries: 0, environment: [{name: KEY, connection: lakehouse, field: extra.key}]}\n"
    lakehouse = {"conn_type": "http", "extra": {"key": "first-l1ne\nsecond-l1ne"}}
    monkeypatch.setenv("AIRFLOW_CONN_LAKEHOUSE", json.dumps(lakehouse))
    spark.run(bag(sales=block).dags["nestsync.sales"], {})
    assert redact("it prints first-l1ne") == "it prints ***"  # as each line that a job prints is a log line
    assert redact("second-l1ne, too") == "***, too"


@pytest.mark.parametrize(
    ("name", "connection", "said"),
    [
        (
            "SPARK_DEFAULT",
            {"conn_type": "spark", "host": "local", "extra": "{oops"},
            "The extra of the connection 'spark_default' cannot be used: it is not JSON, expecting property name",
        ),
        (
            "LAKEHOUSE",
            {"conn_type": "http", "password": "p", "extra": "[1]"},
            "The extra of the connection 'lakehouse' cannot be used: it is no group of keys.",
        ),
        (
            "ANOTHER",
            {"conn_type": "http"},
            "There is no connection 'lakehouse' in Airflow. The configuration takes TOKEN from it",
        ),
        (
            "LAKEHOUSE",
            {"conn_type": "http", "extra": {"token": "t"}},
            "The connection 'lakehouse' has no password, and the configuration takes TOKEN from it",
        ),
    ],
)
def test_a_connection_that_cannot_be_used_is_told_without_a_stack_trace(
    spark: Spark,
    bag: Bag,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    name: str,
    connection: dict[str, object],
    said: str,
) -> None:
    block = "airflow: {retries: 0, alert: runs.tell, environment: [{name: TOKEN, connection: lakehouse}]}\n"
    monkeypatch.setenv(f"AIRFLOW_CONN_{name}", json.dumps(connection))
    ran = spark.run(bag(sales=block).dags["nestsync.sales"], {})
    ((task, told),) = runs.told
    assert (ran.state, task) == ("failed", "configuration")
    assert said in (told or "")
    out = capfd.readouterr()
    assert "Traceback" not in out.out + out.err
