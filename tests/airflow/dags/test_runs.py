"""What becomes of a DAG run when a job ends so or so."""

from __future__ import annotations

import pytest
from airflow.sdk import DAG
from conftest import Bag
from runs import Ends, Spark, stage

GOES_WELL = dict.fromkeys(
    ("configuration", "inventory", "check", "plan", "gate", "apply", "verify", "report", "done"), "success"
)
NOT_WRITTEN = dict.fromkeys(("apply", "done"), "upstream_failed") | {"verify": "skipped"}


@pytest.fixture
def dag(bag: Bag) -> DAG:
    """A sync that tries nothing again."""
    return bag(sales="airflow: {retries: 0}\n").dags["nestsync.sales"]


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
    assert (ran.state, ran.states) == (state, GOES_WELL | states)
    assert [event["applied"] for event in ran.assets()] == told


def test_a_dry_run_is_reported_and_writes_nothing(spark: Spark, dag: DAG) -> None:
    ran = spark.run(dag, {}, dry_run=True)
    assert (ran.state, ran.states) == ("success", GOES_WELL | dict.fromkeys(("apply", "verify", "done"), "skipped"))
    assert ran.assets() == []
