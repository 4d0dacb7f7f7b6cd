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


def eventful(airflow: Airflow, estate: Estate) -> Seen:
    """One night on which much goes wrong, told in the order in which it does.

    The source is down for two tries. A person rejects the plan, then has the gate ask again, and approves. Apply is
    killed half way, while a write is on its way to the server, and a person clears it.
    """
    target = estate.targets["eventful"]
    assert isinstance(target, HoldingProxy)
    run = airflow.run("nestsync.eventful")
    seen = Seen(run)
    run.until_task("inventory", "up_for_retry", index=0, tries=2)
    estate.down.start()
    run.until_task("gate", "awaiting_input")
    seen.noted["asked"] = run.asked()
    run.answer("Reject")
    seen.noted["rejected"] = (run.ended(), run.states(), len(target.writes))
    run.clear("gate")
    run.until_begun_again()
    run.until_task("gate", "awaiting_input")
    run.answer("Approve")
    airflow.until(target.held.is_set)
    os.kill(estate.process_that_applies("eventful"), signal.SIGKILL)
    target.release()
    tries = run.until_task("apply", "up_for_retry")
    seen.noted["killed"] = (run.log("apply", tries=tries), len(target.writes))
    run.clear("apply")
    seen.noted["state"] = run.ended()
    return seen


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
    "eventful": eventful,
    "clean": clean,
    "conflict": conflict,
    "wrong": wrong,
}

__all__ = ["ALL", "Seen"]
