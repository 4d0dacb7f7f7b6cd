"""Airflow's REST API, as a person's browser and a platform's scripts use it."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import requests

SECONDS_BETWEEN_LOOKS = 3.0
READING_SECONDS = 10.0
LONGEST = 1500.0
TRIES = 5
_one_at_a_time = threading.Lock()
"""Two requests that write can wait for each other in an api-server on SQLite."""
given_up = threading.Event()
"""Set when nobody waits for answers any more."""
OVER = ("success", "failed")
Tasks = dict[tuple[str, int], dict[str, Any]]


class Airflow:
    """One Airflow. Not to be shared by threads."""

    def __init__(self, url: str) -> None:
        self._api = f"{url}/api/v2"
        self._session = requests.Session()
        token = self._session.get(f"{url}/auth/token", timeout=60).json()["access_token"]
        self._session.headers["Authorization"] = f"Bearer {token}"

    def ask(self, method: str, path: str, body: object = None, **query: object) -> Any:
        """The answer to one request. Fails for what is no success; on SQLite, "locked" passes."""
        for left in reversed(range(TRIES)):
            with nullcontext() if method == "GET" else _one_at_a_time:
                answer = self._session.request(method, f"{self._api}{path}", json=body, params=query, timeout=120)  # type: ignore[arg-type]
            if answer.ok:
                return answer.json() if answer.content else None
            said = f"{method} {path}: {answer.status_code} {answer.text[:2000]}"
            assert answer.status_code == 500, said
            assert left, said
            time.sleep(SECONDS_BETWEEN_LOOKS)
        return None

    def until(self, found: Callable[[], Any]) -> Any:
        """What `found` answers as soon as it is true; looks again until then."""
        deadline = time.monotonic() + LONGEST
        while True:
            answer = found()
            if answer:
                return answer
            assert time.monotonic() < deadline, f"waited {LONGEST:.0f} s in vain"
            assert not given_up.wait(SECONDS_BETWEEN_LOOKS), "the tests are over"

    def dag_ids(self) -> set[str]:
        return {dag["dag_id"] for dag in self.ask("GET", "/dags", limit=100)["dags"]}

    def run(self, dag_id: str, **conf: object) -> Run:
        """A new run of `dag_id`, with those params."""
        self.until(lambda: dag_id in self.dag_ids())
        said = self.ask("POST", f"/dags/{dag_id}/dagRuns", {"logical_date": None, "conf": conf})
        return Run(self, dag_id, said["dag_run_id"])


class Run:
    """One DAG run."""

    def __init__(self, airflow: Airflow, dag_id: str, run_id: str) -> None:
        self.airflow = airflow
        self.dag_id = dag_id
        self.run_id = run_id
        self._path = f"/dags/{dag_id}/dagRuns/{run_id}"

    @property
    def nestsync_run(self) -> str:
        """The run id that nestsync has for it."""
        return f"{self.dag_id.partition('.')[2]}:{self.run_id}"

    @property
    def state(self) -> str:
        found: str = self.airflow.ask("GET", self._path)["state"]
        return found

    def ended(self) -> str:
        """Its state, when it is over."""
        found: str = self.airflow.until(lambda: state if (state := self.state) in OVER else None)
        return found

    def tasks(self) -> Tasks:
        """Its task instances by name and map index (-1 where the task is not mapped)."""
        found = self.airflow.ask("GET", f"{self._path}/taskInstances", limit=100)["task_instances"]
        return {(task["task_id"], task["map_index"]): task for task in found}

    def states(self) -> dict[str, str]:
        """The state of each task; of a mapped one ``name[index]``."""
        return {
            name if index < 0 else f"{name}[{index}]": task["state"] for (name, index), task in self.tasks().items()
        }

    def until_task(self, name: str, state: str, *, index: int = -1, tries: int | None = None) -> int:
        """The number of the try at which a task is in `state`, as soon as it is (or at its try number `tries`).

        Fails where the run is over before that.
        """

        def there() -> int:
            task = self.tasks().get((name, index))
            assert self.state not in OVER, f"{self.dag_id} was over before {name} was {state}: {self.states()}"
            if task is None or task["state"] != state or tries not in (None, task["try_number"]):
                return 0
            return int(task["try_number"])

        found: int = self.airflow.until(there)
        return found

    def until_begun_again(self) -> None:
        """Wait until the run is no longer over, because a task was cleared."""
        self.airflow.until(lambda: self.state not in OVER)

    def log(self, name: str, *, tries: int = 1, index: int = -1) -> str:
        """What the UI shows as the log of one try, a line an event, with whatever stack trace is beside it."""
        path = f"{self._path}/taskInstances/{name}/logs/{tries}"
        content = self.airflow.ask("GET", path, map_index=index, full_content=True)["content"]
        lines = []
        for event in content:
            lines.append(event["event"])
            lines += [json.dumps(event["error_detail"])] if event.get("error_detail") else []
        return "\n".join(lines)

    def xcom(self, name: str, key: str = "return_value", *, index: int = -1) -> Any:
        path = f"{self._path}/taskInstances/{name}/xcomEntries/{key}"
        return self.airflow.ask("GET", path, map_index=index, deserialize=True)["value"]

    def links(self, name: str) -> dict[str, str]:
        found: dict[str, str] = self.airflow.ask("GET", f"{self._path}/taskInstances/{name}/links")["extra_links"]
        return found

    def rendered(self, name: str) -> dict[str, Any]:
        found: dict[str, Any] = self.tasks()[(name, -1)]["rendered_fields"]
        return found

    def asked(self) -> dict[str, Any]:
        """What a person is asked at the gate."""
        found: dict[str, Any] = self.airflow.ask("GET", f"{self._path}/taskInstances/gate/-1/hitlDetails")
        return found

    def answer(self, option: str) -> None:
        """What the person answers, who reads before that: Airflow's scheduler has to have seen that the task waits."""
        time.sleep(READING_SECONDS)
        self.airflow.ask("PATCH", f"{self._path}/taskInstances/gate/-1/hitlDetails", {"chosen_options": [option]})

    def clear(self, name: str) -> None:
        """Have a task done again, and what follows it, as the UI's button does."""
        body = {
            "dry_run": False,
            "dag_run_id": self.run_id,
            "task_ids": [name],
            "only_failed": False,
            "include_downstream": True,
        }
        self.airflow.ask("POST", f"/dags/{self.dag_id}/clearTaskInstances", body)
