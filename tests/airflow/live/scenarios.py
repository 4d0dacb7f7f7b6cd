"""What is done with Airflow, from the outside; what was seen is told by the tests.

Each scenario is one thread of its own, from the trigger over the REST API to the end of the run.
"""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from tests.airflow.live.estate import CONNECTIONS, WRONG, Estate, HoldingProxy
from tests.airflow.live.rest import Airflow, Run
from tools.airflow_up import AIRFLOW, environment

DAGS_TEST_SECONDS = 800


@dataclass
class Seen:
    """What was seen: the run, and whatever else the scenario noted while it was under way."""

    run: Run
    noted: dict[str, Any] = field(default_factory=dict)


def clean(airflow: Airflow, estate: Estate) -> Seen:
    """Nothing stands in the way. Then the same again with `airflow dags test`, which finds nothing to write."""
    run = airflow.run("nestsync.clean")
    seen = Seen(run, {"state": run.ended(), "writes": len(estate.targets["clean"].writes)})
    seen.noted["tested"] = dags_test("nestsync.clean", estate)
    seen.noted["writes in all"] = len(estate.targets["clean"].writes)
    return seen


def conflict(airflow: Airflow, estate: Estate) -> Seen:
    """A name holds the separator. Then the assessment of the same configuration with `airflow dags test`."""
    run = airflow.run("nestsync.conflict")
    return Seen(run, {"state": run.ended(), "tested": dags_test("nestsync_assess.conflict", estate)})


def flaky(airflow: Airflow, estate: Estate) -> Seen:
    """The source is down for two tries and back at the third; then a person approves what would be done."""
    run = airflow.run("nestsync.flaky")
    run.until_task("inventory", "up_for_retry", index=0, tries=2)
    estate.down.start()
    run.until_task("gate", "awaiting_input")
    asked, writes_before = run.asked(), len(estate.targets["flaky"].writes)
    run.answer("Approve")
    return Seen(run, {"asked": asked, "writes before": writes_before, "state": run.ended()})


def killed(airflow: Airflow, estate: Estate) -> Seen:
    """Apply is killed half way, while a write is on its way to the server; a person clears the task."""
    target = estate.targets["killed"]
    assert isinstance(target, HoldingProxy)
    run = airflow.run("nestsync.killed")
    airflow.until(target.held.is_set)
    os.kill(estate.process_that_applies("killed"), signal.SIGKILL)
    target.release()
    seen = Seen(run, {"first state": run.ended(), "first log": run.log("apply"), "first states": run.states()})
    seen.noted["writes before"] = len(target.writes)
    run.clear("apply")
    airflow.until(lambda: run.state not in ("success", "failed"))
    return Seen(run, seen.noted | {"state": run.ended()})


def rejected(airflow: Airflow, _estate: Estate) -> Seen:
    """The plan would change what the target holds, and a person does not want that."""
    run = airflow.run("nestsync.rejected")
    run.until_task("gate", "awaiting_input")
    asked = run.asked()
    run.answer("Reject")
    return Seen(run, {"asked": asked, "state": run.ended()})


def wrong(airflow: Airflow, _estate: Estate) -> Seen:
    """Configurations with a mistake each."""
    runs = {name: airflow.run(f"nestsync.{name}") for name in WRONG}
    return Seen(
        next(iter(runs.values())),
        {name: (run.ended(), run.states(), run.log("configuration")) for name, run in runs.items()},
    )


def dags_test(dag_id: str, estate: Estate) -> subprocess.CompletedProcess[str]:
    """`airflow dags test`, with a metadata database of its own: a scheduler would take part in the run."""
    home = estate.home / f"dags-test-{dag_id}"
    settings = environment(home, estate.conf, spark=estate.spark) | CONNECTIONS
    subprocess.run([AIRFLOW / "airflow", "db", "migrate"], env=settings, check=True, capture_output=True, timeout=300)
    return subprocess.run(
        [AIRFLOW / "airflow", "dags", "test", dag_id],
        env=settings,
        capture_output=True,
        text=True,
        check=False,
        timeout=DAGS_TEST_SECONDS,
        cwd=home,
    )


ALL: dict[str, Callable[[Airflow, Estate], Seen]] = {
    "flaky": flaky,
    "killed": killed,
    "clean": clean,
    "conflict": conflict,
    "rejected": rejected,
    "wrong": wrong,
}

__all__ = ["ALL", "Seen"]
